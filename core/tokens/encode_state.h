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

  // A piece on its way to its ids.
  struct Probe {
    std::string_view piece;
    union {
      PieceCache::ShortKey key;      // of a short one
      PieceCache::LongKey long_key;  // of one that is longer, but not too long
    };
    std::uint32_t place;  // in the table of its key
  };
  void raw_stretch(std::string_view utf8, ByteRange range, std::span<const ByteRange> plain);
  void normalized_stretch(std::string_view text, const Origin& origin,
                          std::span<const ByteRange> plain);
  void pieces(std::string_view text);
  void chunk(std::string_view text, std::size_t at, std::size_t count);
  void aim(Probe& probe, std::size_t readable) const;
  std::uint32_t* put(const Probe& probe, std::uint32_t* to);
  std::uint32_t* put_new(const Probe& probe, std::uint32_t* to);
  void merge(std::string_view piece);
  void remember(const Probe& probe);
  void put_one(std::uint32_t id);
  void flush();
  void tell_starts(std::size_t from, std::size_t at, const Origin& origin);

  const Model& model_;
  std::optional<Cutter> cutter_;  // where the model has what it needs
  Merger merger_;
  PieceCache cache_;
  PieceSplitter splitter_;

  static constexpr std::size_t kRow = 64;                              // pieces at once
  static constexpr std::size_t kRowIds = kRow * PieceCache::kLongIds;  // what they need room for
  std::array<std::uint32_t, PieceSplitter::kMost> ends_;
  std::vector<std::uint32_t> merged_;  // of the piece at hand
  std::array<std::uint32_t, 4096> ids_;
  std::size_t held_ = 0;  // of ids_

  std::vector<std::int32_t>* out_ = nullptr;
  std::vector<std::uint64_t>* starts_ = nullptr;
};

}  // namespace muster::tokens
