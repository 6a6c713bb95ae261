#include "core/health/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/check.h"
#include "core/health/host_test_kit.h"
#include "core/health/limits.h"

namespace muster::health {
namespace {

using Outcome = CheckOutcome;

std::string outcome_text(const std::vector<CheckResult>& results, std::string_view check) {
  std::string out;
  for (const CheckResult& result : results) {
    if (result.check != check) continue;
    out += (out.empty() ? "" : "; ") + std::string(check_outcome_name(result.outcome));
    if (!result.text.empty()) out += ": " + result.text;
    if (result.culprit.kind == CulpritKind::gpu || result.culprit.kind == CulpritKind::port) {
      out += " @" + result.culprit.id;
    }
    if (result.cause) out += " !" + std::string(cause_name(*result.cause));
  }
  return out;
}

struct Row {
  const char* name;
  const char* check;
  const char* expected;  // the beginning of outcome_text()
  std::function<void(HostProbe&)> change;
  const char* limit = "";  // "gpu_count=8"
};

void run(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    HostProbe host = fit_host();
    row.change(host);
    Limits limits;
    if (*row.limit != '\0') {
      ASSERT_TRUE(limits.set_text(row.limit)) << row.name;
    }
    ASSERT_NE(find_check(row.check), nullptr) << row.check;
    const std::string text = outcome_text(check_host(host, limits), row.check);
    EXPECT_TRUE(text.starts_with(row.expected)) << row.name << ": " << text;
  }
}

TEST(CheckHost, PassesAFitHost) {
  const HostProbe host = fit_host();
  const auto results = check_host(host, Limits());
  for (const CheckResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::pass) << result.check << ": " << result.text;
    EXPECT_EQ(result.culprit, (Culprit{CulpritKind::host, "n1"}));
  }
  EXPECT_EQ(results.size(), check_table().size());
}

// What another tool got wrong: it took these for OK, or hung, or blamed the wrong check.
TEST(CheckHost, JudgesWhatIsEasilyTakenWrong) {
  run({
      {"disk FAULTED with words behind the counts", "zpool",
       "fail: ZFS device nvme-eui.1 is FAULTED",
       [](HostProbe& h) {
         says(h, "zpool_status",
              "  pool: zpool\n state: DEGRADED\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n"
              "\t  nvme-eui.1  FAULTED  3  0  1  too many errors\n\nerrors: none\n");
       }},
      {"a disk that resilvers is online", "zpool", "pass",
       [](HostProbe& h) {
         says(h, "zpool_status",
              "config:\n\n\tNAME STATE READ WRITE CKSUM\n\tz ONLINE 0 0 0\n"
              "\t  nvme-eui.1  ONLINE  0  0  0  (resilvering)\nerrors: none\n");
       }},
      {"an odd line of zpool", "zpool", "unknown: a line of zpool",
       [](HostProbe& h) { says(h, "zpool_status", "config:\n\n\tsomething odd here\n"); }},
      {"df with a dash", "disk_space", "pass",
       [](HostProbe& h) {
         says(h, "df", "overlay overlay - - - - - - - - /odd\n/dev/a ext4 9 1 8 12% 9 1 8 12% /\n");
       }},
      {"df with % in a mount", "disk_space", "pass",
       [](HostProbe& h) { says(h, "df", "/dev/a ext4 9 1 8 12% 9 1 8 12% /a 50% b\n"); }},
      {"df without a row", "disk_space", "unknown: df: no row",
       [](HostProbe& h) { says(h, "df", "nothing here\n"); }},
      {"noise on standard error", "stuck_processes", "pass",
       [](HostProbe& h) { says(h, "stuck_processes", "", 0, "ps: warning: odd kernel"); }},
      {"one more line of a newer nvidia-smi", "gpu_versions", "pass",
       [](HostProbe& h) {
         says(h, "nvidia_smi_query", gpu_lines() + "GSP Version: 570, new field\n");
       }},
      {"nvlink -e: a line without a colon", "nvlink_errors", "unknown: a line of nvidia-smi",
       [](HostProbe& h) { says(h, "nvlink_errors", "GPU 0: H100 (UUID: x)\n\t Link 0 is odd\n"); }},
      {"nvlink -e: such a line does not hide errors", "nvlink_errors",
       "warn: GPU 0, NVLink 1: 9 errors @n1/0",
       [](HostProbe& h) {
         says(h, "nvlink_errors", "GPU 0: H100 (UUID: x)\nodd\n\t Link 1: CRC Errors: 9\n");
       }},
      {"96 % full, without a final newline", "disk_space", "fail: /: 96 % are in use",
       [](HostProbe& h) { says(h, "df", "/dev/a ext4 100 96 4 96% 9 1 8 12% /"); }},
      {"7 of 8 GPUs are listed", "gpu_count", "fail: 7 of 8 GPUs answer",
       [](HostProbe& h) { says(h, "nvidia_smi_query", gpu_lines(7)); }},
      {"7 are listed, and 8 were told", "gpu_count", "fail: 7 of 8 GPUs answer (8 told)",
       [](HostProbe& h) {
         says(h, "nvidia_smi_query", gpu_lines(7));
         ends(h, "pci_devices", ProbeEnd::failed);
         ends(h, "nvidia_gpus", ProbeEnd::missing);
       },
       "gpu_count=8"},
      {"no GPU is listed", "gpu_count", "fail: 0 of 8 GPUs answer",
       [](HostProbe& h) { says(h, "nvidia_smi_query", "No devices were found\n", 6); }},
      {"no GPU is listed, no other witness", "gpu_count", "fail: 0 of 1 GPUs",
       [](HostProbe& h) {
         says(h, "nvidia_smi_query", "");
         ends(h, "pci_devices", ProbeEnd::failed);
         ends(h, "nvidia_gpus", ProbeEnd::missing);
       }},
  });
}

