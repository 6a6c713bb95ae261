#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/tokens/added_tokens.h"
#include "core/tokens/cut_table.h"
#include "core/tokens/merge_table.h"
#include "core/tokens/splitter.h"
#include "core/tokens/vocabulary.h"

namespace muster::tokens {

// What a tokenizer.json says, checked and made ready; shared by all encoders.
struct Model {
  SplitFamily family = SplitFamily::qwen2;
  bool nfc = false;
  Vocabulary vocabulary;
  MergeTable merges;
  std::array<std::uint32_t, 256> byte_ids;
  std::optional<CutTable> cuts;  // for Cutter; none: Merger does it
  // A piece that is an entry is that one id (ignore_merges), and merging alone would not tell.
  bool look_up_pieces = false;
  std::vector<AddedToken> added;
  std::vector<bool> special;  // per id
  AddedTokenFinder raw, normalized;
  MemoryAdvice advice = nullptr;
};

}  // namespace muster::tokens
