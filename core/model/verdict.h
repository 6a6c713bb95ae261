#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/finding.h"

// What the watcher believes of one attempt and what it recommends (docs/FORMATS.md,
// muster.verdict/1). The watcher writes it atomically; the launcher alone acts.

namespace muster {

enum class RunState : std::uint8_t {
  starting,
  running,
  saving,
  evaluating,
  slow,
  suspected,  // looks like a hang, and the rule has not decided
  hung,
  crashed,
  done,
  blind,  // the watcher sees nothing: no state of the run
};

enum class Recommendation : std::uint8_t { none, stop, restart, restart_excluding };

std::string_view run_state_name(RunState state);
std::string_view recommendation_name(Recommendation recommendation);

struct Verdict {
  RunState state = RunState::starting;
  WallTime since{};  // when the state began, on the watcher's clock; milliseconds
  Report report;
  Recommendation recommend = Recommendation::none;
  std::vector<std::string> exclude;        // hosts; not empty exactly for restart_excluding
  std::optional<std::string> resume_from;  // folder of a complete checkpoint
};

std::string encode_verdict(const Verdict& verdict);
Result<Verdict> decode_verdict(std::string_view bytes);

}  // namespace muster