TEST(CheckHost, JudgesLinksAndServicesThatAreEasilyTakenWrong) {
  run({
      {"nvlink -s lists no links", "nvlink_links", "fail: nvidia-smi lists no NVLink",
       [](HostProbe& h) { says(h, "nvlink_status", ""); }},
      {"nvlink -s lists none of one GPU", "nvlink_links", "fail: GPU 1: 0 of 1 NVLinks",
       [](HostProbe& h) {
         says(h, "nvlink_status", "GPU 0: a\n\t Link 0: 26.5 GB/s\nGPU 1: b\n");
       }},
      {"GPU 9 is lost on nvlink -e", "nvlink_errors",
       "fail: nvidia-smi says that a GPU is lost !gpu_fell_off_bus",
       [](HostProbe& h) { says(h, "nvlink_errors", "GPU 9 is lost\n", 15); }},
      {"nvidia-smi is not there", "gpu_driver", "unknown: nvidia_smi_query: not there",
       [](HostProbe& h) { ends(h, "nvidia_smi_query", ProbeEnd::missing); }},
      {"nvidia-smi is not there: no NVLink is judged", "nvlink_links", "unknown: nvlink_status",
       [](HostProbe& h) { ends(h, "nvlink_status", ProbeEnd::missing); }},
      {"swap is on", "swap", "warn: swap is on, 3 MiB",
       [](HostProbe& h) {
         says(h, "swaps",
              "Filename Type Size Used Priority\n/dev/sda2 partition 9999999 3072 -2\n");
       }},
      {"a counter of InfiniBand grows", "ib_counters",
       "warn: mlx5_3:1: link_downed grew by 1 within 0.3 s @n1/mlx5_3:1",
       [](HostProbe& h) {
         has_file(h, "ib_counters_later",
                  "/sys/class/infiniband/mlx5_3/ports/1/counters/link_downed", "3\n");
       }},
      {"9,000 CRC errors", "nvlink_errors", "warn: GPU 2, NVLink 5: 9000 errors @n1/2",
       [](HostProbe& h) {
         says(h, "nvlink_errors", "GPU 2: H100 (UUID: x)\n\t Link 5: CRC Errors: 9000\n");
       }},
      {"Docker does not answer", "docker", "fail: the Docker service does not answer",
       [](HostProbe& h) {
         says(h, "docker_info", R"({"ServerErrors":["Cannot connect to the Docker daemon"]})", 1);
       }},
      {"Docker does not answer, without JSON", "docker", "fail: the Docker service does not answer",
       [](HostProbe& h) { says(h, "docker_info", "", 1, "Cannot connect to the Docker daemon"); }},
      {"Docker fails for a reason of its own", "docker", "unknown: docker_info: odd words",
       [](HostProbe& h) { says(h, "docker_info", "", 1, "odd words"); }},
      {"a warning beside the JSON of Docker", "docker", "pass",
       [](HostProbe& h) {
         says(h, "docker_info", R"({"Runtimes":{"nvidia":{}}})", 0, "WARNING: no swap limit");
       }},
      {"a snap is always full", "disk_space", "pass",
       [](HostProbe& h) {
         says(h, "df",
              "/dev/loop1 squashfs 9 9 0 100% 9 9 0 100% /snap/core/1\n"
              "/dev/a ext4 9 1 8 12% 9 1 8 12% /\n");
       }},
      {"one probe hangs: its check alone", "docker", "unknown: docker_info: no end in time",
       [](HostProbe& h) { ends(h, "docker_info", ProbeEnd::timeout); }},
  });
}

