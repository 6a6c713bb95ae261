#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/severity.h"

// The closed list of causes: what a finding may say went wrong. This table is the only place that
// names a cause, its severity and its meaning; docs/FINDINGS.md is generated from it
// (`muster_findings_doc`, checked by a test). A new cause is a new row here.

namespace muster {

enum class Cause : std::uint16_t {
  collective_hang,
  rank_behind,
  collective_mismatch,
  uneven_steps,
  rank_exception,
  watchdog_stuck,
  one_rank_long_work,
  timeout_after_completion,
  run_incomplete_exit_zero,
  evidence_missing,
  suspect_not_confirmed,
  rank_straggler,
  gpu_power_straggler,
  pcie_link_degraded,
  thermal_throttle_dips,
  normal_power_management,
  stale_metric,
  ecc_correctable_storm,
  ecc_uncorrectable,
  ecc_contained,
  gpu_memory_worn_out,
  gpu_fell_off_bus,
  gpu_firmware_hang,
  nvlink_down,
  nvlink_nonfatal,
  benign_cleanup_xid,
  harmless_message,
  app_memory_fault,
  checkpoint_dominated,
  communication_bound,
  throttled,
  power_limit_lower,
  reader_stuck,
  series_vanished,
  duplicate_series,
  gpus_idle,
  driver_library_mismatch,
  nvswitch_not_set_up,
  container_lost_gpu,
  duplicate_gpu,
  cpu_binding,
  limit_too_low,
  shm_full,
  host_oom_killed,
  host_memory_leak,
  gpu_oom,
  port_in_use,
  unkillable_process,
  clock_skew,
  host_differs,
  host_setting,
  host_hardware,
  service_down,
  ib_link_faulty,
  ib_port_down,
  ports_down_together,
  event_burst_ignored,
  planned_link_event,
  counter_not_a_fault,
  roce_packet_loss,
  nccl_env_mismatch,
  no_route,
  nccl_socket_fallback,
  gdr_disabled,
  bad_record,
  data_file_truncated,
  data_damaged,
  cache_not_shared,
  token_id_out_of_range,
  loader_worker_crashed,
  data_starvation,
  cold_cache_start,
  checkpoint_in_progress,
  checkpoint_incomplete,
  checkpoint_torn,
  checkpoint_false_complete,
  checkpoint_dir_conflict,
  slow_save,
  storage_write_error,
  restart_loop,
  silent_restart,
  zombie_job,
  stale_rendezvous_store,
  external_stop,
  node_failure,
  storage_server_lost,
  storage_pause_recovered,
  disk_full,
  inodes_exhausted,
  disk_headroom_low,
  nvme_failing,
  gc_pauses,
  compile_warmup,
  eval_pause,
  healthy,
  undetermined,
};

struct CauseRow {
  Cause cause;
  std::string_view name;           // as it stands in reports: "gpu_power_straggler"
  std::string_view area;           // heading of its group
  Severity severity;               // the usual one
  std::uint8_t allowed;            // bit set of Severity: 1 << static_cast<int>(severity)
  std::string_view severity_rule;  // where there is more than one; empty otherwise
  std::string_view meaning;

  bool allows(Severity s) const { return ((allowed >> static_cast<int>(s)) & 1) != 0; }
};

// All rows in the order of the enumeration.
std::span<const CauseRow> cause_table();
const CauseRow& cause_row(Cause cause);
inline std::string_view cause_name(Cause cause) {
  return cause_row(cause).name;
}
std::optional<Cause> cause_from_name(std::string_view name);

}  // namespace muster
