#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "base/result.h"
#include "core/tokens/bpe.h"
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
    std::uint32_t count;
    // In the cache, in the merger or in `whole_`; at least four words may be read. A count in the
    // top byte of the first one is not of the id.
    const std::uint32_t* ids;
  };

  void raw_stretch(std::string_view utf8, ByteRange range, std::span<const ByteRange> plain);
  void normalized_stretch(std::string_view text, const Origin& origin,
                          std::span<const ByteRange> plain);
  void pieces(std::string_view text);
  void chunk(std::string_view text, std::size_t at, std::size_t count);
  void aim(Probe& probe, std::size_t readable) const;
  bool cached(Probe& probe) const;
  std::uint32_t whole_id(const Probe& probe) const;
  bool cached_as_long(Probe& probe) const;
  void find_missing();
  void put_found(const Probe& probe);
  void remember(const Probe& probe);
  void put(const std::uint32_t* ids, std::size_t count);
  void flush();
  void tell_starts(std::size_t from, std::size_t at, const Origin& origin);

  const Model& model_;
  Merger merger_;
  PieceCache cache_;
  PieceSplitter splitter_;

  std::array<std::uint32_t, PieceSplitter::kMost> ends_;
  static constexpr std::size_t kBatch = 256;
  std::array<Probe, kBatch> probes_;
  std::vector<Probe*> missing_, merging_, fresh_;
  std::array<std::array<std::uint32_t, PieceCache::kShortIds>, kBatch> whole_;
  std::array<std::uint32_t, 4096> ids_;
  std::size_t held_ = 0;  // of ids_

  std::vector<std::int32_t>* out_ = nullptr;
  std::vector<std::uint64_t>* starts_ = nullptr;
};

}  // namespace muster::tokens
