#include "train/run/slow_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include <vector>

#include "base/median.h"

namespace muster::train {
namespace {

constexpr std::size_t kRemembered = 64, kFewest = 8;
constexpr double kFactor = 3, kNoiseSeconds = 0.05;

bool is_wait(Phase phase) {
  return phase == Phase::gather_wait || phase == Phase::reduce_wait;
}

// The rank and phase that took most beyond what the others took; waiting is nobody's own work.
struct Excess {
  std::size_t rank = 0, phase = 0;
  double own_s = 0, others_s = 0;
};

Excess most_excess(std::span<const PhaseSeconds> ranks) {
  Excess most;
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    if (is_wait(static_cast<Phase>(phase))) continue;
    std::vector<double> all;
    all.reserve(ranks.size());
    for (const PhaseSeconds& rank : ranks) all.push_back(rank[phase]);
    std::vector<double> sorted = all;
    // Of an even number the upper one: with two ranks that would be the slow one itself.
    const double usual = ranks.size() == 2 ? std::min(all[0], all[1]) : median_of(sorted);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank] - usual > most.own_s - most.others_s) most = {rank, phase, all[rank], usual};
    }
  }
  return most;
}

}  // namespace

std::string_view phase_name(Phase phase) {
  constexpr std::string_view kNames[] = {
      "data", "forward", "waiting for weights", "backward", "waiting for gradients", "optimizer"};
  return kNames[static_cast<int>(phase)];
}

std::optional<std::string> SlowSteps::judge(std::uint64_t step, double step_s,
                                            std::span<const PhaseSeconds> ranks) {
  std::optional<std::string> said;
  if (last_.size() >= kFewest && !ranks.empty()) {
    std::vector<double> sorted(last_.begin(), last_.end());
    const double median = median_of(sorted);
    if (step_s > kFactor * median && step_s > median + kNoiseSeconds) {
      said = fmt::format("slow step {}: {:.2f} s, median {:.2f} s", step, step_s, median);
      const Excess most = most_excess(ranks);
      // Less than a third of what the step lost explains nothing.
      const double lost = step_s - median;
      if (ranks.size() == 1) {
        std::size_t longest = 0;
        for (std::size_t i = 1; i < kPhases; ++i) {
          if (ranks[0][i] > ranks[0][longest]) longest = i;
        }
        *said += fmt::format("; most of it, {:.2f} s, in {}", ranks[0][longest],
                             phase_name(static_cast<Phase>(longest)));
      } else if (most.own_s - most.others_s > lost / 3) {
        *said += fmt::format("; rank {} spent {:.2f} s in {}, the others {:.2f} s", most.rank,
                             most.own_s, phase_name(static_cast<Phase>(most.phase)), most.others_s);
      } else {
        *said += "; no rank worked longer than the others";
      }
    }
  }
  last_.push_back(step_s);
  if (last_.size() > kRemembered) last_.pop_front();
  return said;
}

}  // namespace muster::train
