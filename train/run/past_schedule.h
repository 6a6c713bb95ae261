#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::train {

// A run that goes on with another --steps, --epochs, --lr or --warmup jumps to another place of its
// cosine. `metrics`: lines of muster.metrics/1, the first of which may be cut; `step`: where it
// goes on; `target_step`, `rate`: what this start has there, against what the last attempt had.
// Nothing where both are equal, or where the lines do not tell.
std::optional<std::string> schedule_change(std::string_view metrics, std::uint64_t step,
                                           std::uint64_t target_step, double rate);

// The last MiB of a file, some 4,000 steps of metrics; empty where it cannot be read.
std::string metrics_tail(const std::string& path);

}  // namespace muster::train