TEST(CheckHost, OneHungProbeLeavesTheOthersAlone) {
  HostProbe host = fit_host();
  ends(host, "docker_info", ProbeEnd::timeout);
  for (const CheckResult& result : check_host(host, Limits())) {
    EXPECT_EQ(result.outcome, result.check == "docker" ? Outcome::unknown : Outcome::pass)
        << result.check << ": " << result.text;
  }
}

TEST(CheckHost, AHostThatWasNotReachedIsUnknownInEverything) {
  for (const Reach reach :
       {Reach::unresolved, Reach::refused, Reach::unreachable, Reach::login_refused,
        Reach::host_key, Reach::no_allocation, Reach::no_probe}) {
    // Even if answers of somebody came with it.
    HostProbe host = fit_host();
    host.reach = reach;
    host.complaint = "ssh: words";
    const auto results = check_host(host, Limits());
    ASSERT_EQ(results.size(), check_table().size());
    for (const CheckResult& result : results) {
      EXPECT_EQ(result.outcome, Outcome::unknown) << reach_name(reach) << " " << result.check;
      EXPECT_NE(result.text.find("ssh: words"), std::string::npos) << result.text;
    }
  }
}

TEST(CheckHost, WhatCameWholeFromABrokenConnectionStands) {
  HostProbe host = fit_host();
  host.reach = Reach::broken;
  says(host, "nvidia_smi_query", gpu_lines(7));
  std::erase_if(host.answers, [](const ProbeAnswer& answer) { return answer.id == "df"; });
  const auto results = check_host(host, Limits());
  EXPECT_TRUE(outcome_text(results, "gpu_count").starts_with("fail"));
  EXPECT_EQ(outcome_text(results, "disk_space"), "unknown: df: no answer came");
}

