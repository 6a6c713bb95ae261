#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// Every quantity that Muster reads from a GPU, a node or a port, under one name and one unit. The
// readers translate each dialect into these (tables in core/telemetry/); history, exposition and
// recordings use the same names.

namespace muster {

enum class Metric : std::uint8_t {
  // GPU power, watts
  power_w,          // board power, 1-s mean where the GPU gives one (Ampere and later but A100)
  power_instant_w,  // NVML field 186
  power_limit_w,    // enforced limit: bands are fractions of it
  power_default_limit_w,
  energy_j,         // counter since driver load
  module_power_w,   // GB200/GB300: module with CPU and memory; never mixed with power_w
  node_power_w,     // whole node, AC; bands must be calibrated
  power_smoothing,  // 1: active (a floor hides idle and hang)
  // activity
  util_gpu_percent,
  util_mem_percent,
  sm_active_ratio,
  tensor_active_ratio,
  dram_active_ratio,
  mem_used_bytes,
  mem_total_bytes,
  // clocks and their limits
  sm_clock_mhz,
  sm_clock_max_mhz,
  mem_clock_mhz,
  throttle_mask,  // bits of NVML clocks event reasons
  temperature_c,
  mem_temperature_c,
  fan_percent,
  pstate,
  // PCIe
  pcie_gen,
  pcie_gen_max,
  pcie_width,
  pcie_width_max,
  pcie_replays,
  // memory health; counters since boot (volatile) unless said otherwise
  ecc_corrected,
  ecc_uncorrected,
  remapped_corrected,
  remapped_uncorrected,
  remap_pending,
  remap_failed,
  last_xid,         // gauge: keeps an old value
  recovery_action,  // NVML field 230: 0 none .. 5
  mig_mode,         // 1: on
  // node and task
  cpu_cores,  // CPU cores in use by the task
  // InfiniBand and RoCE port
  ib_state,
  ib_phys_state,
  ib_rate_bytes_per_s,
  ib_tx_bytes,
  ib_rx_bytes,
  ib_xmit_wait,
  ib_symbol_errors,
  ib_link_recoveries,
  ib_link_downed,
  ib_rcv_errors,
  ib_xmit_discards,
  ib_integrity_errors,
  ib_out_of_sequence,
  // seen in the step log that travels in the same table
  step,
};
inline constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::step) + 1;

enum class MetricKind : std::uint8_t {
  gauge,
  counter,  // only grows; falls when it restarts
  state,
};

struct MetricRow {
  Metric metric;
  std::string_view name;  // "power_w": the unit is the last word
  std::string_view unit;  // "W", "%", "bytes", "1" ...
  MetricKind kind;
  std::string_view help;
};

std::span<const MetricRow> metric_table();  // in the order of the enumeration
const MetricRow& metric_row(Metric metric);
std::optional<Metric> metric_from_name(std::string_view name);

}  // namespace muster
