#include "core/model/metric.h"

#include "base/check.h"

namespace muster {
namespace {

using enum MetricKind;

constexpr MetricRow kTable[] = {
    {Metric::power_w, "power_w", "W", gauge, "board power"},
    {Metric::power_instant_w, "power_instant_w", "W", gauge, "board power at the instant"},
    {Metric::power_limit_w, "power_limit_w", "W", gauge, "enforced power limit"},
    {Metric::power_default_limit_w, "power_default_limit_w", "W", gauge, "default power limit"},
    {Metric::energy_j, "energy_j", "J", counter, "energy since driver load"},
    {Metric::module_power_w, "module_power_w", "W", gauge, "module power with CPU and memory"},
    {Metric::node_power_w, "node_power_w", "W", gauge, "whole node, AC"},
    {Metric::power_smoothing, "power_smoothing", "1", state, "power smoothing active"},
    {Metric::util_gpu_percent, "util_gpu_percent", "%", gauge,
     "share of time with a kernel resident"},
    {Metric::util_mem_percent, "util_mem_percent", "%", gauge, "share of time with memory traffic"},
    {Metric::sm_active_ratio, "sm_active_ratio", "1", gauge, "SM active"},
    {Metric::tensor_active_ratio, "tensor_active_ratio", "1", gauge, "tensor pipe active"},
    {Metric::dram_active_ratio, "dram_active_ratio", "1", gauge, "DRAM active"},
    {Metric::mem_used_bytes, "mem_used_bytes", "bytes", gauge, "memory in use"},
    {Metric::mem_total_bytes, "mem_total_bytes", "bytes", gauge, "memory of the GPU"},
    {Metric::sm_clock_mhz, "sm_clock_mhz", "MHz", gauge, "SM clock"},
    {Metric::sm_clock_max_mhz, "sm_clock_max_mhz", "MHz", gauge, "highest SM clock"},
    {Metric::mem_clock_mhz, "mem_clock_mhz", "MHz", gauge, "memory clock"},
    {Metric::throttle_mask, "throttle_mask", "bits", state, "clock event reasons of NVML"},
    {Metric::temperature_c, "temperature_c", "degC", gauge, "GPU temperature"},
    {Metric::mem_temperature_c, "mem_temperature_c", "degC", gauge, "memory temperature"},
    {Metric::fan_percent, "fan_percent", "%", gauge, "fan speed"},
    {Metric::pstate, "pstate", "1", state, "performance state, 0 is full speed"},
    {Metric::pcie_gen, "pcie_gen", "1", state, "PCIe generation in use"},
    {Metric::pcie_gen_max, "pcie_gen_max", "1", state, "highest PCIe generation"},
    {Metric::pcie_width, "pcie_width", "lanes", state, "PCIe lanes in use"},
    {Metric::pcie_width_max, "pcie_width_max", "lanes", state, "PCIe lanes wired"},
    {Metric::pcie_replays, "pcie_replays", "1", counter, "PCIe replays"},
    {Metric::ecc_corrected, "ecc_corrected", "1", counter, "corrected memory errors"},
    {Metric::ecc_uncorrected, "ecc_uncorrected", "1", counter, "uncorrected memory errors"},
    {Metric::remapped_corrected, "remapped_corrected", "1", counter,
     "rows remapped for corrected errors"},
    {Metric::remapped_uncorrected, "remapped_uncorrected", "1", counter,
     "rows remapped for uncorrected errors"},
    {Metric::remap_pending, "remap_pending", "1", state, "a row remap waits for a reset"},
    {Metric::remap_failed, "remap_failed", "1", state, "a row remap failed"},
    {Metric::last_xid, "last_xid", "1", state, "last Xid, kept until the next one"},
    {Metric::recovery_action, "recovery_action", "1", state,
     "what the driver asks for, 0 is nothing"},
    {Metric::mig_mode, "mig_mode", "1", state, "1 where MIG is on"},
    {Metric::cpu_cores, "cpu_cores", "cores", gauge, "CPU cores in use by the task"},
    {Metric::ib_state, "ib_state", "1", state, "port state, 4 is active"},
    {Metric::ib_phys_state, "ib_phys_state", "1", state, "physical state, 5 is link up"},
    {Metric::ib_rate_bytes_per_s, "ib_rate_bytes_per_s", "bytes/s", gauge, "port rate"},
    {Metric::ib_tx_bytes, "ib_tx_bytes", "bytes", counter, "bytes sent"},
    {Metric::ib_rx_bytes, "ib_rx_bytes", "bytes", counter, "bytes received"},
    {Metric::ib_xmit_wait, "ib_xmit_wait", "1", counter, "ticks with data to send and no credit"},
    {Metric::ib_symbol_errors, "ib_symbol_errors", "1", counter, "symbol errors"},
    {Metric::ib_link_recoveries, "ib_link_recoveries", "1", counter, "link error recoveries"},
    {Metric::ib_link_downed, "ib_link_downed", "1", counter, "times the link went down"},
    {Metric::ib_rcv_errors, "ib_rcv_errors", "1", counter, "receive errors"},
    {Metric::ib_xmit_discards, "ib_xmit_discards", "1", counter, "packets discarded on send"},
    {Metric::ib_integrity_errors, "ib_integrity_errors", "1", counter,
     "local link integrity errors"},
    {Metric::ib_out_of_sequence, "ib_out_of_sequence", "1", counter, "packets out of sequence"},
    {Metric::step, "step", "1", gauge, "step of the trainer"},
};
static_assert(std::size(kTable) == kMetricCount);

}  // namespace

std::span<const MetricRow> metric_table() {
  return kTable;
}

const MetricRow& metric_row(Metric metric) {
  const auto index = static_cast<std::size_t>(metric);
  MUSTER_CHECK(index < kMetricCount, "every metric has a row");
  return kTable[index];
}

std::optional<Metric> metric_from_name(std::string_view name) {
  for (const MetricRow& row : kTable) {
    if (row.name == name) return row.metric;
  }
  return std::nullopt;
}

}  // namespace muster