TEST(CheckHost, JudgesGpus) {
  const auto smi = [](std::string lines, int status = 0) {
    return [lines = std::move(lines), status](HostProbe& h) {
      says(h, "nvidia_smi_query", lines, status);
    };
  };
  run({
      {"a lost GPU has a row", "gpu_driver",
       "fail: GPU 3 (00000000:13:00.0) cannot be read: [GPU is lost] @n1/3",
       smi(gpu_lines(8, 3, 19, "[GPU is lost]"))},
      {"its row is no GPU", "gpu_count", "fail: 7 of 8 GPUs answer",
       smi(gpu_lines(8, 3, 19, "[GPU is lost]"))},
      {"driver and library", "gpu_driver",
       "fail: library and kernel module of the GPU driver differ in version "
       "!driver_library_mismatch",
       smi("Failed to initialize NVML: Driver/library version mismatch\n", 18)},
      {"unknown complaint", "gpu_driver", "unknown: nvidia_smi_query: odd words",
       smi("odd words\n", 9)},
      {"uncorrectable", "gpu_ecc_errors", "fail: GPU 5: 2 uncorrectable",
       smi(gpu_lines(8, 5, 12, "2"))},
      {"a GPU without ECC", "gpu_ecc_errors", "pass", smi(gpu_lines(8, 5, 12, "[N/A]"))},
      {"ECC off", "gpu_ecc_mode", "warn: GPU 0: ECC is Enabled and will be Disabled",
       smi(gpu_lines(8, 0, 11, "Disabled"))},
      {"remap failed", "gpu_row_remap",
       "fail: GPU 00000000:10:00.0: a row of its memory could not be remapped @n1/00000000:10:00.0 "
       "!gpu_memory_worn_out",
       [](HostProbe& h) { says(h, "nvidia_smi_remap", "00000000:10:00.0, 0, 9, No, Yes\n"); }},
      {"recovery", "gpu_recovery", "fail: GPU 4: its driver asks for recovery: Reboot @n1/4",
       [](HostProbe& h) { says(h, "nvidia_smi_recovery", "4, Reboot\n"); }},
      {"a driver without that field", "gpu_recovery", "skipped",
       [](HostProbe& h) { says(h, "nvidia_smi_recovery", "Field is not a valid field\n", 2); }},
      {"memory of nobody", "gpu_memory_leak", "warn: GPU 2: 40000 MiB",
       smi(gpu_lines(8, 2, 6, "40000"))},
      {"memory of somebody", "gpu_memory_leak", "pass",
       [](HostProbe& h) {
         says(h, "nvidia_smi_query", gpu_lines(8, 2, 6, "40000"));
         says(h, "gpu_holders", "4242 1000 python 2\n");
       }},
      {"memory of whom, we may not see", "gpu_memory_leak", "unknown",
       [](HostProbe& h) { says(h, "gpu_holders", "unseen 12\n"); }},
      {"hot", "gpu_temperature", "warn: GPU 7 is at 88 C", smi(gpu_lines(8, 7, 17, "88"))},
      {"a sensor that lies", "gpu_temperature", "warn: GPU 7 shows 511 C, which cannot be",
       smi(gpu_lines(8, 7, 17, "511"))},
      {"power brake", "gpu_clocks", "warn: GPU 1: the hardware holds its clock down, its power",
       smi(gpu_lines(8, 1, 21, "0x0000000000000088"))},
      {"software power cap is no fault", "gpu_clocks", "pass",
       smi(gpu_lines(8, 1, 21, "0x0000000000000004"))},
      {"one power limit is lower", "gpu_power_limit", "warn: GPU 6 is limited to 500 W",
       smi(gpu_lines(8, 6, 20, "500.00"))},
      {"VBIOS", "gpu_versions", "warn: VBIOS of NVIDIA H100 80GB HBM3 differs",
       smi(gpu_lines(8, 6, 8, "97.00"))},
      {"links inactive", "nvlink_links", "fail: GPU 0: 1 of 2 NVLinks are active, not 1 @n1/0",
       [](HostProbe& h) {
         says(h, "nvlink_status", "GPU 0: a\n\t Link 0: 26.5 GB/s\n\t Link 1: <inactive>\n");
       }},
      {"Fabric Manager", "fabric_manager", "fail: Fabric Manager is failed",
       [](HostProbe& h) {
         says(h, "services",
              "Id=nvidia-fabricmanager.service\nLoadState=loaded\nActiveState=failed\n");
       }},
      {"no NVSwitch", "fabric_manager", "skipped",
       [](HostProbe& h) { has_pci(h, "0000:07:00.0", "0x060400", "0x1000"); }},
      {"no GPU at all", "gpu_count", "skipped",
       [](HostProbe& h) {
         ends(h, "nvidia_smi_query", ProbeEnd::missing);
         ends(h, "nvidia_gpus", ProbeEnd::missing);
         answer_in(h, "pci_devices").parts.clear();
       }},
  });
}

