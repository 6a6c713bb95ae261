#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// Why a GPU holds its clocks down: the bits of Metric::throttle_mask as NVML numbers them, and
// their names in the queries and documents of nvidia-smi ("clocks_event_reasons.sw_power_cap",
// <clocks_event_reason_sw_power_cap>).
struct ThrottleReason {
  std::string_view name;
  std::uint64_t bit;
};
inline constexpr ThrottleReason kThrottleReasons[] = {
    {"gpu_idle", 0x1},
    {"applications_clocks_setting", 0x2},
    {"sw_power_cap", 0x4},
    {"hw_slowdown", 0x8},
    {"sync_boost", 0x10},
    {"sw_thermal_slowdown", 0x20},
    {"hw_thermal_slowdown", 0x40},
    {"hw_power_brake_slowdown", 0x80},
    {"display_clocks_setting", 0x100},
};

}  // namespace muster
