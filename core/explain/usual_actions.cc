#include "core/explain/usual_actions.h"

#include <algorithm>

namespace muster {
namespace {

struct Row {
  Cause cause;
  Action first, then = Action::none, last = Action::none;
};

constexpr Action kResume = Action::restart_from_checkpoint;
constexpr Row kRows[] = {
    {Cause::collective_hang, Action::collect_evidence, kResume},
    {Cause::rank_behind, Action::collect_evidence, kResume},
    {Cause::collective_mismatch, Action::fix_code, Action::collect_evidence},
    {Cause::uneven_steps, Action::equalize_steps, kResume},
    {Cause::rank_exception, Action::fix_code, kResume},
    {Cause::watchdog_stuck, Action::collect_evidence, Action::fix_code, kResume},
    {Cause::one_rank_long_work, Action::fix_code, Action::raise_timeout},
    {Cause::timeout_after_completion, Action::keep_result, Action::fix_code},
    {Cause::run_incomplete_exit_zero, Action::collect_evidence, kResume},
    {Cause::suspect_not_confirmed, Action::undrain_host, Action::collect_evidence},
    {Cause::pcie_link_degraded, Action::check_power_cooling, Action::recheck},
    {Cause::thermal_throttle_dips, Action::check_power_cooling, Action::drain_host},
    {Cause::normal_power_management, Action::none},
    {Cause::ecc_correctable_storm, Action::watch, Action::reset_gpu},
    {Cause::ecc_uncorrectable, Action::drain_host, Action::reset_gpu, kResume},
    {Cause::ecc_contained, kResume, Action::reset_gpu},
    {Cause::gpu_memory_worn_out, Action::drain_host, Action::replace_gpu},
    {Cause::gpu_fell_off_bus, Action::drain_host, Action::power_cycle_host, kResume},
    {Cause::gpu_firmware_hang, Action::drain_host, Action::reboot_host, Action::update_driver},
    {Cause::nvlink_down, Action::drain_host, Action::reboot_host, Action::collect_evidence},
    {Cause::nvlink_nonfatal, Action::watch},
    {Cause::benign_cleanup_xid, Action::none},
    {Cause::harmless_message, Action::none},
    {Cause::app_memory_fault, Action::fix_code},
    {Cause::driver_library_mismatch, Action::refuse_launch, Action::reboot_host},
    {Cause::nvswitch_not_set_up, Action::refuse_launch, Action::start_service, Action::recheck},
    {Cause::container_lost_gpu, Action::recreate_container},
    {Cause::duplicate_gpu, Action::fix_code, kResume},
    {Cause::cpu_binding, Action::fix_config},
    {Cause::limit_too_low, Action::raise_limit, Action::recheck},
    {Cause::shm_full, Action::raise_limit, kResume},
    {Cause::host_oom_killed, Action::reduce_memory, Action::raise_limit, kResume},
    {Cause::host_memory_leak, Action::fix_code, Action::reduce_memory},
    {Cause::gpu_oom, Action::reduce_memory, kResume},
    {Cause::port_in_use, Action::stop_process, Action::fix_config},
    {Cause::unkillable_process, Action::undrain_host, Action::reboot_host},
    {Cause::ib_link_faulty, Action::check_link, Action::drain_host, kResume},
    {Cause::ib_port_down, Action::check_link, Action::drain_host},
    {Cause::ports_down_together, Action::fix_network, Action::collect_evidence},
    {Cause::roce_packet_loss, Action::fix_network, kResume},
    {Cause::nccl_env_mismatch, Action::fix_config, kResume},
    {Cause::no_route, Action::fix_config, Action::fix_network, kResume},
    {Cause::nccl_socket_fallback, Action::fix_config, Action::fix_network},
    {Cause::gdr_disabled, Action::start_service, Action::recheck},
    {Cause::bad_record, Action::fix_data, kResume},
    {Cause::data_file_truncated, Action::fix_data, kResume},
    {Cause::cache_not_shared, Action::fix_config, kResume},
    {Cause::token_id_out_of_range, Action::fix_data, kResume},
    {Cause::loader_worker_crashed, Action::fix_code, kResume},
    {Cause::data_starvation, Action::speed_up_input},
    {Cause::checkpoint_incomplete, Action::quarantine_checkpoint, kResume},
    {Cause::checkpoint_torn, Action::quarantine_checkpoint, Action::step_back_checkpoint},
    {Cause::checkpoint_false_complete, Action::quarantine_checkpoint, Action::step_back_checkpoint},
    {Cause::checkpoint_dir_conflict, Action::quarantine_checkpoint, kResume},
    {Cause::slow_save, Action::raise_timeout, kResume},
    {Cause::storage_write_error, Action::repair_storage, kResume},
    {Cause::restart_loop, Action::stop_restarts, Action::step_back_checkpoint},
    {Cause::zombie_job, Action::cancel_job, kResume},
    {Cause::stale_rendezvous_store, Action::fix_config, kResume},
    {Cause::external_stop, Action::find_sender, kResume},
    {Cause::node_failure, Action::exclude_host, Action::drain_host, kResume},
    {Cause::storage_server_lost, Action::repair_storage, kResume},
    {Cause::storage_pause_recovered, Action::watch},
    {Cause::disk_full, Action::free_disk, kResume},
    {Cause::inodes_exhausted, Action::free_disk, kResume},
    {Cause::disk_headroom_low, Action::refuse_launch, Action::free_disk},
    {Cause::nvme_failing, Action::drain_host, Action::replace_disk},
};

}  // namespace

std::vector<Action> usual_actions(Cause cause) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.cause == cause; });
  if (row == std::end(kRows)) {
    const Severity severity = cause_row(cause).severity;
    if (cause == Cause::undetermined) return {Action::collect_evidence};
    return {severity == Severity::ok ? Action::none : Action::watch};
  }
  std::vector<Action> out = {row->first};
  for (const Action more : {row->then, row->last}) {
    if (more != Action::none) out.push_back(more);
  }
  return out;
}