TEST(CheckHost, JudgesLinks) {
  run({
      {"polling, nobody says it should be up", "ib_ports",
       "warn: mlx5_2:1: DOWN, Polling @n1/mlx5_2:1",
       [](HostProbe& h) {
         has_port(h, "mlx5_2", "state", "1: DOWN\n");
         has_port(h, "mlx5_2", "phys_state", "2: Polling\n");
       }},
      {"polling, and all eight should be up", "ib_ports", "fail: mlx5_2:1: DOWN, Polling",
       [](HostProbe& h) {
         has_port(h, "mlx5_2", "state", "1: DOWN\n");
         has_port(h, "mlx5_2", "phys_state", "2: Polling\n");
       },
       "ib_ports=8"},
      {"a spare port is none of our business", "ib_ports", "pass",
       [](HostProbe& h) { has_port(h, "mlx5_2", "state", "1: DOWN\n"); }, "ib_ports=7"},
      {"too few adapters", "ib_ports", "fail: 8 of 9 InfiniBand ports are there", [](HostProbe&) {},
       "ib_ports=9"},
      {"no subnet manager", "ib_ports", "fail: mlx5_0:1: link up, state INIT: no subnet manager",
       [](HostProbe& h) { has_port(h, "mlx5_0", "state", "2: INIT\n"); }},
      {"a port of Ethernet is not counted", "ib_ports", "pass",
       [](HostProbe& h) {
         has_port(h, "mlx5_0", "state", "1: DOWN\n");
         has_port(h, "mlx5_0", "link_layer", "Ethernet\n");
       }},
      {"slower than its siblings", "ib_port_rate", "warn: mlx5_7:1 runs at 200 Gb/s",
       [](HostProbe& h) { has_port(h, "mlx5_7", "rate", "200 Gb/sec (4X HDR)\n"); }},
      {"slower than told", "ib_port_rate", "fail: mlx5_0:1 runs at 400", [](HostProbe&) {},
       "ib_rate_gbps=800"},
      {"a saturated counter tells nothing", "ib_counters", "pass",
       [](HostProbe& h) {
         const char* const name = "/sys/class/infiniband/mlx5_3/ports/1/counters/link_downed";
         has_file(h, "ib_counters", name, "4294967295\n");
         has_file(h, "ib_counters_later", name, "4294967299\n");
       }},
      {"N/A in place of a counter", "ib_counters", "pass",
       [](HostProbe& h) {
         has_file(h, "ib_counters", "/sys/class/infiniband/mlx5_3/ports/1/counters/link_downed",
                  "N/A (no PMA)\n");
       }},
      {"half an upgrade", "ib_firmware", "warn: firmware of adapters MT_0000000838 differs",
       [](HostProbe& h) {
         has_file(h, "ib_devices", "/sys/class/infiniband/mlx5_3/fw_ver", "28.40.1000\n");
       }},
      {"narrow GPU", "pcie_links", "warn: GPU 0000:13:00.0 has 8 of 16 PCIe lanes @n1/0000:13",
       [](HostProbe& h) { has_pci(h, "0000:13:00.0", "0x030200", "0x10de", "8"); }},
      {"slow adapter", "pcie_links", "warn: adapter 0000:a1:00.0 runs at 16 of 32 GT/s",
       [](HostProbe& h) {
         has_pci(h, "0000:a1:00.0", "0x020700", "0x15b3", "16", "16.0 GT/s PCIe");
       }},
      {"a slow link of an idle GPU is normal", "pcie_links", "pass", [](HostProbe&) {}},
      {"a slow link of a busy GPU is not", "pcie_links", "warn: GPU 2 works and its PCIe link",
       [](HostProbe& h) { says(h, "nvidia_smi_query", gpu_lines(8, 2, 22, "97")); }},
      {"a virtual machine has no lanes", "pcie_links", "pass",
       [](HostProbe& h) { has_pci(h, "0000:13:00.0", "0x030200", "0x10de", "0", "Unknown"); }},
      {"ACS", "pcie_acs", "warn: ACS is on in 1 PCIe bridges",
       [](HostProbe& h) { says(h, "pci_acs", "0000:00:01.0 001d\n0000:00:02.0 0000\n"); }},
      {"ACS needs root", "pcie_acs", "unknown: pci_acs: no permission",
       [](HostProbe& h) { ends(h, "pci_acs", ProbeEnd::denied); }},
      {"no peermem, closed driver", "gdr_peermem", "warn: GPUDirect RDMA",
       [](HostProbe& h) {
         says(h, "modules", "nvidia 1 1\n");
         says(h, "nvidia_version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550\n");
       }},
      {"no peermem, open driver and new kernel", "gdr_peermem", "pass",
       [](HostProbe& h) { says(h, "modules", "nvidia 1 1\n"); }},
  });
}

