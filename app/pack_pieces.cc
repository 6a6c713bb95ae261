#include "app/pack_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/memory_bytes.h"
#include "core/blocks/block_hash.h"

namespace muster {
namespace {

constexpr std::uint64_t kWindowTokens = 1024 * 1024;

std::uint64_t window_blocks(const blocks::PackManifest& manifest) {
  return std::max<std::uint64_t>(1, kWindowTokens / manifest.block_tokens);
}

bool bit_of(const std::vector<std::uint8_t>& loss, std::uint64_t bit) {
  return ((loss[bit / 8] >> (bit % 8)) & 1) != 0;
}

}  // namespace

Result<std::string> PackPieces::difference(std::uint64_t number,
                                           const blocks::TokenRun& run) const {
  const std::uint64_t length = pack_.manifest().block_tokens;
  std::vector<std::uint64_t> ends(number == 0 ? 1 : 2);
  if (Status read = pack_.read_ends(number + 1 - ends.size(), ends); !read) return read.error();
  const std::uint64_t begin = number == 0 ? 0 : ends.front(), end = ends.back();
  if (end <= begin || end > pack_.manifest().tokens()) {
    return make_error(Errc::corrupt, "docs.u64 does not rise");
  }
  if (end - begin != run.ids.size()) {
    return fmt::format("{} tokens in the pack, {} of the tokenizer", end - begin, run.ids.size());
  }
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> loss;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t first = at / length;
    const std::uint64_t count =
        std::min(window_blocks(pack_.manifest()), (end - 1) / length + 1 - first);
    if (Status read = pack_.read_blocks(first, count, ids, loss); !read) return read.error();
    const std::uint64_t stop = std::min(end, (first + count) * length);
    for (; at < stop; ++at) {
      const std::uint64_t here = at - first * length, token = at - begin;
      if (ids[here] != run.ids[token]) {
        return fmt::format("token {} is {} in the pack, {} of the tokenizer", token, ids[here],
                           run.ids[token]);
      }
      if (bit_of(loss, here) != run.trained.at(token)) {
        return fmt::format("token {} counts in the loss here or there, not in both", token);
      }
    }
  }
  return std::string();
}

PackPieces::Key PackPieces::key_of(std::span<const std::int32_t> ids, const blocks::LossBits& bits,
                                   std::uint64_t first_bit) {
  blocks::LossBits own;
  own.append(bits.bytes(), first_bit, ids.size());
  blocks::RunningHash hash;
  hash.add(memory_bytes(ids));
  hash.add(memory_bytes(own.bytes()));
  return {ids.size(), hash_text(hash.value())};
}

void PackPieces::want(const blocks::TokenRun& run, const Evidence& where) {
  const std::uint64_t length = pack_.manifest().block_tokens;
  const std::span<const std::int32_t> ids(run.ids);
  for (std::uint64_t at = 0; at < ids.size(); at += length) {
    const std::uint64_t tokens = std::min(length, ids.size() - at);
    wanted_.emplace(key_of(ids.subspan(at, tokens), run.trained, at), where);
    if (pack_.manifest().mode == blocks::PackMode::best_fit) return;  // the rest is cut off
  }
}

Result<std::optional<Evidence>> PackPieces::first_missing() {
  const std::uint64_t all = pack_.manifest().blocks, window = window_blocks(pack_.manifest());
  for (std::uint64_t block = 0; block < all && !wanted_.empty(); block += window) {
    if (Status read = find_in(block, std::min(window, all - block)); !read) return read.error();
  }
  if (wanted_.empty()) return std::optional<Evidence>();
  Evidence missing = wanted_.begin()->second;
  missing.text =
      fmt::format("{} tokens of it, as the tokenizer gives them, are nowhere in the pack",
                  wanted_.begin()->first.first);
  return std::optional(std::move(missing));
}

// Strikes out what is found in these blocks. No piece crosses a block.
Status PackPieces::find_in(std::uint64_t first_block, std::uint64_t count) {
  const std::uint64_t length = pack_.manifest().block_tokens;
  const std::uint64_t start = first_block * length, stop = start + count * length;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> loss;
  if (Status read = pack_.read_blocks(first_block, count, ids, loss); !read) return read;
  blocks::LossBits bits;
  bits.append(loss, 0, ids.size());
  const auto first = pack_.first_end_beyond(start);
  if (!first) return first.error();
  std::uint64_t last = start;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t next = *first; next < pack_.manifest().pieces && last < stop;) {
    ends.resize(std::min<std::uint64_t>(pack_.manifest().pieces - next, 1024));
    if (Status read = pack_.read_ends(next, ends); !read) return read;
    next += ends.size();
    for (const std::uint64_t end : ends) {
      if (end > stop) return {};
      if (end <= last) return make_error(Errc::corrupt, "docs.u64 does not rise");
      const std::uint64_t begin = std::max(last, (end - 1) / length * length);
      last = end;
      const auto same = wanted_.lower_bound({end - begin, ""});
      if (same == wanted_.end() || same->first.first != end - begin) continue;  // no such length
      const auto piece = std::span<const std::int32_t>(ids).subspan(begin - start, end - begin);
      const auto found = wanted_.find(key_of(piece, bits, begin - start));
      if (found != wanted_.end()) wanted_.erase(found);
    }
  }
  return {};
}

}  // namespace muster
