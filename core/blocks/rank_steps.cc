#include "core/blocks/rank_steps.h"

#include <algorithm>

#include "base/check.h"

namespace muster::blocks {

std::uint64_t batches_of(std::uint64_t units, const StepRule& rule) {
  const bool rest = !rule.drop_last && units % rule.micro_batch != 0;
  return units / rule.micro_batch + (rest ? 1 : 0);
}

StepSpread spread_of(std::span<const std::uint64_t> units, const StepRule& rule) {
  MUSTER_CHECK(!units.empty() && rule.micro_batch > 0 && rule.accumulation > 0, "asked by values");
  const auto [least, most] = std::minmax_element(units.begin(), units.end());
  StepSpread out;
  out.least_units = *least;
  out.most_units = *most;
  out.least_batches = batches_of(*least, rule);
  out.most_batches = batches_of(*most, rule);
  out.least_steps = out.least_batches / rule.accumulation;
  out.most_steps = out.most_batches / rule.accumulation;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] == *least) out.shortest.push_back(i);
    if (batches_of(units[i], rule) / rule.accumulation == out.least_steps) {
      out.stoppers.push_back(i);
    }
    const std::uint64_t more = units[i] - *least;  // tables of strangers may go beyond 64 bits
    out.left_by_equalizing = std::max(out.left_by_equalizing + more, out.left_by_equalizing);
  }
  return out;
}

}  // namespace muster::blocks
