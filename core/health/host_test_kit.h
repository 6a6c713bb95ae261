#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/health/probe.h"

// A host of eight GPUs and adapters on which every check passes, to be broken by rows of tests.

namespace muster::health {

inline ProbeAnswer& answer_in(HostProbe& host, std::string_view id) {
  const auto at = std::find_if(host.answers.begin(), host.answers.end(),
                               [id](const ProbeAnswer& answer) { return answer.id == id; });
  if (at != host.answers.end()) return *at;
  ProbeAnswer answer;
  answer.id = std::string(id);
  answer.end = ProbeEnd::done;
  answer.status = 0;
  host.answers.push_back(std::move(answer));
  return host.answers.back();
}

inline void says(HostProbe& host, std::string_view id, std::string output, int status = 0,
                 std::string complaint = "") {
  ProbeAnswer& answer = answer_in(host, id);
  answer.end = ProbeEnd::done;
  answer.status = status;
  answer.parts = {{"", std::move(output)}};
  answer.complaint = std::move(complaint);
}

inline void ends(HostProbe& host, std::string_view id, ProbeEnd end, std::string complaint = "") {
  ProbeAnswer& answer = answer_in(host, id);
  answer.end = end;
  answer.status = -1;
  answer.parts.clear();
  answer.complaint = std::move(complaint);
}

inline void has_file(HostProbe& host, std::string_view id, std::string name, std::string bytes) {
  ProbeAnswer& answer = answer_in(host, id);
  for (ProbePart& part : answer.parts) {
    if (part.name == name) {
      part.bytes = std::move(bytes);
      return;
    }
  }
  answer.parts.push_back({std::move(name), std::move(bytes)});
}

// A row of nvidia_smi_query; `change` replaces one cell, by its place.
inline std::string gpu_line(int gpu, int cell = -1, std::string_view value = "") {
  std::vector<std::string> cells = {std::to_string(gpu),
                                    fmt::format("00000000:{:02X}:00.0", 0x10 + gpu),
                                    fmt::format("GPU-0{}", gpu),
                                    fmt::format("16500{}", gpu),
                                    "NVIDIA H100 80GB HBM3",
                                    "81559",
                                    "4",
                                    "570.86.15",
                                    "96.00.99.00.01",
                                    "Enabled",
                                    "Enabled",
                                    "Enabled",
                                    "0",
                                    "1",
                                    "5",
                                    "16",
                                    "16",
                                    "34",
                                    "[N/A]",
                                    "71.20",
                                    "700.00",
                                    "0x0000000000000001",
                                    "0"};
  if (cell >= 0) cells[static_cast<std::size_t>(cell)] = std::string(value);
  std::string out;
  for (const std::string& text : cells) out += (out.empty() ? "" : ", ") + text;
  return out + "\n";
}

// All eight, one of them with a cell of its own.
inline std::string gpu_lines(int count = 8, int gpu = -1, int cell = -1,
                             std::string_view value = "") {
  std::string out;
  for (int i = 0; i < count; ++i) out += i == gpu ? gpu_line(i, cell, value) : gpu_line(i);
  return out;
}

inline void has_pci(HostProbe& host, const std::string& address, const std::string& kind,
                    const std::string& vendor, const std::string& width = "16",
                    const std::string& speed = "32.0 GT/s PCIe") {
  const std::string folder = "/sys/bus/pci/devices/" + address + "/";
  has_file(host, "pci_devices", folder + "class", kind + "\n");
  has_file(host, "pci_devices", folder + "vendor", vendor + "\n");
  has_file(host, "pci_devices", folder + "current_link_width", width + "\n");
  has_file(host, "pci_devices", folder + "max_link_width", "16\n");
  has_file(host, "pci_devices", folder + "current_link_speed", speed + "\n");
  has_file(host, "pci_devices", folder + "max_link_speed", "32.0 GT/s PCIe\n");
}

inline void has_port(HostProbe& host, const std::string& device, std::string_view file,
                     const std::string& bytes) {
  has_file(host, "ib_ports", fmt::format("/sys/class/infiniband/{}/ports/1/{}", device, file),
           bytes);
}

inline void add_gpus(HostProbe& host) {
  says(host, "nvidia_smi_query", gpu_lines());
  std::string remap, recovery, links, errors;
  for (int i = 0; i < 8; ++i) {
    remap += fmt::format("00000000:{:02X}:00.0, 0, 0, No, No\n", 0x10 + i);
    recovery += fmt::format("{}, None\n", i);
    links += fmt::format("GPU {}: NVIDIA H100 80GB HBM3 (UUID: GPU-0{})\n", i, i);
    errors += fmt::format("GPU {}: NVIDIA H100 80GB HBM3 (UUID: GPU-0{})\n", i, i);
    for (int link = 0; link < 18; ++link) {
      links += fmt::format("\t Link {}: 26.562 GB/s\n", link);
      errors +=
          fmt::format("\t Link {}: Replay Errors: 0\n\t Link {}: CRC Errors: 0\n", link, link);
    }
    has_file(host, "nvidia_gpus",
             fmt::format("/proc/driver/nvidia/gpus/0000:{:02x}:00.0/information", 0x10 + i),
             "Model: NVIDIA H100\n");
    has_pci(host, fmt::format("0000:{:02x}:00.0", 0x10 + i), "0x030200", "0x10de", "16",
            "2.5 GT/s PCIe");
  }
  has_pci(host, "0000:07:00.0", "0x068000", "0x10de");
  says(host, "nvidia_smi_remap", remap);
  says(host, "nvidia_smi_recovery", recovery);
  says(host, "nvlink_status", links);
  says(host, "nvlink_errors", errors);
  says(host, "gpu_holders", "unseen 0\n");
  says(host, "nvidia_version",
       "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n");
  says(host, "modules", "nvidia_peermem 16384 0 - Live 0x0\nnvidia 9000 1 - Live 0x0\n");
}

inline void add_adapters(HostProbe& host) {
  for (int i = 0; i < 8; ++i) {
    const std::string device = fmt::format("mlx5_{}", i);
    const std::string folder = "/sys/class/infiniband/" + device + "/";
    has_port(host, device, "state", "4: ACTIVE\n");
    has_port(host, device, "phys_state", "5: LinkUp\n");
    has_port(host, device, "rate", "400 Gb/sec (4X NDR)\n");
    has_port(host, device, "link_layer", "InfiniBand\n");
    has_port(host, device, "sm_lid", "0x1\n");
    has_file(host, "ib_devices", folder + "fw_ver", "28.39.1002\n");
    has_file(host, "ib_devices", folder + "board_id", "MT_0000000838\n");
    has_file(host, "ib_devices", folder + "hca_type", "MT4129\n");
    for (const char* probe : {"ib_counters", "ib_counters_later"}) {
      has_file(host, probe, folder + "ports/1/counters/symbol_error", "17\n");
      has_file(host, probe, folder + "ports/1/counters/link_downed", "2\n");
    }
    has_pci(host, fmt::format("0000:a{}:00.0", i), "0x020700", "0x15b3");
  }
  says(host, "pci_acs", "0000:00:01.0 0000\n");
}

inline HostProbe fit_host(std::string name = "n1") {
  HostProbe host;
  host.host = std::move(name);
  host.reach = Reach::reached;
  host.sent_at = wall_from_ns(1'000'000'000'000'000'000);
  host.host_clock = wall_from_ns(1'000'000'000'200'000'000);
  host.received_at = wall_from_ns(1'000'000'000'400'000'000);
  add_gpus(host);
  add_adapters(host);
  says(host, "df",
       "Filesystem Type 1B-blocks Used Avail Use% Inodes IUsed IFree IUse% Mounted on\n"
       "/dev/nvme0n1p2 ext4 1000000 400000 600000 40% 1000 100 900 10% /\n"
       "tmpfs tmpfs 68719476736 0 68719476736 0% 100000 1 99999 1% /dev/shm\n");
  says(host, "network_mounts", "ok nfs4 /home\n");
  says(host, "zpool_status",
       "  pool: zpool\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n"
       "\tzpool       ONLINE       0     0     0\n\t  nvme-eui.1  ONLINE       0     0     0\n\n"
       "errors: No known data errors\n");
  has_file(host, "nvme", "/sys/class/nvme/nvme0/state", "live\n");
  says(host, "mdstat",
       "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n"
       "      104320 blocks [2/2] [UU]\n");
  says(host, "swaps", "Filename Type Size Used Priority\n");
  says(host, "limits",
       "Limit                     Soft Limit           Hard Limit           Units\n"
       "Max open files            1048576              1048576              files\n"
       "Max locked memory         unlimited            unlimited            bytes\n");
  has_file(host, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq",
           "3800000\n");
  has_file(host, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
           "3600000\n");
  has_file(host, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq",
           "3800000\n");
  says(host, "loadavg", "0.80 0.5 0.4 1/300 4242\n");
  has_file(host, "edac", "/sys/devices/system/edac/mc/mc0/ue_count", "0\n");
  says(host, "services",
       "Id=nvidia-fabricmanager.service\nLoadState=loaded\nActiveState=active\nSubState=running\n\n"
       "Id=docker.service\nLoadState=loaded\nActiveState=active\nSubState=running\n");
  says(host, "stuck_processes", "");
  says(host, "time_sync", "synchronised yes\n");
  says(host, "docker_info", R"({"ServerVersion":"25.0.3","Runtimes":{"nvidia":{},"runc":{}}})");
  says(host, "kernel_release", "6.5.0-1007-nvidia\n");
  return host;
}

}  // namespace muster::health