TEST(CheckHost, JudgesTheRest) {
  run({
      {"inodes", "disk_space", "fail: /: 100 % of the inodes are in use !inodes_exhausted",
       [](HostProbe& h) { says(h, "df", "/dev/a ext4 100 6 94 6% 900 900 0 100% /\n"); }},
      {"nearly full", "disk_space", "warn: /: 92 %",
       [](HostProbe& h) { says(h, "df", "/dev/a ext4 100 92 8 92% 9 1 8 12% /\n"); }},
      {"limit of the user's", "disk_space", "warn: /: 96 %",
       [](HostProbe& h) { says(h, "df", "/dev/a ext4 100 96 4 96% 9 1 8 12% /\n"); },
       "disk_used_percent=97"},
      {"64 MiB of a container", "shm_size", "warn: /dev/shm has 64 MiB",
       [](HostProbe& h) { says(h, "df", "shm tmpfs 67108864 0 67108864 0% 9 1 8 1% /dev/shm\n"); }},
      {"a dead drive", "nvme_state", "fail: drive nvme1 is dead",
       [](HostProbe& h) { has_file(h, "nvme", "/sys/class/nvme/nvme1/state", "dead\n"); }},
      {"an array without a drive", "md_arrays", "warn: array md0 lacks a drive: [U_]",
       [](HostProbe& h) {
         says(h, "mdstat", "md0 : active raid1 sda1[0]\n 9 blocks [2/1] [U_]\n");
       }},
      {"a mount that hangs", "network_mounts", "fail: /data set (nfs4) does not answer",
       [](HostProbe& h) { says(h, "network_mounts", "hung nfs4 /data set\nok nfs4 /home\n"); }},
      {"limits", "process_limits",
       "warn: a login here may open 1024 files; warn: a login here may lock",
       [](HostProbe& h) {
         says(h, "limits",
              "Max open files 1024 4096 files\nMax locked memory 8388608 8388608 bytes\n");
       }},
      {"capped clock", "cpu_clock", "warn: 1 of 1 cores may not reach 90 %",
       [](HostProbe& h) {
         has_file(h, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq",
                  "2000000");
       }},
      {"loaded cores stay at 2 GHz", "cpu_clock", "warn: under load 0.8 no core runs above 53 %",
       [](HostProbe& h) {
         has_file(h, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
                  "2000000");
       }},
      {"idle cores may", "cpu_clock", "pass",
       [](HostProbe& h) {
         has_file(h, "cpufreq", "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
                  "2000000");
         says(h, "loadavg", "0.01 0 0 1/2 3\n");
       }},
      {"memory", "memory_errors", "fail: memory controller mc0: 1 uncorrectable",
       [](HostProbe& h) {
         has_file(h, "edac", "/sys/devices/system/edac/mc/mc0/ue_count", "1\n");
       }},
      {"a failed service", "services", "warn: service docker.service has failed",
       [](HostProbe& h) {
         says(h, "services", "Id=docker.service\nLoadState=loaded\nActiveState=failed\n");
       }},
      {"a young process may wait", "stuck_processes", "pass",
       [](HostProbe& h) { says(h, "stuck_processes", "12 3 sg_inq blk_execute_rq\n"); }},
      {"an old one hangs", "stuck_processes", "warn: process 12 (sg_inq)",
       [](HostProbe& h) { says(h, "stuck_processes", "12 7200 sg_inq blk_execute_rq\n"); }},
      {"a clock within the round trip", "clock_skew", "pass",
       [](HostProbe& h) { h.received_at = *h.sent_at + std::chrono::seconds(20); }},
      {"a clock ahead", "clock_skew", "warn: its clock is 4.0 s ahead",
       [](HostProbe& h) { h.host_clock = *h.received_at + std::chrono::seconds(4); }},
      {"a clock far behind", "clock_skew", "fail: its clock is 3600.0 s behind: certificates",
       [](HostProbe& h) { h.host_clock = *h.sent_at - std::chrono::hours(1); }},
      {"no clock came", "clock_skew", "unknown", [](HostProbe& h) { h.host_clock.reset(); }},
      {"nothing keeps the time", "time_sync", "warn",
       [](HostProbe& h) { says(h, "time_sync", "synchronised no\n"); }},
      {"Docker without GPUs", "docker", "warn: Docker has no runtime for GPUs",
       [](HostProbe& h) { says(h, "docker_info", R"({"Runtimes":{"runc":{}}})"); }},
      {"Docker is not for us", "docker", "unknown: docker: only root",
       [](HostProbe& h) {
         says(h, "docker_info", R"({"ServerErrors":["permission denied while trying"]})", 1);
       }},
  });
}

