#include "core/blocks/block_scan.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/blocks/loss_bits.h"

namespace muster::blocks {
namespace {

Error corrupt(std::string text) {
  return make_error(Errc::corrupt, std::move(text));
}

// All ids below the bound, at the speed of memory; a negative one is far above it.
bool all_below(std::span<const std::int32_t> ids, std::uint32_t bound) {
  std::uint32_t most = 0;
  for (const std::int32_t id : ids) most = std::max(most, static_cast<std::uint32_t>(id));
  return most < bound;
}

class Scan {
 public:
  Scan(const PackManifest& manifest, std::uint64_t first_block, std::span<const std::int32_t> ids,
       std::span<const std::uint8_t> loss, BlockCounts& counts)
      : manifest_(manifest),
        start_(first_block * manifest.block_tokens),
        ids_(ids),
        loss_(loss),
        counts_(counts) {}

  Status vocabulary() const {
    constexpr std::uint64_t kIds = std::uint64_t{1} << 31;  // a negative one is none
    const std::uint64_t bound = std::min(manifest_.vocabulary_count.value_or(kIds), kIds);
    if (all_below(ids_, static_cast<std::uint32_t>(bound))) return {};
    const auto bad = std::find_if(ids_.begin(), ids_.end(), [&](std::int32_t id) {
      return static_cast<std::uint32_t>(id) >= bound;
    });
    const auto at = static_cast<std::uint64_t>(bad - ids_.begin());
    return make_error(Errc::invalid_input,
                      fmt::format("{}: id {} is not below {}", place(at), *bad, bound));
  }

  // Tokens [begin, end) of these blocks are of one piece, whose last token is among them where
  // `whole`.
  void piece(std::uint64_t begin, std::uint64_t end, bool whole) {
    if (!manifest_.eos || begin == end) return;
    const auto part = ids_.subspan(begin, end - begin);
    auto count = static_cast<std::uint64_t>(std::count(part.begin(), part.end(), *manifest_.eos));
    if (whole && part.back() == *manifest_.eos) {
      ++counts_.eos_at_ends;
      --count;
    }
    counts_.eos_inside += count;
  }

  // Tokens that are of no piece: best_fit's padding.
  Status padding(std::uint64_t begin, std::uint64_t end) {
    counts_.pad_tokens += end - begin;
    for (std::uint64_t at = begin; at < end; ++at) {
      if (manifest_.pad && ids_[at] != *manifest_.pad) {
        return corrupt(
            fmt::format("{}: padding is id {}, not {}", place(at), ids_[at], *manifest_.pad));
      }
      if (((loss_[at / 8] >> (at % 8)) & 1) != 0) {
        return corrupt(fmt::format("{}: padding is trained on", place(at)));
      }
    }
    return {};
  }

 private:
  std::string place(std::uint64_t at) const {
    return fmt::format("block {}, token {}", (start_ + at) / manifest_.block_tokens,
                       (start_ + at) % manifest_.block_tokens);
  }

  const PackManifest& manifest_;
  std::uint64_t start_;
  std::span<const std::int32_t> ids_;
  std::span<const std::uint8_t> loss_;
  BlockCounts& counts_;
};

}  // namespace

void BlockCounts::add(const BlockCounts& more) {
  blocks += more.blocks;
  eos_at_ends += more.eos_at_ends;
  eos_inside += more.eos_inside;
  pad_tokens += more.pad_tokens;
  trained_tokens += more.trained_tokens;
}

Status scan_blocks(const PackManifest& manifest, std::uint64_t first_block,
                   std::span<const std::int32_t> ids, std::span<const std::uint8_t> loss,
                   std::span<const std::uint64_t> ends, BlockCounts& counts) {
  const std::uint64_t length = manifest.block_tokens;
  const std::uint64_t start = first_block * length, stop = start + ids.size();
  Scan scan(manifest, first_block, ids, loss, counts);
  if (Status fine = scan.vocabulary(); !fine) return fine;
  counts.blocks += ids.size() / length;
  counts.trained_tokens += count_set(loss);
  const bool in_blocks = manifest.mode != PackMode::concat;
  std::uint64_t at = start;  // the first token that is in no piece yet
  for (const std::uint64_t end : ends) {
    if (end <= start) continue;
    std::uint64_t begin = at;
    if (in_blocks) begin = std::max(begin, (end - 1) / length * length);
    if (begin >= stop) break;
    if (begin > at) {
      if (Status fine = scan.padding(at - start, begin - start); !fine) return fine;
    }
    at = std::min(end, stop);
    scan.piece(begin - start, at - start, end <= stop);
    if (at == stop) break;
  }
  // Behind the last end: concat's last document, whose end is in the tail, or padding.
  if (at < stop && !in_blocks) scan.piece(at - start, stop - start, false);
  if (at < stop && in_blocks) return scan.padding(at - start, stop - start);
  return {};
}

Status check_counts(const PackManifest& manifest, const BlockCounts& counts,
                    std::uint64_t piece_tokens) {
  const auto differ = [](std::string_view what, std::uint64_t counted, std::uint64_t told) {
    return corrupt(fmt::format("{} {} were counted, the manifest says {}", counted, what, told));
  };
  if (counts.blocks != manifest.blocks) return differ("blocks", counts.blocks, manifest.blocks);
  if (counts.pad_tokens != manifest.pad_tokens) {
    return differ("tokens of padding", counts.pad_tokens, manifest.pad_tokens);
  }
  if (counts.trained_tokens != manifest.trained_tokens) {
    return differ("trained tokens", counts.trained_tokens, manifest.trained_tokens);
  }
  if (manifest.mode != PackMode::concat &&
      piece_tokens + manifest.pad_tokens != manifest.tokens()) {
    return differ("tokens in pieces", piece_tokens, manifest.tokens() - manifest.pad_tokens);
  }
  if (manifest.eos_policy != EosPolicy::every) return {};
  // Each document ends in the EOS, but for those that were cut.
  const std::uint64_t wanted = manifest.mode == PackMode::concat
                                   ? manifest.pieces
                                   : *manifest.documents - manifest.truncated_documents;
  if (counts.eos_at_ends < wanted) {
    return differ("documents that end in the EOS", counts.eos_at_ends, wanted);
  }
  return {};
}

}  // namespace muster::blocks
