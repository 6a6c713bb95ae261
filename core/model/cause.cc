#include "core/model/cause.h"

#include <array>

#include "base/check.h"

namespace muster {
namespace {

constexpr std::uint8_t kOk = 1, kInfo = 2, kWarning = 4, kCritical = 8;

constexpr std::string_view kCollectivesAnd = "Collectives and progress";
constexpr std::string_view kGpuNvlink = "GPU, NVLink and their messages";
constexpr std::string_view kNodeSoftware = "Node software, memory and limits";
constexpr std::string_view kNetwork = "Network";
constexpr std::string_view kData = "Data";
constexpr std::string_view kCheckpoint = "Checkpoint";
constexpr std::string_view kLaunchAnd = "Launch and restart";
constexpr std::string_view kStorage = "Storage";
constexpr std::string_view kShapeOf = "Shape of the curve, and the rest";

constexpr CauseRow kTable[] = {
    {Cause::collective_hang, "collective_hang", kCollectivesAnd, Severity::critical, kCritical, "",
     "ranks wait in a collective that does not end and this evidence does not say why; the odd "
     "rank is the culprit if one stands out, else unknown"},
    {Cause::rank_behind, "rank_behind", kCollectivesAnd, Severity::critical, kCritical, "",
     "one rank has not entered the collective in which the others wait (sequence numbers, pending "
     "lists, or it alone has no timeout line)"},
    {Cause::collective_mismatch, "collective_mismatch", kCollectivesAnd, Severity::critical,
     kCritical, "",
     "at one sequence number ranks run different operations or sizes, all of them inside the step"},
    {Cause::uneven_steps, "uneven_steps", kCollectivesAnd, Severity::critical, kCritical | kWarning,
     "critical; warning in a check before the start",
     "ranks have different numbers of steps: one leaves the loop (save or barrier at the end, data "
     "exhausted) while others are still in a step"},
    {Cause::rank_exception, "rank_exception", kCollectivesAnd, Severity::critical, kCritical, "",
     "an exception of the application stopped one rank; the waits of the others follow"},
    {Cause::watchdog_stuck, "watchdog_stuck", kCollectivesAnd, Severity::critical, kCritical, "",
     "a process made no progress inside a CUDA or NCCL call (heartbeat monitor) and aborted; "
     "errors of its peers follow"},
    {Cause::one_rank_long_work, "one_rank_long_work", kCollectivesAnd, Severity::warning, kWarning,
     "",
     "some ranks are in a long legitimate phase (evaluation, preprocessing, compilation) when the "
     "others hit the time limit of a collective"},
    {Cause::timeout_after_completion, "timeout_after_completion", kCollectivesAnd, Severity::info,
     kInfo, "", "a timeout or tear-down error after training had ended and saved"},
    {Cause::run_incomplete_exit_zero, "run_incomplete_exit_zero", kCollectivesAnd,
     Severity::critical, kCritical, "",
     "exit 0 or COMPLETED without the planned steps, seen afterwards or foreseen in a check"},
    {Cause::evidence_missing, "evidence_missing", kCollectivesAnd, Severity::info, kInfo | kWarning,
     "info; warning when the rest shows an odd one out",
     "what a verdict needs is not there (dumps of most ranks, empty columns): missing is not idle"},
    {Cause::suspect_not_confirmed, "suspect_not_confirmed", kCollectivesAnd, Severity::warning,
     kWarning, "", "the suspicion fails its control: the trouble also comes without the suspect"},
    {Cause::rank_straggler, "rank_straggler", kCollectivesAnd, Severity::warning, kWarning, "",
     "one rank is nearly always the last to come to the collectives; the others wait for it in "
     "every step"},
    {Cause::gpu_power_straggler, "gpu_power_straggler", kGpuNvlink, Severity::warning, kWarning, "",
     "one GPU draws far less than its peers under the same load (power path, chassis or firmware "
     "state)"},
    {Cause::pcie_link_degraded, "pcie_link_degraded", kGpuNvlink, Severity::warning, kWarning, "",
     "PCIe link below its maximum speed or width while the GPU is busy"},
    {Cause::thermal_throttle_dips, "thermal_throttle_dips", kGpuNvlink, Severity::critical,
     kCritical, "",
     "hardware thermal or power-brake slowdown lowers the clock, the whole job dips with it"},
    {Cause::normal_power_management, "normal_power_management", kGpuNvlink, Severity::ok, kOk, "",
     "idle link at low speed, or software power cap at the full limit"},
    {Cause::stale_metric, "stale_metric", kGpuNvlink, Severity::info, kInfo, "",
     "a gauge keeps an old value (last Xid) that is no present state"},
    {Cause::ecc_correctable_storm, "ecc_correctable_storm", kGpuNvlink, Severity::warning, kWarning,
     "", "corrected memory errors at a high rate with row remaps; a low constant count is none"},
    {Cause::ecc_uncorrectable, "ecc_uncorrectable", kGpuNvlink, Severity::critical, kCritical, "",
     "uncorrectable memory error of a GPU, first time or remap still possible"},
    {Cause::ecc_contained, "ecc_contained", kGpuNvlink, Severity::warning, kWarning, "",
     "contained memory error: only the process using it is lost"},
    {Cause::gpu_memory_worn_out, "gpu_memory_worn_out", kGpuNvlink, Severity::critical, kCritical,
     "", "row remapping failed, or errors return right after a remap: replace"},
    {Cause::gpu_fell_off_bus, "gpu_fell_off_bus", kGpuNvlink, Severity::critical, kCritical, "",
     "GPU lost from PCIe (Xid 79, the text without a number, or its handle cannot be read after "
     "link errors)"},
    {Cause::gpu_firmware_hang, "gpu_firmware_hang", kGpuNvlink, Severity::critical, kCritical, "",
     "micro-controller or GSP firmware halted or does not answer (Xid 62, 119, 120)"},
    {Cause::nvlink_down, "nvlink_down", kGpuNvlink, Severity::critical, kCritical, "",
     "fatal NVLink event or lost links"},
    {Cause::nvlink_nonfatal, "nvlink_nonfatal", kGpuNvlink, Severity::info, kInfo, "",
     "single NVLink events marked Nonfatal, run unaffected"},
    {Cause::benign_cleanup_xid, "benign_cleanup_xid", kGpuNvlink, Severity::ok, kOk, "",
     "Xid 45 alone when an application ends or is cancelled"},
    {Cause::harmless_message, "harmless_message", kGpuNvlink, Severity::ok, kOk, "",
     "log lines that read like errors and mean nothing on this machine"},
    {Cause::app_memory_fault, "app_memory_fault", kGpuNvlink, Severity::info,
     kInfo | kWarning | kCritical,
     "info for one fault; warning when a program repeats it on several GPUs; critical when "
     "unrecognised clients fault on several GPUs of a node",
     "illegal access or exception of a user program (Xid 13, 31, 43), not hardware"},
    {Cause::checkpoint_dominated, "checkpoint_dominated", kGpuNvlink, Severity::warning, kWarning,
     "", "more than a fifth of the time goes into waiting for saves: healthy, and wasteful"},
    {Cause::communication_bound, "communication_bound", kGpuNvlink, Severity::info, kInfo, "",
     "the GPUs are busy all the time at the power of communication, not of compute: overlap fails "
     "or the job shape is small"},
    {Cause::throttled, "throttled", kGpuNvlink, Severity::warning, kWarning, "",
     "a clock limit that matters (hardware slowdown, thermal, power brake) holds a GPU down"},
    {Cause::power_limit_lower, "power_limit_lower", kGpuNvlink, Severity::warning, kWarning, "",
     "one GPU has a lower enforced power limit than its peers: it slows all of them"},
    {Cause::reader_stuck, "reader_stuck", kGpuNvlink, Severity::warning, kWarning, "",
     "a reader of the telemetry (driver call, exporter, host engine) does not return"},
    {Cause::series_vanished, "series_vanished", kGpuNvlink, Severity::warning, kWarning, "",
     "a GPU or port that was reported is reported no more while its neighbours are: missing is not "
     "idle"},
    {Cause::duplicate_series, "duplicate_series", kGpuNvlink, Severity::warning, kWarning, "",
     "two hosts report identical readings: one of them is a copy, not evidence"},
    {Cause::gpus_idle, "gpus_idle", kGpuNvlink, Severity::info, kInfo, "",
     "no work on the GPUs: nothing runs, or it has ended"},
    {Cause::driver_library_mismatch, "driver_library_mismatch", kNodeSoftware, Severity::critical,
     kCritical, "", "user-space driver and loaded kernel module differ"},
    {Cause::nvswitch_not_set_up, "nvswitch_not_set_up", kNodeSoftware, Severity::critical,
     kCritical | kInfo, "critical; info when initialisation completed without it",
     "Fabric Manager not running or of another version, NVLS cannot bind"},
    {Cause::container_lost_gpu, "container_lost_gpu", kNodeSoftware, Severity::warning, kWarning,
     "", "a container lost its device access, the host's GPUs are healthy"},
    {Cause::duplicate_gpu, "duplicate_gpu", kNodeSoftware, Severity::critical, kCritical, "",
     "several ranks use one GPU (device not selected)"},
    {Cause::cpu_binding, "cpu_binding", kNodeSoftware, Severity::warning, kWarning, "",
     "too few CPU cores bound to a task"},
    {Cause::limit_too_low, "limit_too_low", kNodeSoftware, Severity::critical, kCritical, "",
     "a resource limit (locked memory, open files) stops the run"},
    {Cause::shm_full, "shm_full", kNodeSoftware, Severity::critical, kCritical, "",
     "shared memory of the container too small or full"},
    {Cause::host_oom_killed, "host_oom_killed", kNodeSoftware, Severity::critical, kCritical, "",
     "the kernel killed a process at a memory limit or without memory"},
    {Cause::host_memory_leak, "host_memory_leak", kNodeSoftware, Severity::critical, kCritical, "",
     "host memory grows steadily to the limit, killed again and again"},
    {Cause::gpu_oom, "gpu_oom", kNodeSoftware, Severity::critical, kCritical, "",
     "GPU memory exhausted, also by NCCL's own buffers"},
    {Cause::port_in_use, "port_in_use", kNodeSoftware, Severity::critical, kCritical, "",
     "a TCP port needed by the launch is held by another process"},
    {Cause::unkillable_process, "unkillable_process", kNodeSoftware, Severity::warning, kWarning,
     "", "the scheduler drained a node because processes did not die"},
    {Cause::clock_skew, "clock_skew", kNodeSoftware, Severity::warning, kWarning | kCritical,
     "warning; critical when certificates and tickets are refused for it (minutes)",
     "a host's clock differs from that of the others, or nothing keeps it"},
    {Cause::host_differs, "host_differs", kNodeSoftware, Severity::warning, kWarning | kInfo,
     "warning; info where nobody said which is right and the groups are of like size",
     "a version, count or setting differs from the golden reference or from most other hosts"},
    {Cause::host_setting, "host_setting", kNodeSoftware, Severity::warning, kWarning, "",
     "a setting of the host costs speed or lets a run fail (swap, limits, clocks, ACS)"},
    {Cause::host_hardware, "host_hardware", kNodeSoftware, Severity::critical, kCritical | kWarning,
     "critical; warning when redundancy or correction still holds",
     "memory, processor, disks or power of a host report faults"},
    {Cause::service_down, "service_down", kNodeSoftware, Severity::critical, kCritical | kWarning,
     "critical when the run needs it; warning otherwise",
     "a service of the host is installed and failed or does not answer"},
    {Cause::ib_link_faulty, "ib_link_faulty", kNetwork, Severity::critical, kCritical | kWarning,
     "critical when a link that went down ends at a host or at an unknown device; warning when "
     "both ends are switches, or only error counters grow",
     "a link goes down and up again, or its symbol, recovery or receive errors grow: cable, "
     "transceiver or port"},
    {Cause::ib_port_down, "ib_port_down", kNetwork, Severity::critical, kCritical | kWarning,
     "critical; warning in a check where nothing tells whether the port is in use",
     "a port is down or polling: no link partner"},
    {Cause::ports_down_together, "ports_down_together", kNetwork, Severity::critical, kCritical, "",
     "several ports drop in the same second: one common cause, not several cables"},
    {Cause::event_burst_ignored, "event_burst_ignored", kNetwork, Severity::ok, kOk, "",
     "a mass of link events within seconds: one restart"},
    {Cause::planned_link_event, "planned_link_event", kNetwork, Severity::ok, kOk, "",
     "link down by a host's reboot or by an operator"},
    {Cause::counter_not_a_fault, "counter_not_a_fault", kNetwork, Severity::ok, kOk | kInfo,
     "ok; info when a later reading has to decide",
     "congestion or wait counters, or an error rate measured too early"},
    {Cause::roce_packet_loss, "roce_packet_loss", kNetwork, Severity::critical, kCritical, "",
     "RoCE loses packets (sequence errors, retransmissions), lossless settings missing"},
    {Cause::nccl_env_mismatch, "nccl_env_mismatch", kNetwork, Severity::critical, kCritical, "",
     "NCCL settings or versions differ between ranks"},
    {Cause::no_route, "no_route", kNetwork, Severity::critical, kCritical, "",
     "NCCL uses an address, GID index or rail from which the peer cannot be reached"},
    {Cause::nccl_socket_fallback, "nccl_socket_fallback", kNetwork, Severity::warning,
     kWarning | kCritical, "warning; critical below a tenth of the expected speed",
     "NCCL runs over TCP although InfiniBand is there or expected"},
    {Cause::gdr_disabled, "gdr_disabled", kNetwork, Severity::warning, kWarning, "",
     "traffic without GPUDirect RDMA"},
    {Cause::bad_record, "bad_record", kData, Severity::critical, kCritical | kWarning,
     "critical when the run died of it; warning in a check",
     "records that cannot be used (syntax, field missing, wrong type)"},
    {Cause::data_file_truncated, "data_file_truncated", kData, Severity::critical, kCritical, "",
     "a data file ends in the middle of a record or character"},
    {Cause::data_damaged, "data_damaged", kData, Severity::critical, kCritical, "",
     "a data set is not what was written: its hashes, sizes or counts do not agree"},
    {Cause::cache_not_shared, "cache_not_shared", kData, Severity::critical, kCritical, "",
     "an index or cache was built where other nodes cannot see it"},
    {Cause::token_id_out_of_range, "token_id_out_of_range", kData, Severity::critical, kCritical,
     "", "token id beyond the embedding table (device-side assert)"},
    {Cause::loader_worker_crashed, "loader_worker_crashed", kData, Severity::critical, kCritical,
     "", "a data-loader worker died by itself (segmentation fault, decoder)"},
    {Cause::data_starvation, "data_starvation", kData, Severity::warning, kWarning, "",
     "ranks wait for data: periodic loader stalls, slow source, slow tokenization"},
    {Cause::cold_cache_start, "cold_cache_start", kData, Severity::ok, kOk, "",
     "slow only at the first touch after a start"},
    {Cause::checkpoint_in_progress, "checkpoint_in_progress", kCheckpoint, Severity::ok, kOk, "",
     "pause of a normal save"},
    {Cause::checkpoint_incomplete, "checkpoint_incomplete", kCheckpoint, Severity::warning,
     kWarning, "", "interrupted save: parts are missing, an older one is complete"},
    {Cause::checkpoint_torn, "checkpoint_torn", kCheckpoint, Severity::critical, kCritical, "",
     "a file under its final name is shorter than its own header or index says"},
    {Cause::checkpoint_false_complete, "checkpoint_false_complete", kCheckpoint, Severity::critical,
     kCritical, "", "marked complete although parts are missing"},
    {Cause::checkpoint_dir_conflict, "checkpoint_dir_conflict", kCheckpoint, Severity::critical,
     kCritical, "",
     "one rank fails because the checkpoint folder already exists (left over, or a race)"},
    {Cause::slow_save, "slow_save", kCheckpoint, Severity::critical, kCritical | kWarning,
     "critical; warning when the log shows the save still writing",
     "a save takes longer than the limit of the waiting ranks"},
    {Cause::storage_write_error, "storage_write_error", kCheckpoint, Severity::warning, kWarning,
     "", "a write failed although the file system has room (transient, quota)"},
    {Cause::restart_loop, "restart_loop", kLaunchAnd, Severity::critical, kCritical, "",
     "the same death again and again from the same state"},
    {Cause::silent_restart, "silent_restart", kLaunchAnd, Severity::critical, kCritical, "",
     "the job was restarted in place and its progress is gone"},
    {Cause::zombie_job, "zombie_job", kLaunchAnd, Severity::critical, kCritical, "",
     "a worker died, the rest never stopped, the scheduler still says RUNNING"},
    {Cause::stale_rendezvous_store, "stale_rendezvous_store", kLaunchAnd, Severity::critical,
     kCritical, "", "the store holds entries of an earlier attempt"},
    {Cause::external_stop, "external_stop", kLaunchAnd, Severity::warning, kWarning | kInfo,
     "warning; info when the scheduler's own line names a planned reason",
     "stopped from outside: signal, time limit, preemption, requeue"},
    {Cause::node_failure, "node_failure", kLaunchAnd, Severity::critical, kCritical, "",
     "the node itself died (NODE_FAIL, lost contact)"},
    {Cause::storage_server_lost, "storage_server_lost", kStorage, Severity::critical, kCritical, "",
     "NFS or Lustre stopped answering and no recovery line follows"},
    {Cause::storage_pause_recovered, "storage_pause_recovered", kStorage, Severity::info, kInfo, "",
     "short pause of a file server, over by itself"},
    {Cause::disk_full, "disk_full", kStorage, Severity::critical, kCritical | kWarning,
     "critical; warning in a check while some is left", "no space left on a file system"},
    {Cause::inodes_exhausted, "inodes_exhausted", kStorage, Severity::critical,
     kCritical | kWarning, "critical; warning in a check while some are left",
     "no inodes left although space is free"},
    {Cause::disk_headroom_low, "disk_headroom_low", kStorage, Severity::critical, kCritical, "",
     "less free than the plan of the run demands"},
    {Cause::nvme_failing, "nvme_failing", kStorage, Severity::critical, kCritical, "",
     "local disk with timeouts, resets or read errors"},
    {Cause::gc_pauses, "gc_pauses", kShapeOf, Severity::warning, kWarning, "",
     "garbage collection on single ranks stops everybody: sag that heals on restart, or short "
     "pauses on changing ranks"},
    {Cause::compile_warmup, "compile_warmup", kShapeOf, Severity::ok, kOk | kInfo,
     "ok when it is over; info while it lasts",
     "first steps slow on all ranks alike by compilation"},
    {Cause::eval_pause, "eval_pause", kShapeOf, Severity::ok, kOk, "",
     "pause of the evaluation schedule"},
    {Cause::healthy, "healthy", kShapeOf, Severity::ok, kOk, "", "nothing wrong"},
    {Cause::undetermined, "undetermined", kShapeOf, Severity::info, kInfo | kWarning | kCritical,
     "by what is at stake", "the evidence does not decide; say which measurement would"},
};

}  // namespace

std::span<const CauseRow> cause_table() {
  return kTable;
}

const CauseRow& cause_row(Cause cause) {
  const auto index = static_cast<std::size_t>(cause);
  MUSTER_CHECK(index < std::size(kTable), "every cause has a row");
  return kTable[index];
}

std::optional<Cause> cause_from_name(std::string_view name) {
  for (const CauseRow& row : kTable) {
    if (row.name == name) return row.cause;
  }
  return std::nullopt;
}

}  // namespace muster
