#include "core/telemetry/prometheus_names.h"

#include <algorithm>
#include <vector>

namespace muster {
namespace {

using enum SeriesKind;
constexpr double kMiB = 1048576.0;

constexpr PrometheusName kTable[] = {
    // dcgm-exporter, up to DCGM 4.5
    {"DCGM_FI_DEV_POWER_USAGE", Metric::power_w},
    {"DCGM_FI_DEV_POWER_USAGE_INSTANT", Metric::power_instant_w},
    {"DCGM_FI_DEV_POWER_MGMT_LIMIT", Metric::power_limit_w},
    {"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", Metric::power_limit_w},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Metric::energy_j, 1e-3},
    {"DCGM_FI_DEV_GPU_UTIL", Metric::util_gpu_percent},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", Metric::util_mem_percent},
    {"DCGM_FI_DEV_FB_USED", Metric::mem_used_bytes, kMiB},
    {"DCGM_FI_DEV_FB_TOTAL", Metric::mem_total_bytes, kMiB},
    {"DCGM_FI_DEV_SM_CLOCK", Metric::sm_clock_mhz},
    {"DCGM_FI_DEV_MEM_CLOCK", Metric::mem_clock_mhz},
    {"DCGM_FI_DEV_GPU_TEMP", Metric::temperature_c},
    {"DCGM_FI_DEV_MEMORY_TEMP", Metric::mem_temperature_c},
    {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", Metric::throttle_mask},
    {"DCGM_FI_DEV_XID_ERRORS", Metric::last_xid},
    {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", Metric::pcie_replays},
    {"DCGM_FI_DEV_PCIE_LINK_GEN", Metric::pcie_gen},
    {"DCGM_FI_DEV_PCIE_LINK_WIDTH", Metric::pcie_width},
    {"DCGM_FI_DEV_PCIE_MAX_LINK_GEN", Metric::pcie_gen_max},
    {"DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", Metric::pcie_width_max},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", Metric::ecc_corrected},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", Metric::ecc_uncorrected},
    {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", Metric::remapped_corrected},
    {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", Metric::remapped_uncorrected},
    {"DCGM_FI_DEV_ROW_REMAP_PENDING", Metric::remap_pending},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", Metric::remap_failed},
    {"DCGM_FI_PROF_SM_ACTIVE", Metric::sm_active_ratio},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", Metric::tensor_active_ratio},
    {"DCGM_FI_PROF_DRAM_ACTIVE", Metric::dram_active_ratio},
    // DCGM 4.6 renamed the core fields
    {"DCGM_FI_DEV_BOARD_POWER_WATTS", Metric::power_w},
    {"DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", Metric::power_instant_w},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO", Metric::util_gpu_percent},  // percent or ratio: see the reader
    {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", Metric::throttle_mask},
    {"DCGM_FI_DEV_XID_ERROR", Metric::last_xid},
    // nvidia_gpu_exporter
    {"nvidia_smi_power_draw_watts", Metric::power_w},
    {"nvidia_smi_power_draw_instant_watts", Metric::power_instant_w},
    {"nvidia_smi_power_limit_watts", Metric::power_limit_w},
    {"nvidia_smi_enforced_power_limit_watts", Metric::power_limit_w},
    {"nvidia_smi_utilization_gpu_ratio", Metric::util_gpu_percent, 100},
    {"nvidia_smi_utilization_memory_ratio", Metric::util_mem_percent, 100},
    {"nvidia_smi_memory_used_bytes", Metric::mem_used_bytes},
    {"nvidia_smi_memory_total_bytes", Metric::mem_total_bytes},
    {"nvidia_smi_clocks_current_sm_clock_hz", Metric::sm_clock_mhz, 1e-6},
    {"nvidia_smi_clocks_max_sm_clock_hz", Metric::sm_clock_max_mhz, 1e-6},
    {"nvidia_smi_clocks_current_memory_clock_hz", Metric::mem_clock_mhz, 1e-6},
    {"nvidia_smi_clocks_event_reasons_active", Metric::throttle_mask},
    {"nvidia_smi_clocks_throttle_reasons_active", Metric::throttle_mask},
    {"nvidia_smi_temperature_gpu", Metric::temperature_c},
    {"nvidia_smi_pstate", Metric::pstate},
    {"nvidia_smi_pcie_link_gen_current", Metric::pcie_gen},
    {"nvidia_smi_pcie_link_gen_max", Metric::pcie_gen_max},
    {"nvidia_smi_pcie_link_width_current", Metric::pcie_width},
    {"nvidia_smi_pcie_link_width_max", Metric::pcie_width_max},
    {"nvidia_smi_ecc_errors_corrected_volatile_total", Metric::ecc_corrected},
    {"nvidia_smi_ecc_errors_uncorrected_volatile_total", Metric::ecc_uncorrected},
    {"nvidia_smi_remapped_rows_correctable", Metric::remapped_corrected},
    {"nvidia_smi_remapped_rows_uncorrectable", Metric::remapped_uncorrected},
    {"nvidia_smi_remapped_rows_pending", Metric::remap_pending},
    {"nvidia_smi_remapped_rows_failure", Metric::remap_failed},
    {"nvidia_smi_mig_mode_current", Metric::mig_mode},
    // node_exporter, InfiniBand
    {"node_infiniband_state_id", Metric::ib_state, 1, port},
    {"node_infiniband_physical_state_id", Metric::ib_phys_state, 1, port},
    {"node_infiniband_rate_bytes_per_second", Metric::ib_rate_bytes_per_s, 1, port},
    {"node_infiniband_port_data_transmitted_bytes_total", Metric::ib_tx_bytes, 1, port},
    {"node_infiniband_port_data_received_bytes_total", Metric::ib_rx_bytes, 1, port},
    {"node_infiniband_port_transmit_wait_total", Metric::ib_xmit_wait, 1, port},
    {"node_infiniband_symbol_error_total", Metric::ib_symbol_errors, 1, port},
    {"node_infiniband_link_error_recovery_total", Metric::ib_link_recoveries, 1, port},
    {"node_infiniband_link_downed_total", Metric::ib_link_downed, 1, port},
    {"node_infiniband_port_errors_received_total", Metric::ib_rcv_errors, 1, port},
    {"node_infiniband_port_discards_transmitted_total", Metric::ib_xmit_discards, 1, port},
    {"node_infiniband_local_link_integrity_errors_total", Metric::ib_integrity_errors, 1, port},
    {"node_infiniband_out_of_sequence_packets_received_total", Metric::ib_out_of_sequence, 1, port},
    // our own agent
    {"muster_gpu_power_watts", Metric::power_w},
    {"muster_gpu_power_instant_watts", Metric::power_instant_w},
    {"muster_gpu_power_limit_watts", Metric::power_limit_w},
    {"muster_gpu_energy_joules_total", Metric::energy_j},
    {"muster_gpu_utilization_percent", Metric::util_gpu_percent},
    {"muster_gpu_memory_utilization_percent", Metric::util_mem_percent},
    {"muster_gpu_memory_used_bytes", Metric::mem_used_bytes},
    {"muster_gpu_memory_total_bytes", Metric::mem_total_bytes},
    {"muster_gpu_sm_clock_mhz", Metric::sm_clock_mhz},
    {"muster_gpu_sm_clock_max_mhz", Metric::sm_clock_max_mhz},
    {"muster_gpu_memory_clock_mhz", Metric::mem_clock_mhz},
    {"muster_gpu_clock_event_reasons", Metric::throttle_mask},
    {"muster_gpu_temperature_celsius", Metric::temperature_c},
    {"muster_gpu_memory_temperature_celsius", Metric::mem_temperature_c},
    {"muster_gpu_performance_state", Metric::pstate},
    {"muster_gpu_pcie_generation", Metric::pcie_gen},
    {"muster_gpu_pcie_generation_max", Metric::pcie_gen_max},
    {"muster_gpu_pcie_width", Metric::pcie_width},
    {"muster_gpu_pcie_width_max", Metric::pcie_width_max},
    {"muster_gpu_pcie_replays_total", Metric::pcie_replays},
    {"muster_gpu_ecc_corrected_total", Metric::ecc_corrected},
    {"muster_gpu_ecc_uncorrected_total", Metric::ecc_uncorrected},
    {"muster_gpu_remapped_rows_corrected", Metric::remapped_corrected},
    {"muster_gpu_remapped_rows_uncorrected", Metric::remapped_uncorrected},
    {"muster_gpu_remap_pending", Metric::remap_pending},
    {"muster_gpu_remap_failed", Metric::remap_failed},
    {"muster_gpu_recovery_action", Metric::recovery_action},
    {"muster_gpu_power_smoothing", Metric::power_smoothing},
    {"muster_gpu_mig_mode", Metric::mig_mode},
};

std::vector<const PrometheusName*> sorted_table() {
  std::vector<const PrometheusName*> out;
  for (const PrometheusName& row : kTable) out.push_back(&row);
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return out;
}

}  // namespace

std::span<const PrometheusName> prometheus_names() { return kTable; }

const PrometheusName* find_prometheus_name(std::string_view name) {
  static const std::vector<const PrometheusName*> sorted = sorted_table();
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name,
                                   [](auto* row, std::string_view n) { return row->name < n; });
  return at != sorted.end() && (*at)->name == name ? *at : nullptr;
}

std::string_view exposed_name(Metric metric) {
  for (const PrometheusName& row : kTable) {
    if (row.metric == metric && row.name.starts_with("muster_")) return row.name;
  }
  return {};
}

bool is_blank_sentinel(double value) {
  return value >= 9.2233720368547e18 || (value >= 2147483632.0 && value <= 2147483635.0) ||
         (value >= 140737488355328.0 && value <= 140737488355331.0);
}

}  // namespace muster