TEST(CheckTable, HoldsTogether) {
  std::set<std::string_view> probes, ids;
  for (const Probe& probe : probe_table()) {
    EXPECT_TRUE(probes.insert(probe.id).second) << probe.id;
    EXPECT_GT(probe.deadline.count(), 0) << probe.id;
    EXPECT_GT(probe.max_bytes, 0u) << probe.id;
  }
  for (const Check& check : check_table()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_NE(check.judge, nullptr) << check.id;
    EXPECT_FALSE(check.advice.empty() || check.actions.empty() || check.title.empty()) << check.id;
    for (const std::string_view probe : check.probes) EXPECT_TRUE(probes.contains(probe)) << probe;
  }
}

// Whatever stands in an answer, the judges that read it end and have a result.
void judge_readers(const HostProbe& host, std::string_view probe) {
  for (const Check& check : check_table()) {
    if (std::find(check.probes.begin(), check.probes.end(), probe) == check.probes.end()) continue;
    EXPECT_FALSE(check.judge(host, Limits()).empty()) << check.id;
  }
}

TEST(CheckHost, TakesAnswersThatAreCutAndFlipped) {
  HostProbe host = fit_host();
  for (ProbeAnswer& answer : host.answers) {
    for (std::size_t part = 0; part < answer.parts.size(); part += 5) {
      const std::string bytes = answer.parts[part].bytes;
      const std::size_t step = std::max<std::size_t>(1, bytes.size() / 16);
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        answer.parts[part].bytes = bytes.substr(0, at);
        judge_readers(host, answer.id);
        answer.parts[part].bytes = bytes;
        answer.parts[part].bytes[at] = static_cast<char>(bytes[at] ^ 0x15);
        judge_readers(host, answer.id);
      }
      answer.parts[part].bytes = bytes;
    }
  }
}

TEST(LimitTable, RefusesWhatIsNoLimit) {
  Limits limits;
  for (const char* text : {"", "gpu_count", "gpu_count=", "gpu_count=x", "gpu_count=-1",
                           "no_such=3", "gpu_count=nan"}) {
    EXPECT_FALSE(limits.set_text(text)) << text;
  }
  EXPECT_FALSE(limits.number("gpu_count"));
  ASSERT_TRUE(limits.set_text(" gpu_count = 4"));
  EXPECT_EQ(limits.number("gpu_count"), 4);
  limits.turn_off("swap");
  for (const CheckResult& result : check_host(fit_host(), limits)) EXPECT_NE(result.check, "swap");
}

}  // namespace
}  // namespace muster::health
