#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// One rank's sign of life (docs/FORMATS.md, muster.heartbeat/1). The rank writes it, at most once a
// second and once more at its end, by temporary name and rename; the watcher reads it.

namespace muster {

enum class RankPhase : std::uint8_t { init, data, forward, backward, optimizer, save, eval, done };

std::string_view rank_phase_name(RankPhase phase);

struct Heartbeat {
  std::int64_t rank = 0;
  std::int64_t attempt = 1;
  std::int64_t step = 0;                    // steps that are complete
  std::optional<std::int64_t> target_step;  // the step after which the run is done
  RankPhase phase = RankPhase::init;
  std::int64_t wall_ms = 0;  // Unix time on the clock of the rank's host
  std::optional<std::int64_t> tokens;
  std::optional<double> loss;  // absent too where it is not finite

  bool operator==(const Heartbeat&) const = default;
};

std::string encode_heartbeat(const Heartbeat& heartbeat);
Result<Heartbeat> decode_heartbeat(std::string_view bytes);

}  // namespace muster
