#include "core/telemetry/prometheus_names.h"

#include <unordered_map>

namespace muster {
namespace {

using enum Metric;
using enum PageUnit;

constexpr PrometheusName kNames[] = {
    // dcgm-exporter; where two lines follow each other, the second is the name since DCGM 4.6
    {"DCGM_FI_DEV_POWER_USAGE", power_w},
    {"DCGM_FI_DEV_BOARD_POWER_WATTS", power_w},
    {"DCGM_FI_DEV_POWER_USAGE_INSTANT", power_instant_w},
    {"DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", power_instant_w},
    {"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", power_limit_w, same, 2},
    {"DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", power_limit_w, same, 2},
    {"DCGM_FI_DEV_POWER_MGMT_LIMIT", power_limit_w},
    {"DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS", power_limit_w},
    {"DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", power_default_limit_w},
    {"DCGM_FI_DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS", power_default_limit_w},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", energy_j, millijoule},
    {"DCGM_FI_DEV_PWR_SMOOTHING_ENABLED", power_smoothing},
    {"DCGM_FI_DEV_GPU_UTIL", util_gpu_percent, same, 2, true},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO", util_gpu_percent, ratio, 2, true, true},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", util_mem_percent, same, 1, true},
    {"DCGM_FI_PROF_SM_ACTIVE", sm_active_ratio, same, 1, true},
    {"DCGM_FI_PROF_SM_UTIL_RATIO", sm_active_ratio, same, 1, true},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", tensor_active_ratio, same, 1, true},
    {"DCGM_FI_PROF_TENSOR_UTIL_RATIO", tensor_active_ratio, same, 1, true},
    {"DCGM_FI_PROF_DRAM_ACTIVE", dram_active_ratio, same, 1, true},
    {"DCGM_FI_PROF_DRAM_UTIL_RATIO", dram_active_ratio, same, 1, true},
    {"DCGM_FI_DEV_FB_USED", mem_used_bytes, mebibytes, 1, true},
    {"DCGM_FI_DEV_FB_TOTAL", mem_total_bytes, mebibytes, 1, true},
    {"DCGM_FI_DEV_SM_CLOCK", sm_clock_mhz},
    {"DCGM_FI_DEV_MAX_SM_CLOCK", sm_clock_max_mhz},
    {"DCGM_FI_DEV_MEM_CLOCK", mem_clock_mhz},
    {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", throttle_mask},
    {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", throttle_mask},
    {"DCGM_FI_DEV_GPU_TEMP", temperature_c},
    {"DCGM_FI_DEV_GPU_TEMP_CELSIUS", temperature_c},
    {"DCGM_FI_DEV_MEMORY_TEMP", mem_temperature_c},
    {"DCGM_FI_DEV_MEMORY_TEMP_CELSIUS", mem_temperature_c},
    {"DCGM_FI_DEV_FAN_SPEED", fan_percent},
    {"DCGM_FI_DEV_PSTATE", pstate},
    {"DCGM_FI_DEV_GPU_PSTATE", pstate},
    {"DCGM_FI_DEV_PCIE_LINK_GEN", pcie_gen},
    {"DCGM_FI_DEV_PCIE_MAX_LINK_GEN", pcie_gen_max},
    {"DCGM_FI_DEV_PCIE_LINK_WIDTH", pcie_width},
    {"DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", pcie_width_max},
    {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", pcie_replays},
    {"DCGM_FI_DEV_PCIE_REPLAY_TOTAL", pcie_replays},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", ecc_corrected},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", ecc_uncorrected},
    {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", remapped_corrected},
    {"DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL", remapped_corrected},
    {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", remapped_uncorrected},
    {"DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL", remapped_uncorrected},
    {"DCGM_FI_DEV_ROW_REMAP_PENDING", remap_pending},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", remap_failed},
    {"DCGM_FI_DEV_ROW_REMAP_FAILED", remap_failed},
    {"DCGM_FI_DEV_XID_ERRORS", last_xid},
    {"DCGM_FI_DEV_XID_ERROR", last_xid},
    {"DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", recovery_action},
    {"DCGM_FI_DEV_GPU_RECOVERY_ACTION", recovery_action},
    {"DCGM_FI_DEV_MIG_MODE", mig_mode, same, 2},
    // nvidia_gpu_exporter
    {"nvidia_smi_power_draw_watts", power_w, same, 2},
    {"nvidia_smi_power_draw_average_watts", power_w},
    {"nvidia_smi_power_draw_instant_watts", power_instant_w},
    {"nvidia_smi_enforced_power_limit_watts", power_limit_w, same, 2},
    {"nvidia_smi_power_limit_watts", power_limit_w},
    {"nvidia_smi_power_default_limit_watts", power_default_limit_w},
    {"nvidia_smi_utilization_gpu_ratio", util_gpu_percent, ratio},
    {"nvidia_smi_utilization_memory_ratio", util_mem_percent, ratio},
    {"nvidia_smi_memory_used_bytes", mem_used_bytes},
    {"nvidia_smi_memory_total_bytes", mem_total_bytes},
    {"nvidia_smi_clocks_current_sm_clock_hz", sm_clock_mhz, hertz},
    {"nvidia_smi_clocks_max_sm_clock_hz", sm_clock_max_mhz, hertz},
    {"nvidia_smi_clocks_current_memory_clock_hz", mem_clock_mhz, hertz},
    {"nvidia_smi_clocks_event_reasons_active", throttle_mask},
    {"nvidia_smi_clocks_throttle_reasons_active", throttle_mask},
    {"nvidia_smi_temperature_gpu", temperature_c},
    {"nvidia_smi_temperature_memory", mem_temperature_c},
    {"nvidia_smi_fan_speed_ratio", fan_percent, ratio},
    {"nvidia_smi_pstate", pstate},
    {"nvidia_smi_pcie_link_gen_current", pcie_gen},
    {"nvidia_smi_pcie_link_gen_max", pcie_gen_max},
    {"nvidia_smi_pcie_link_width_current", pcie_width},
    {"nvidia_smi_pcie_link_width_max", pcie_width_max},
    {"nvidia_smi_ecc_errors_corrected_volatile_total", ecc_corrected},
    {"nvidia_smi_ecc_errors_uncorrected_volatile_total", ecc_uncorrected},
    {"nvidia_smi_remapped_rows_correctable", remapped_corrected},
    {"nvidia_smi_remapped_rows_uncorrectable", remapped_uncorrected},
    {"nvidia_smi_remapped_rows_pending", remap_pending},
    {"nvidia_smi_remapped_rows_failure", remap_failed},
    {"nvidia_smi_gpu_recovery_action", recovery_action},
    {"nvidia_smi_mig_mode_current", mig_mode},
    // node_exporter; data is in bytes already
    {"node_infiniband_state_id", ib_state},
    {"node_infiniband_physical_state_id", ib_phys_state},
    {"node_infiniband_rate_bytes_per_second", ib_rate_bytes_per_s},
    {"node_infiniband_port_data_transmitted_bytes_total", ib_tx_bytes},
    {"node_infiniband_port_data_received_bytes_total", ib_rx_bytes},
    {"node_infiniband_port_transmit_wait_total", ib_xmit_wait},
    {"node_infiniband_symbol_error_total", ib_symbol_errors},
    {"node_infiniband_link_error_recovery_total", ib_link_recoveries},
    {"node_infiniband_link_downed_total", ib_link_downed},
    {"node_infiniband_port_errors_received_total", ib_rcv_errors},
    {"node_infiniband_port_discards_transmitted_total", ib_xmit_discards},
    {"node_infiniband_local_link_integrity_errors_total", ib_integrity_errors},
    {"node_infiniband_out_of_sequence_packets_received_total", ib_out_of_sequence},
};

}  // namespace

std::span<const PrometheusName> prometheus_names() {
  return kNames;
}

const PrometheusName* find_prometheus_name(std::string_view name) {
  static const auto kIndex = [] {
    std::unordered_map<std::string_view, const PrometheusName*> index;
    for (const PrometheusName& row : kNames) index.emplace(row.name, &row);
    return index;
  }();
  const auto it = kIndex.find(name);
  return it == kIndex.end() ? nullptr : it->second;
}

}  // namespace muster
