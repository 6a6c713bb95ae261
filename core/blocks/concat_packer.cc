#include "core/blocks/concat_packer.h"

#include <algorithm>

#include "base/check.h"

namespace muster::blocks {

ConcatPacker::ConcatPacker(std::uint32_t block_tokens, BlockSink& sink, std::uint64_t first_block)
    : block_tokens_(block_tokens),
      sink_(sink),
      next_block_(first_block),
      last_end_(first_block * block_tokens) {
  MUSTER_CHECK(block_tokens >= 8 && block_tokens % 8 == 0, "checked where L comes in");
}

Status ConcatPacker::add(const TokenRun& run) {
  MUSTER_CHECK(run.trained.size() == run.ids.size(), "a bit for each id");
  const std::uint64_t run_start = next_block_ * block_tokens_ + pending_.ids.size();
  const std::span<const std::int32_t> ids(run.ids);
  std::size_t at = 0;
  if (!pending_.ids.empty()) {  // fill the begun block first
    at = std::min<std::size_t>(ids.size(), block_tokens_ - pending_.ids.size());
    pending_.ids.insert(pending_.ids.end(), ids.begin(),
                        ids.begin() + static_cast<std::ptrdiff_t>(at));
    pending_.trained.append(run.trained.bytes(), 0, at);
    if (pending_.ids.size() == block_tokens_) {
      if (Status given = hand_over(pending_.ids, pending_.trained, 0); !given) return given;
      pending_.ids.clear();
      pending_.trained.clear();
    }
  }
  const std::size_t whole = (ids.size() - at) / block_tokens_ * block_tokens_;
  if (whole > 0) {
    Status given = hand_over(ids.subspan(at, whole), run.trained, at);
    if (!given) return given;
    at += whole;
  }
  pending_.ids.insert(pending_.ids.end(), ids.begin() + static_cast<std::ptrdiff_t>(at), ids.end());
  pending_.trained.append(run.trained.bytes(), at, ids.size() - at);
  return give_ends(run, run_start);
}

Status ConcatPacker::hand_over(std::span<const std::int32_t> ids, const LossBits& trained,
                               std::uint64_t begin) {
  std::span<const std::uint8_t> loss = trained.bytes();
  if (begin % 8 == 0) {
    loss = loss.subspan(begin / 8, ids.size() / 8);
  } else {
    shifted_.clear();
    shifted_.append(loss, begin, ids.size());
    loss = shifted_.bytes();
  }
  if (Status given = sink_.blocks(next_block_, ids, loss); !given) return given;
  next_block_ += ids.size() / block_tokens_;
  return {};
}

Status ConcatPacker::give_ends(const TokenRun& run, std::uint64_t run_start) {
  const std::uint64_t limit = next_block_ * block_tokens_;
  for (const std::uint64_t end : run.ends) {
    MUSTER_CHECK(end <= run.ids.size(), "documents of this run");
    if (run_start + end == last_end_) continue;  // nothing in it
    last_end_ = run_start + end;
    ends_.push_back(last_end_);
  }
  // Those beyond the last whole block wait for it: it may never come.
  const auto waiting = std::upper_bound(ends_.begin(), ends_.end(), limit);
  if (waiting == ends_.begin()) return {};
  const auto ready = static_cast<std::size_t>(waiting - ends_.begin());
  Status given = sink_.ends(std::span(ends_).first(ready));
  ends_.erase(ends_.begin(), waiting);
  return given;
}

TokenRun ConcatPacker::pending() const {
  TokenRun out = pending_;
  for (const std::uint64_t end : ends_) out.ends.push_back(end - next_block_ * block_tokens_);
  return out;
}

}  // namespace muster::blocks
