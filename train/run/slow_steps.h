#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::train {

// What a rank does in a step. Waits are for other ranks or the network.
enum class Phase : std::uint8_t { data, forward, gather_wait, backward, reduce_wait, optimizer };
inline constexpr std::size_t kPhases = 6;
std::string_view phase_name(Phase phase);

// Seconds of one rank's step in each phase.
using PhaseSeconds = std::array<double, kPhases>;

// Which step was slow, and who made it so. All ranks are told the same numbers, so all say the
// same. A step is slow that took more than three times the median of the last 64, from the eighth
// on (the first ones of a run are slow everywhere) and beyond 50 ms more than it: below that a
// machine's own noise looks like a straggler.
class SlowSteps {
 public:
  // `ranks`: each rank's phases. What to say, or nothing: "slow step 480: 18.2 s, median 4.9 s;
  // rank 3 spent 13.4 s in data, the others 0.0 s". Where no rank did more of its own work than the
  // others, nobody is named.
  std::optional<std::string> judge(std::uint64_t step, double step_s,
                                   std::span<const PhaseSeconds> ranks);

 private:
  std::deque<double> last_;
};

}  // namespace muster::train
