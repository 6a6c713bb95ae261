#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

// What one line of a kernel log (or a few that belong together) says happened on one host.
// core/kernel/ makes these values; who is to blame is decided over all of them, later.

namespace muster {

enum class KernelEventKind : std::uint8_t {
  // GPU and NVSwitch
  xid,              // `code`; 79 (off the bus) too, where the driver gave the number
  sxid,             // `code`, `grade`, `link`; `device` "nvswitch3"
  gpu_lost,         // "fallen off the bus" in words only; `code` is 79
  gpu_init_failed,  // the driver could not start the GPU
  driver_mismatch,  // user-space driver and kernel module of different versions
  driver_noise,     // lines of a driver known to mean nothing
  // PCIe
  pcie_error,    // Advanced Error Reporting or downstream port containment; `grade`
  pcie_limited,  // the link runs with fewer lanes or slower than the device can
  device_lost,   // a device that vanished or cannot be woken; `device` is its driver
  // Network
  link_down,  // of an adapter; `device` where the line names it
  link_up,
  cable_fault,  // cable unplugged, or an error of cable or module
  nic_fault,    // firmware or health of the adapter, power of its slot, a stuck queue
  // Processes and memory
  oom_kill,   // `pid`, `process`; `device` is the limited group of processes, empty: whole host
  hung_task,  // blocked for minutes, mostly in storage or a driver
  lockup,     // a processor core that does not get on
  segfault,
  // Host hardware
  machine_check,  // processor; `grade`
  memory_error,   // EDAC: host memory; `grade`
  cpu_throttled,  // a core above its temperature limit
  // Storage
  disk_error,   // `device` "nvme0"
  fs_error,     // `device` "nvme0n1p1"
  server_lost,  // file server does not answer; `device` is the server
  server_back,
};

constexpr std::string_view kernel_event_kind_name(KernelEventKind kind) {
  constexpr std::array<std::string_view, 24> kNames = {
      "xid",          "sxid",        "gpu_lost",      "gpu_init_failed", "driver_mismatch",
      "driver_noise", "pcie_error",  "pcie_limited",  "device_lost",     "link_down",
      "link_up",      "cable_fault", "nic_fault",     "oom_kill",        "hung_task",
      "lockup",       "segfault",    "machine_check", "memory_error",    "cpu_throttled",
      "disk_error",   "fs_error",    "server_lost",   "server_back"};
  return kNames[static_cast<std::size_t>(kind)];
}

// How the line itself grades the fault; what it does not grade has none.
enum class KernelGrade : std::uint8_t { corrected, nonfatal, fatal };

// What the driver wants done to a GPU after Xid 154 (the number in the line).
enum class GpuRecovery : std::uint8_t {
  none = 0,
  reset_gpu = 1,
  reboot_node = 2,
  drain_p2p = 3,
  drain_and_reset = 4,
  recover_imex_domain = 5,
};

// The words of a fifth-generation NVLink event (Xid 144-150), as they stand in the line.
struct NvlinkWords {
  std::string unit;  // "NETIR_LINK_EVT", "TLW_RX/TLW_RX_PIPE0"
  std::uint32_t interrupt_info = 0;
  std::uint32_t error_status = 0;
};

// When, in whatever clocks the line has. A log of a container or a cut line may have none.
struct KernelTime {
  std::optional<WallTime> at;
  bool has_zone = false;               // false: local time of the host, read as if it were UTC
  std::optional<Duration> since_boot;  // "[12345.678]" and /dev/kmsg
};

struct KernelEvent {
  KernelEventKind kind = KernelEventKind::xid;
  KernelTime time;
  std::string host;      // empty: the input does not name it
  std::string pci;       // "0000:3b:00.0" in lower case with its function; empty: none in the line
  std::string gpu_uuid;  // "GPU-...", if an earlier line of the log told
  std::optional<std::int32_t> gpu_instance;      // MIG
  std::optional<std::int32_t> compute_instance;  // MIG
  std::optional<std::int32_t> code;              // of Xid and SXid
  std::optional<KernelGrade> grade;
  std::optional<std::int64_t> pid;
  std::string process;                    // name
  std::string device;                     // see the kinds
  std::optional<std::int32_t> link;       // NVLink number
  std::optional<std::int32_t> caused_by;  // Xid 45: the Xid that the driver names as its reason
  std::optional<GpuRecovery> recovery;    // Xid 154
  std::optional<NvlinkWords> nvlink;      // Xid 144-150
  std::string text;  // the message without its transport; at most limits::kEvidenceChars bytes
  std::uint64_t line = 0;  // in its file, from 1
  // Further lines that say the same of the same part, told apart from this one by their time alone.
  std::uint64_t repeats = 0;
  KernelTime last;  // of the last repeat; that of the event where there is none
};

}  // namespace muster
