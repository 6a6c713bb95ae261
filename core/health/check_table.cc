#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "core/health/check.h"
#include "core/health/judges.h"
#include "core/health/limits.h"

namespace muster::health {
namespace {

using P = std::string_view;
using A = Action;

constexpr P kSmi[] = {"nvidia_smi_query"};
constexpr P kRemap[] = {"nvidia_smi_remap"};
constexpr P kRecovery[] = {"nvidia_smi_recovery"};
constexpr P kHolders[] = {"nvidia_smi_query", "gpu_holders"};
constexpr P kLinks[] = {"nvlink_status"};
constexpr P kLinkErrors[] = {"nvlink_errors"};
constexpr P kServices[] = {"services"};
constexpr P kFabric[] = {"services", "pci_devices"};
constexpr P kPorts[] = {"ib_ports"};
constexpr P kCounters[] = {"ib_counters", "ib_counters_later"};
constexpr P kDevices[] = {"ib_devices"};
constexpr P kPci[] = {"pci_devices"};
constexpr P kAcs[] = {"pci_acs"};
constexpr P kModules[] = {"modules"};
constexpr P kDf[] = {"df"};
constexpr P kZpool[] = {"zpool_status"};
constexpr P kNvme[] = {"nvme"};
constexpr P kMdstat[] = {"mdstat"};
constexpr P kMounts[] = {"network_mounts"};
constexpr P kSwaps[] = {"swaps"};
constexpr P kLimits[] = {"limits"};
constexpr P kCpufreq[] = {"cpufreq"};
constexpr P kEdac[] = {"edac"};
constexpr P kStuck[] = {"stuck_processes"};
constexpr P kTimeSync[] = {"time_sync"};
constexpr P kDocker[] = {"docker_info"};

constexpr A kUseDriver[] = {A::reboot_host, A::update_driver};
constexpr A kReseat[] = {A::power_cycle_host, A::ask_vendor};
constexpr A kReset[] = {A::reset_gpu, A::replace_gpu};
constexpr A kConfig[] = {A::fix_config};
constexpr A kCooling[] = {A::check_power_cooling};
constexpr A kUpdate[] = {A::update_driver};
constexpr A kLink[] = {A::check_link, A::drain_host};
constexpr A kStart[] = {A::start_service};
constexpr A kNetwork[] = {A::fix_network};
constexpr A kPcie[] = {A::recheck, A::ask_vendor};
constexpr A kFree[] = {A::free_disk};
constexpr A kDisk[] = {A::replace_disk, A::exclude_host};
constexpr A kStorage[] = {A::repair_storage};
constexpr A kRaise[] = {A::raise_limit};
constexpr A kVendor[] = {A::drain_host, A::ask_vendor};
constexpr A kReboot[] = {A::reboot_host};
constexpr A kStop[] = {A::stop_process, A::reset_gpu};

// Which of the hosts have what a check is about.
bool gpus(const HostProbe& probe, const Limits& limits) {
  return may_have_gpus(probe, limits);
}
bool infiniband(const HostProbe& probe, const Limits& limits) {
  return may_have_infiniband(probe, limits);
}
bool gpus_and_infiniband(const HostProbe& probe, const Limits& limits) {
  return gpus(probe, limits) && infiniband(probe, limits);
}
template <const auto& kProbe>
bool is_there(const HostProbe& probe, const Limits&) {
  const ProbeAnswer* const answer = probe.find(kProbe[0]);
  return answer == nullptr || answer->end != ProbeEnd::missing;
}

constexpr Check kTable[] = {
    {"gpu_driver", "gpu", "the driver reaches all GPUs", kSmi, Cause::gpu_fell_off_bus, kUseDriver,
     "power-cycle the host; a GPU that is lost again: reseat it, then replace it", gpus,
     judge_gpu_driver},
    {"gpu_count", "gpu", "as many GPUs as there should be", kSmi, Cause::gpu_fell_off_bus, kReseat,
     "power-cycle the host; a GPU that stays away: reseat it and its cables", gpus,
     judge_gpu_count},
    {"gpu_ecc_errors", "gpu", "no uncorrectable memory errors", kSmi, Cause::ecc_uncorrectable,
     kReset, "reset the GPU; if errors return, replace it", gpus, judge_gpu_ecc},
    {"gpu_ecc_mode", "gpu", "ECC is on", kSmi, Cause::host_setting, kConfig,
     "nvidia-smi -e 1, then reset the GPU", gpus, judge_gpu_ecc_mode, true},
    {"gpu_row_remap", "gpu", "no row of memory waits for a remap or failed to get one", kRemap,
     Cause::ecc_uncorrectable, kReset, "reset the GPU; where remapping failed, replace it", gpus,
     judge_gpu_remap},
    {"gpu_recovery", "gpu", "the driver asks for no recovery", kRecovery, Cause::gpu_firmware_hang,
     kReset, "do what the driver asks for before the next run", gpus, judge_gpu_recovery},
    {"gpu_memory_leak", "gpu", "no memory of a GPU is in use by nobody", kHolders,
     Cause::host_setting, kStop, "look for left-over processes; else reset the GPU", gpus,
     judge_gpu_memory, true},
    {"gpu_persistence", "gpu", "persistence mode is on", kSmi, Cause::host_setting, kConfig,
     "enable nvidia-persistenced", gpus, judge_gpu_persistence, true},
    {"gpu_temperature", "gpu", "GPUs are cool enough, and their sensors make sense", kSmi,
     Cause::throttled, kCooling, "check fans, air flow and load", gpus, judge_gpu_temperature,
     true},
    {"gpu_clocks", "gpu", "no hardware slowdown", kSmi, Cause::throttled, kCooling,
     "check cooling and power supplies; measure again under load", gpus, judge_gpu_clocks, true},
    {"gpu_power_limit", "gpu", "one power limit for all GPUs", kSmi, Cause::power_limit_lower,
     kConfig, "set one limit with nvidia-smi -pl", gpus, judge_gpu_power_limit, true},
    {"gpu_versions", "vbios", "one VBIOS on all GPUs of a host", kSmi, Cause::host_differs, kUpdate,
     "finish the upgrade on all GPUs", gpus, judge_gpu_versions, true},
    {"nvlink_links", "nvlink", "all NVLinks are active", kLinks, Cause::nvlink_down, kReset,
     "reset all GPUs of the host together; then look at Fabric Manager's log", gpus,
     judge_nvlink_links},
    {"nvlink_errors", "nvlink", "no errors on NVLinks", kLinkErrors, Cause::host_hardware, kVendor,
     "measure again after a burn-in; ask the vendor where they grow", gpus, judge_nvlink_errors},
    {"fabric_manager", "nvlink", "Fabric Manager runs where NVSwitch is", kFabric,
     Cause::nvswitch_not_set_up, kStart, "systemctl start nvidia-fabricmanager", gpus,
     judge_fabric_manager},
    {"gdr_peermem", "gdr", "GPUDirect RDMA is possible", kModules, Cause::gdr_disabled, kConfig,
     "modprobe nvidia-peermem, at each boot", gpus_and_infiniband, judge_gdr, true},
    {"ib_ports", "ib", "InfiniBand ports are active", kPorts, Cause::ib_port_down, kLink,
     "look at cable and transceiver; say how many should be active (ib_ports)", infiniband,
     judge_ib_ports},
    {"ib_port_rate", "ib", "InfiniBand ports run at their rate", kPorts, Cause::ib_link_faulty,
     kLink, "clean and reseat the transceiver; then replace the cable", infiniband, judge_ib_rate},
    {"ib_counters", "ib", "no error counter of a port grows", kCounters, Cause::ib_link_faulty,
     kLink, "clean and reseat the transceiver; then replace the cable", infiniband,
     judge_ib_counters, true},
    {"ib_firmware", "firmware", "one firmware on all adapters of a kind", kDevices,
     Cause::host_differs, kUpdate, "finish the upgrade on all adapters", infiniband,
     judge_ib_firmware, true},
    {"pcie_links", "pcie", "PCIe links have all their lanes", kPci, Cause::pcie_link_degraded,
     kPcie,
     "reseat the card and internal PCIe cables; on many hosts after an upgrade of PCIe switches "
     "expect a quarter of them",
     is_there<kPci>, judge_pcie_links, true},
    {"pcie_acs", "pcie", "ACS is off in PCIe bridges", kAcs, Cause::host_setting, kConfig,
     "turn ACS off in the BIOS or with setpci, on bare metal", gpus_and_infiniband, judge_pcie_acs,
     true},
    {"disk_space", "disk_space", "file systems have space and inodes", kDf, Cause::disk_full, kFree,
     "free some of it before a run fills the rest", nullptr, judge_disk_space},
    {"shm_size", "disk_space", "/dev/shm is large enough", kDf, Cause::host_setting, kRaise,
     "mount it larger; in containers --shm-size", nullptr, judge_shm, true},
    {"zpool", "disk", "ZFS pools are whole", kZpool, Cause::nvme_failing, kDisk,
     "replace the drive", is_there<kZpool>, judge_zpool},
    {"nvme_state", "disk", "NVMe drives are alive", kNvme, Cause::nvme_failing, kDisk,
     "exclude the host: a drive that hangs takes the machine with it", is_there<kNvme>, judge_nvme},
    {"md_arrays", "disk", "disk arrays are whole", kMdstat, Cause::host_hardware, kDisk,
     "replace the drive", is_there<kMdstat>, judge_md_arrays, true},
    {"network_mounts", "storage", "network file systems answer", kMounts,
     Cause::storage_server_lost, kStorage, "look at the file server and the way to it", nullptr,
     judge_network_mounts},
    {"swap", "os", "swap is off", kSwaps, Cause::host_setting, kConfig,
     "swapoff -a, and its lines of /etc/fstab", nullptr, judge_swap, true},
    {"process_limits", "os", "limits of processes are high enough", kLimits, Cause::host_setting,
     kRaise, "raise them for logins and for the batch system's daemon", nullptr,
     judge_process_limits, true},
    {"cpu_clock", "os", "processor cores may run at their clock", kCpufreq, Cause::host_setting,
     kConfig, "governor performance, and no limit below the hardware's", is_there<kCpufreq>,
     judge_cpu_clock, true},
    {"memory_errors", "os", "no errors of host memory", kEdac, Cause::host_hardware, kVendor,
     "replace the memory module", is_there<kEdac>, judge_memory_errors},
    {"services", "os", "no service has failed", kServices, Cause::service_down, kStart,
     "systemctl status NAME says why", is_there<kServices>, judge_services, true},
    {"stuck_processes", "os", "no process hangs in a device", kStuck, Cause::unkillable_process,
     kReboot, "only a reboot ends them; find the device first", nullptr, judge_stuck_processes,
     true},
    {"clock_skew",
     "time",
     "the clock agrees with ours",
     {},
     Cause::clock_skew,
     kNetwork,
     "start a time service (chrony), or step the clock once",
     nullptr,
     judge_clock_skew},
    {"time_sync", "time", "a time service keeps the clock", kTimeSync, Cause::clock_skew, kStart,
     "start a time service (chrony)", nullptr, judge_time_sync, true},
    {"docker", "docker", "Docker answers and has a runtime for GPUs", kDocker, Cause::service_down,
     kStart,
     "systemctl status docker; nvidia-ctk runtime configure; --off docker where no run uses it",
     is_there<kDocker>, judge_docker},
};

// What stands in the way of a judgement; empty: nothing.
std::string obstacle(const Check& check, const HostProbe& probe) {
  for (const std::string_view id : check.probes) {
    std::string why = why_not(probe, id);
    if (!why.empty()) return why;
  }
  return "";
}

Judged judge_one(const Check& check, const HostProbe& probe, const Limits& limits) {
  if (!answered(probe.reach)) return cannot_tell(reach_text(probe));
  if (check.applies != nullptr && !check.applies(probe, limits)) return skipped("not on this host");
  std::string why = obstacle(check, probe);
  if (!why.empty()) return cannot_tell(std::move(why));
  return check.judge(probe, limits);
}

constexpr P kKernelLog[] = {"kernel_log"};
constexpr Check kKernelCheck = {"kernel_log",
                                "kernel_log",
                                "the kernel's log tells of no fault",
                                kKernelLog,
                                Cause::undetermined,
                                kVendor,
                                "muster explain on the log has the whole story",
                                nullptr,
                                nullptr};

}  // namespace

std::span<const Check> check_table() {
  return kTable;
}

const Check& kernel_log_check() {
  return kKernelCheck;
}

const Check* find_check(std::string_view id) {
  const auto row = std::find_if(std::begin(kTable), std::end(kTable),
                                [id](const Check& check) { return check.id == id; });
  if (row != std::end(kTable)) return row;
  return id == kKernelCheck.id ? &kKernelCheck : nullptr;
}

std::vector<CheckResult> check_host(const HostProbe& probe, const Limits& limits) {
  std::vector<CheckResult> out;
  for (const Check& check : kTable) {
    if (limits.is_off(check.id)) continue;
    Judged results = judge_one(check, probe, limits);
    MUSTER_CHECK(!results.empty(), "a judge has at least one result");
    std::int64_t duration_ms = 0;
    for (const std::string_view id : check.probes) {
      const ProbeAnswer* const answer = probe.find(id);
      if (answer != nullptr) duration_ms = std::max(duration_ms, answer->duration_ms);
    }
    for (CheckResult& result : results) {
      result.check = check.id;
      result.duration_ms = duration_ms;
      if (result.culprit.kind == CulpritKind::none) {
        result.culprit = {CulpritKind::host, probe.host};
      }
      out.push_back(std::move(result));
    }
  }
  return out;
}

}  // namespace muster::health
