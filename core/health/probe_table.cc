#include "core/health/probe.h"

// Deadlines: nvidia-smi without persistence mode needs 1.5 s for one GPU and more for eight; near a
// GPU that is gone it takes minutes, and then the time-out is the answer. Files of /proc and /sys
// need milliseconds unless a driver hangs. Bounds: eight times what a host with 16 GPUs, 400 PCI
// devices or 384 cores prints.

namespace muster::health {
namespace {

using std::chrono::seconds;

constexpr std::size_t kKiB = 1024;

constexpr Probe kTable[] = {
    // GPUs. Fields that drivers of before 2022 lack stand in queries of their own: an unknown field
    // makes nvidia-smi answer nothing at all.
    {"nvidia_smi_query", ProbeKind::command,
     "nvidia-smi --query-gpu=index,pci.bus_id,uuid,serial,name,memory.total,memory.used,"
     "driver_version,vbios_version,persistence_mode,ecc.mode.current,ecc.mode.pending,"
     "ecc.errors.uncorrected.volatile.total,pcie.link.gen.current,pcie.link.gen.max,"
     "pcie.link.width.current,pcie.link.width.max,temperature.gpu,fan.speed,power.draw,power.limit,"
     "clocks_throttle_reasons.active,utilization.gpu --format=csv,noheader,nounits",
     seconds(10), 64 * kKiB},
    {"nvidia_smi_remap", ProbeKind::command,
     "nvidia-smi --query-remapped-rows=gpu_bus_id,remapped_rows.correctable,"
     "remapped_rows.uncorrectable,remapped_rows.pending,remapped_rows.failure "
     "--format=csv,noheader,nounits",
     seconds(10), 16 * kKiB},
    {"nvidia_smi_recovery", ProbeKind::command,
     "nvidia-smi --query-gpu=index,gpu_recovery_action --format=csv,noheader", seconds(10),
     16 * kKiB},
    {"nvlink_status", ProbeKind::command, "nvidia-smi nvlink -s", seconds(10), 128 * kKiB},
    {"nvlink_errors", ProbeKind::command, "nvidia-smi nvlink -e", seconds(10), 256 * kKiB},
    {"nvidia_gpus", ProbeKind::file, "/proc/driver/nvidia/gpus/*/information", seconds(2),
     64 * kKiB},
    {"nvidia_version", ProbeKind::file, "/proc/driver/nvidia/version", seconds(2), 4 * kKiB},
    // A line for each process that holds /dev/nvidia0 and on: PID UID COMMAND GPU,GPU... and, where
    // processes of others could not be looked into, a last line "unseen N".
    {"gpu_holders", ProbeKind::native, "gpu_holders", seconds(3), 256 * kKiB},
    // PCI: class, ids and both links of each device.
    {"pci_devices", ProbeKind::file,
     "/sys/bus/pci/devices/*/class /sys/bus/pci/devices/*/vendor "
     "/sys/bus/pci/devices/*/current_link_width /sys/bus/pci/devices/*/max_link_width "
     "/sys/bus/pci/devices/*/current_link_speed /sys/bus/pci/devices/*/max_link_speed",
     seconds(3), 512 * kKiB},
    // A line for each bridge with Access Control Services: ADDRESS HEX of its control register.
    // Only root may read it.
    {"pci_acs", ProbeKind::native, "pci_acs", seconds(3), 64 * kKiB},
    // InfiniBand and RoCE.
    {"ib_ports", ProbeKind::file,
     "/sys/class/infiniband/*/ports/*/state /sys/class/infiniband/*/ports/*/phys_state "
     "/sys/class/infiniband/*/ports/*/rate /sys/class/infiniband/*/ports/*/link_layer "
     "/sys/class/infiniband/*/ports/*/lid /sys/class/infiniband/*/ports/*/sm_lid",
     seconds(3), 128 * kKiB},
    {"ib_devices", ProbeKind::file,
     "/sys/class/infiniband/*/fw_ver /sys/class/infiniband/*/board_id "
     "/sys/class/infiniband/*/hca_type /sys/class/infiniband/*/node_guid",
     seconds(3), 64 * kKiB},
    {"ib_counters", ProbeKind::file,
     "/sys/class/infiniband/*/ports/*/counters/symbol_error "
     "/sys/class/infiniband/*/ports/*/counters/link_error_recovery "
     "/sys/class/infiniband/*/ports/*/counters/link_downed "
     "/sys/class/infiniband/*/ports/*/counters/port_rcv_errors "
     "/sys/class/infiniband/*/ports/*/counters/local_link_integrity_errors",
     seconds(3), 256 * kKiB},
    // The files of ib_counters once more, 300 ms after it: the parts have the same names.
    {"ib_counters_later", ProbeKind::native, "ib_counters_later", seconds(4), 256 * kKiB},
    {"modules", ProbeKind::file, "/proc/modules", seconds(2), 256 * kKiB},
    // The kernel's log with levels (`<4>[ 12.5] text`); where dmesg_restrict is set, only root.
    {"kernel_log", ProbeKind::command, "dmesg -r", seconds(5), 4096 * kKiB},
    // Space and inodes of local file systems; `-` where a file system has none.
    {"df", ProbeKind::command,
     "df -l -B1 --output=source,fstype,size,used,avail,pcent,itotal,iused,iavail,ipcent,target",
     seconds(5), 256 * kKiB},
    // A line for each mount of a network file system, looked at by a child that may be left
    // hanging:
    // STATE TYPE MOUNT, STATE one of ok, hung, stale, denied, failed.
    {"network_mounts", ProbeKind::native, "network_mounts", seconds(4), 64 * kKiB},
    {"mounts", ProbeKind::file, "/proc/self/mounts", seconds(2), 512 * kKiB},
    {"zpool_status", ProbeKind::command, "zpool status", seconds(8), 256 * kKiB},
    {"mdstat", ProbeKind::file, "/proc/mdstat", seconds(2), 64 * kKiB},
    {"nvme", ProbeKind::file,
     "/sys/class/nvme/nvme*/state /sys/class/nvme/nvme*/model /sys/class/nvme/nvme*/serial "
     "/sys/class/nvme/nvme*/firmware_rev",
     seconds(3), 128 * kKiB},
    {"edac", ProbeKind::file,
     "/sys/devices/system/edac/mc/mc*/ue_count /sys/devices/system/edac/mc/mc*/ce_count",
     seconds(2), 32 * kKiB},
    // Operating system.
    {"os_release", ProbeKind::file, "/etc/os-release", seconds(2), 16 * kKiB},
    {"kernel_release", ProbeKind::file, "/proc/sys/kernel/osrelease", seconds(2), 4 * kKiB},
    {"meminfo", ProbeKind::file, "/proc/meminfo", seconds(2), 32 * kKiB},
    {"swaps", ProbeKind::file, "/proc/swaps", seconds(2), 32 * kKiB},
    {"limits", ProbeKind::file, "/proc/self/limits", seconds(2), 16 * kKiB},
    {"loadavg", ProbeKind::file, "/proc/loadavg", seconds(2), 4 * kKiB},
    {"cpufreq", ProbeKind::file,
     "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor "
     "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq "
     "/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq "
     "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq",
     seconds(4), 512 * kKiB},
    {"huge_pages", ProbeKind::file, "/sys/kernel/mm/transparent_hugepage/enabled", seconds(2),
     4 * kKiB},
    {"dmi", ProbeKind::file,
     "/sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name /sys/class/dmi/id/bios_version",
     seconds(2), 16 * kKiB},
    // Only root may read these; a ticket for the vendor has them where it could.
    {"dmi_serials", ProbeKind::file,
     "/sys/class/dmi/id/product_serial /sys/class/dmi/id/chassis_serial", seconds(2), 16 * kKiB},
    {"net_links", ProbeKind::file,
     "/sys/class/net/*/mtu /sys/class/net/*/operstate /sys/class/net/*/address", seconds(3),
     128 * kKiB},
    // One line: `synchronised yes|no`, from adjtimex(2) or timedatectl.
    {"time_sync", ProbeKind::native, "time_sync", seconds(3), 4 * kKiB},
    // Services; one that is not installed has LoadState=not-found.
    {"services", ProbeKind::command,
     "systemctl show --property=Id,LoadState,ActiveState,SubState nvidia-fabricmanager "
     "nvidia-persistenced docker containerd slurmd ssh",
     seconds(5), 32 * kKiB},
    {"docker_info", ProbeKind::command, "docker info --format json", seconds(5), 256 * kKiB},
    // A line for each process in uninterruptible sleep: PID SECONDS-SINCE-ITS-START COMMAND WCHAN.
    {"stuck_processes", ProbeKind::native, "stuck_processes", seconds(3), 64 * kKiB},
};

}  // namespace

std::span<const Probe> probe_table() {
  return kTable;
}

}  // namespace muster::health
