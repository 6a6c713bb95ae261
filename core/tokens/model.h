#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/tokens/added_tokens.h"
#include "core/tokens/char_tokens.h"
#include "core/tokens/merge_table.h"
#include "core/tokens/splitter.h"
#include "core/tokens/vocabulary.h"
#include "core/tokens/whole_pieces.h"

namespace muster::tokens {

// What a tokenizer.json says, checked and made ready; shared by all encoders.
struct Model {
  SplitFamily family = SplitFamily::qwen2;
  bool nfc = false;
  Vocabulary vocabulary;
  MergeTable merges;
  std::array<std::uint32_t, 256> byte_ids;
  CharTokens chars;
  // Per id: a piece that is this entry becomes this one id. With ignore_merges that is every entry,
  // else those that the merges make of their own bytes.
  std::vector<bool> whole;
  bool ignore_merges = false;
  WholePieces whole_pieces;  // those of them that are short
  std::vector<AddedToken> added;
  std::vector<bool> special;  // per id
  AddedTokenFinder raw, normalized;
  MemoryAdvice advice = nullptr;
};

}  // namespace muster::tokens
