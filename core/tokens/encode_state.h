#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "base/result.h"
#include "core/tokens/bpe.h"
#include "core/tokens/cutter.h"
#include "core/tokens/model.h"
#include "core/tokens/nfc.h"
#include "core/tokens/piece_cache.h"
#include "core/tokens/piece_splitter.h"

namespace muster::tokens {

// What one Encoder owns (tokenizer.h has its contract): text -> added tokens, normalisation,
// pieces, the cache, merges.
class EncodeState {
 public:
  explicit EncodeState(const Model& model);

  // `starts` may be null.
  Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                std::vector<std::int32_t>& out, std::vector<std::uint64_t>* starts);

 private:
  // Where a stretch of text lies in the source, and what normalisation did to it.
  struct Origin {
    std::uint64_t begin = 0;
    std::span<const ChangedRun> changed;
  };

  // A piece that is not in the cache, and where its ids belong among those that are held.
  struct Gap {
    std::string_view piece;
    std::size_t place;
    bool cut;
    std::size_t number;  // of the cutter; else the first in merged_
    std::size_t count;   // in merged_
  };

  void raw_stretch(std::string_view utf8, ByteRange range, std::span<const ByteRange> plain);
  void normalized_stretch(std::string_view text, const Origin& origin,
                          std::span<const ByteRange> plain);
  void pieces(std::string_view text);
  void chunk(std::string_view text, std::size_t at, std::size_t count);
  void row(std::string_view text, std::size_t at, const std::uint32_t* ends, std::size_t count);
  std::uint32_t* put_long(std::string_view piece, std::uint32_t* to);
  std::uint32_t* put_gap(std::string_view piece, std::uint32_t* to);
  void fill_gaps();
  void merge_gaps(std::span<Gap> gaps);
  std::span<const std::uint32_t> ids_of(const Gap& gap) const;
  void remember(std::string_view piece, std::span<const std::uint32_t> ids);
  void put_one(std::uint32_t id);
  void flush();
  void tell_starts(std::size_t from, std::size_t at, const Origin& origin);

  const Model& model_;
  std::optional<Cutter> cutter_;  // where the model has what it needs
  Merger merger_;
  PieceCache cache_;
  PieceSplitter splitter_;

  static constexpr std::size_t kRow = 64, kBatch = 512;  // pieces
  std::array<std::uint32_t, PieceSplitter::kMost> ends_;
  std::array<Gap, kBatch> gaps_;
  std::size_t missing_ = 0;            // of gaps_
  std::vector<std::uint32_t> merged_;  // ids of gaps that the cutter does not cut
  std::array<std::uint32_t, kBatch * PieceCache::kLongIds> ids_;
  std::size_t held_ = 0;  // of ids_

  std::vector<std::int32_t>* out_ = nullptr;
  std::vector<std::uint64_t>* starts_ = nullptr;
};

}  // namespace muster::tokens