std::string_view usual_next(Cause cause) {
  switch (cause) {
    case Cause::gpu_fell_off_bus:
      return "take the node out and cut its power once; if it comes again, reseat or replace the "
             "GPU";
    case Cause::gpu_firmware_hang:
      return "take the node out and reboot it; if others show it too, look for a fixed driver";
    case Cause::ecc_uncorrectable:
      return "take the node out, reset the GPU and look at its remapped rows";
    case Cause::ecc_contained:
      return "restart the job; reset the GPU in the next window, so that the remap becomes active";
    case Cause::gpu_memory_worn_out:
      return "take the node out and have the GPU replaced: a reset only hides it";
    case Cause::nvlink_down:
      return "take the node out and reboot it, then look at nvidia-smi nvlink -s; its peers are "
             "well";
    case Cause::rank_exception:
      return "mend what the exception says, then restart; the time-outs of the others follow from "
             "it";
    case Cause::watchdog_stuck:
      return "take the stacks of that process (py-spy, gdb): which call holds it; look for an Xid";
    case Cause::gpu_oom:
      return "a smaller batch or more activation checkpointing; see what else uses that GPU";
    case Cause::loader_worker_crashed:
      return "look for the worker's own last lines and its core dump; try with one worker";
    case Cause::ib_link_faulty:
      return "look at cable, transceiver and both ports; restart without that host";
    case Cause::node_failure:
      return "look at its console and BMC log before it comes back";
    case Cause::inodes_exhausted:
      return "delete or pack small files there; look at df -i before each launch";
    case Cause::disk_full:
      return "free space there, and see which files grew";
    case Cause::driver_library_mismatch:
      return "reboot, or reload the kernel module, and hold back the packages of the driver";
    default:
      return "";
  }
}

}  // namespace muster
