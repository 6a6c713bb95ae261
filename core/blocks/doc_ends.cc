#include "core/blocks/doc_ends.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::blocks {

DocEndsCheck::DocEndsCheck(std::uint64_t tokens, std::uint32_t block_tokens, bool in_blocks)
    : tokens_(tokens), block_tokens_(block_tokens), in_blocks_(in_blocks) {}

Status DocEndsCheck::add(std::span<const std::uint64_t> ends) {
  for (const std::uint64_t end : ends) {
    if (end <= last_) {
      return make_error(Errc::corrupt, fmt::format("entry {} is {}, not beyond {} before it",
                                                   pieces_, end, last_));
    }
    if (end > tokens_) {
      return make_error(Errc::corrupt,
                        fmt::format("entry {} is {}, beyond the {} tokens", pieces_, end, tokens_));
    }
    std::uint64_t begin = last_;
    if (in_blocks_) begin = std::max(begin, (end - 1) / block_tokens_ * block_tokens_);
    piece_tokens_ += end - begin;
    last_ = end;
    ++pieces_;
  }
  return {};
}

void block_boundaries(std::span<const std::uint64_t> ends, std::uint64_t block,
                      std::uint32_t block_tokens, std::vector<std::uint32_t>& out) {
  const std::uint64_t start = block * block_tokens;
  out.assign(1, 0);
  auto end = std::upper_bound(ends.begin(), ends.end(), start);
  for (; end != ends.end() && *end < start + block_tokens; ++end) {
    out.push_back(static_cast<std::uint32_t>(*end - start));
  }
  out.push_back(block_tokens);
}

}  // namespace muster::blocks
