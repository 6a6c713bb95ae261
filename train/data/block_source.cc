#include "train/data/block_source.h"

#include <fmt/core.h>

#include "base/limits.h"

namespace muster::train {

std::vector<MicroBatch> StepBlocks::micro_batches() const {
  std::vector<MicroBatch> out;
  const std::uint64_t tokens = micro_batch * length;
  for (std::uint64_t at = 0; at + tokens <= ids.size() && tokens > 0; at += tokens) {
    out.push_back({micro_batch, length, std::span(ids).subspan(at, tokens),
                   std::span(counted).subspan(at, tokens)});
  }
  return out;
}

Status check_cut(const StepCut& cut) {
  constexpr std::uint64_t kMost = limits::kPackGlobalBatch;
  std::uint64_t product = 1;
  bool fits = cut.rank < cut.world;
  for (const std::uint64_t part : {cut.accumulation, cut.micro_batch, cut.world}) {
    fits = fits && part != 0 && part <= kMost / product;
    if (fits) product *= part;
  }
  if (fits) return {};
  return make_error(Errc::invalid_input,
                    fmt::format("rank {} of {}, accumulation {} and micro batch {} make no global "
                                "batch of 1 to {} blocks",
                                cut.rank, cut.world, cut.accumulation, cut.micro_batch, kMost));
}

}  // namespace muster::train
