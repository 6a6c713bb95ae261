#include "core/kernel/kernel_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/kernel/kernel_forms.h"

namespace muster {
namespace {

// "xid n3/0000:3b:00.0 code=79 pid=12 name=python"
std::string show(const KernelEvent& e) {
  std::string out(kernel_event_kind_name(e.kind));
  if (!e.host.empty() || !e.pci.empty()) out += " " + e.host + "/" + e.pci;
  if (e.gpu_instance) out += fmt::format(" gi={}", *e.gpu_instance);
  if (e.compute_instance) out += fmt::format(" ci={}", *e.compute_instance);
  if (e.code) out += fmt::format(" code={}", *e.code);
  if (e.grade) {
    constexpr const char* kNames[] = {"corrected", "nonfatal", "fatal"};
    out += fmt::format(" {}", kNames[static_cast<int>(*e.grade)]);
  }
  if (e.pid) out += fmt::format(" pid={}", *e.pid);
  if (!e.process.empty()) out += " name=" + e.process;
  if (!e.device.empty()) out += " device=" + e.device;
  if (e.link) out += fmt::format(" link={}", *e.link);
  if (e.caused_by) out += fmt::format(" after={}", *e.caused_by);
  if (e.recovery) out += fmt::format(" recovery={}", static_cast<int>(*e.recovery));
  if (e.nvlink) {
    out += fmt::format(" {}:{:x}:{:x}", e.nvlink->unit, e.nvlink->interrupt_info,
                       e.nvlink->error_status);
  }
  if (e.repeats != 0) out += fmt::format(" +{}", e.repeats);
  return out;
}

KernelReading read(std::string_view log, std::string host = "") {
  KernelReader reader(
      {.host = std::move(host), .written = parse_timestamp("2026-08-02T00:00:00Z")->at});
  std::uint64_t number = 0;
  for (const std::string_view line : split(log, '\n')) reader.line(line, ++number);
  return reader.finish();
}

std::string shown(std::string_view log, std::string host = "") {
  std::string out;
  for (const KernelEvent& e : read(log, std::move(host)).events) {
    out += (out.empty() ? "" : "; ") + show(e);
  }
  return out;
}

// "2026-08-01T10:00:00Z zone boot=12.5"
std::string show_time(const KernelTime& time) {
  std::string out = time.at ? format_rfc3339(*time.at, true) : "-";
  if (time.has_zone) out += " zone";
  if (time.since_boot) out += fmt::format(" boot={}", duration_to_seconds(*time.since_boot));
  return out;
}

#define MSG "NVRM: Xid (PCI:0000:3b:00): 31, pid=70, name=python, x"

struct WrapRow {
  const char* name;
  std::string line;
  const char* host;  // null: no event
  const char* time;
};

void try_wraps(std::span<const WrapRow> rows) {
  for (const WrapRow& row : rows) {
    const auto events = read(row.line).events;
    ASSERT_EQ(events.size(), row.host == nullptr ? 0u : 1u) << row.name;
    if (row.host == nullptr) continue;
    EXPECT_EQ(show(events[0]),
              fmt::format("xid {}/0000:3b:00.0 code=31 pid=70 name=python", row.host))
        << row.name;
    EXPECT_EQ(show_time(events[0].time), row.time) << row.name;
  }
}

TEST(KernelReader, WhatIsNoWrapOfTheKernel) {
  const WrapRow rows[] = {
      // Somebody speaks of a kernel message.
      {"a trainer's log", "2026-08-01 10:00:00,1 INFO saw " MSG, nullptr, ""},
      {"another program's tag", "Aug  1 10:00:00 n3 watcher[7]: " MSG, nullptr, ""},
      {"another program in the journal",
       R"({"MESSAGE":")" MSG R"(","SYSLOG_IDENTIFIER":"watcher"})", nullptr, ""},
      {"another program, RFC 5424", "<4>1 2026-08-01T10:00:00Z n3 watcher 7 - - " MSG, nullptr, ""},
      {"quoted", "\"" MSG "\"", nullptr, ""},
      {"behind a word", "see: " MSG, nullptr, ""},
      {"JSON that ends early", R"({"MESSAGE":")" MSG, nullptr, ""},
      {"JSON of something else", R"({"text":")" MSG R"("})", nullptr, ""},
      {"JSON three deep", R"({"log":"{\"log\":\"{\\\"log\\\":\\\")" MSG R"(\\\"}\"}"})", nullptr,
       ""},
      {"stamp that does not end", "[ 12.5 " MSG, nullptr, ""},
      {"kmsg that does not end", "4,1,5,- " MSG, nullptr, ""},
      {"no colon behind the tag", "Aug  1 10:00:00 n3 kernel " MSG, nullptr, ""},
      {"wrapped without an end", std::string(200, '<') + MSG, nullptr, ""},
      // Impossible times are no times; the event stays.
      {"month of nowhere", "Abc  1 10:00:00 n3 kernel: " MSG, "n3", "-"},
      {"day 32", "Aug 32 10:00:00 n3 kernel: " MSG, "n3", "-"},
      {"hour 25", "2026-08-01T25:00:00Z n3 kernel: " MSG, "n3", "-"},
      {"seconds beyond the calendar", "99999999999.500000 n3 kernel: " MSG, "n3", "-"},
      {"boot that lasts for ever", "4,1,999999999999999999,-;" MSG, "", "- boot=4503599627.370496"},
      {"zone of two places", "2026-08-01 10:00:00 IST n3 kernel: " MSG, "n3",
       "2026-08-01T10:00:00.000Z"},
  };
  try_wraps(rows);
}

TEST(KernelReader, Wraps) {
  const WrapRow rows[] = {
      {"bare", MSG, "", "-"},
      {"dmesg", "[   12.500000] " MSG, "", "- boot=12.5"},
      {"dmesg with the caller", "[   12.500000][ T1234] " MSG, "", "- boot=12.5"},
      {"dmesg -d", "[   12.500000 <    0.000010>] " MSG, "", "- boot=12.5"},
      {"dmesg -r", "<4>[   12.500000] " MSG, "", "- boot=12.5"},
      {"dmesg -x", "kern  :warn  : [   12.500000] " MSG, "", "- boot=12.5"},
      {"dmesg -T", "[Sat Aug  1 10:00:00 2026] " MSG, "", "2026-08-01T10:00:00.000Z"},
      {"dmesg iso", "2026-08-01T10:00:00,500000+02:00 " MSG, "", "2026-08-01T08:00:00.500Z zone"},
      {"in colours",
       "\x1b[32m[   12.500000] \x1b[0m\x1b[33mNVRM: \x1b[0m" + std::string(MSG).substr(6), "",
       "- boot=12.5"},
      {"kmsg", "4,1234,12500000,-;" MSG, "", "- boot=12.5"},
      {"kmsg with the caller", "4,1234,12500000,-,caller=T7;" MSG, "", "- boot=12.5"},
      {"syslog", "Aug  1 10:00:00 n3 kernel: " MSG, "n3", "2026-08-01T10:00:00.000Z"},
      {"syslog of last year", "Dec 31 10:00:00 n3 kernel: " MSG, "n3", "2025-12-31T10:00:00.000Z"},
      {"syslog with the boot time", "Aug 01 10:00:00 n3 kernel: [   12.500000] " MSG, "n3",
       "2026-08-01T10:00:00.000Z boot=12.5"},
      {"syslog of a small machine", "Aug  1 10:00:00 n3 kern.warn kernel: [ 12.5] " MSG, "n3",
       "2026-08-01T10:00:00.000Z boot=12.5"},
      {"syslog on the wire", "<4>Aug  1 10:00:00 n3 kernel: " MSG, "n3",
       "2026-08-01T10:00:00.000Z"},
      {"RFC 5424", "<4>1 2026-08-01T10:00:00.5Z n3 kernel - - - " MSG, "n3",
       "2026-08-01T10:00:00.500Z zone"},
      {"RFC 5424 with data", "<4>1 2026-08-01T10:00:00Z n3 kernel - - [a b=\"c\"] " MSG, "n3",
       "2026-08-01T10:00:00.000Z zone"},
      {"rsyslog", "2026-08-01T10:00:00.500000+00:00 n3 kernel: [ 12.5] " MSG, "n3",
       "2026-08-01T10:00:00.500Z zone boot=12.5"},
      {"journal short-iso", "2026-08-01T10:00:00+0200 n3 kernel: " MSG, "n3",
       "2026-08-01T08:00:00.000Z zone"},
      {"journal short-full", "Sat 2026-08-01 10:00:00 UTC n3 kernel: " MSG, "n3",
       "2026-08-01T10:00:00.000Z zone"},
      {"journal short-monotonic", "[   12.500000] n3 kernel: " MSG, "n3", "- boot=12.5"},
      {"journal short-unix", "1785578400.500000 n3 kernel: " MSG, "n3",
       "2026-08-01T10:00:00.500Z zone"},
      {"journal json",
       R"({"_HOSTNAME":"n3","__REALTIME_TIMESTAMP":"1785578400000000",)"
       R"("_SOURCE_MONOTONIC_TIMESTAMP":"12500000","SYSLOG_IDENTIFIER":"kernel","MESSAGE":")" MSG
       R"("})",
       "n3", "2026-08-01T10:00:00.000Z zone boot=12.5"},
      {"Docker",
       R"({"log":"[   12.500000] )" MSG R"(\n","stream":"stdout","time":"2026-08-01T10:00:00.5Z"})",
       "", "2026-08-01T10:00:00.500Z zone boot=12.5"},
      {"CRI", "2026-08-01T10:00:00.5Z stdout F [   12.500000] " MSG, "",
       "2026-08-01T10:00:00.500Z zone boot=12.5"},
      {"shipper in Docker",
       R"({"log":"{\"host\":\"n3\",\"message\":\")" MSG R"(\"}\n","time":"2026-08-01T10:00:00Z"})",
       "n3", "2026-08-01T10:00:00.000Z zone"},
      {"pdsh", "n3: [   12.500000] " MSG, "n3", "- boot=12.5"},
      {"grep", "var/log/kern.log:Aug  1 10:00:00 n3 kernel: " MSG, "n3",
       "2026-08-01T10:00:00.000Z"},
  };
  try_wraps(rows);
}

// dmesg -H tells the minute once and then the steps from line to line.
TEST(KernelReader, StepsFromLineToLine) {
  const auto events = read("[  +1.000000] " MSG
                           "\n[Aug 1 10:00] boring\n[  +2.500000] boring\n"
                           "[  +1.000000] " MSG "\n[Aug 1 10:02] " MSG)
                          .events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(show_time(events[0].time), "-");
  EXPECT_EQ(show_time(events[1].time), "2026-08-01T10:00:03.500Z");
  EXPECT_EQ(show_time(events[2].time), "2026-08-01T10:02:00.000Z");
  EXPECT_EQ(events[2].line, 5u);
}

TEST(KernelReader, StepsThatAreNone) {
  std::string log = "[Aug 1 10:00] boring\n[+999999999.5] boring\n[  +1.000000] " MSG;
  EXPECT_EQ(show_time(read(log).events.at(0).time), "-");
}

struct FormRow {
  const char* name;
  const char* line;
  const char* shown;
};

void try_rows(std::span<const FormRow> rows) {
  for (const auto& row : rows) EXPECT_EQ(shown(row.line), row.shown) << row.name;
}

TEST(KernelReader, Xid) {
  const FormRow rows[] = {
      {"no number", "NVRM: Xid (PCI:0000:3b:00): pid=7, x", ""},
      {"cut in the number", "NVRM: Xid (PCI:0000:3b:00): 7", ""},
      {"cut behind the number", "NVRM: Xid (PCI:0000:3b:00): 79,", ""},
      {"number without end", "NVRM: Xid (PCI:0000:3b:00): 7900000, x", ""},
      {"no address", "NVRM: Xid (PCI:): 79, x", ""},
      {"address too short", "NVRM: Xid (PCI:0:3b:00): 79, x", ""},
      {"address of other letters", "NVRM: Xid (PCI:0000:3g:00): 79, x", ""},
      {"no bracket", "NVRM: Xid (PCI:0000:3b:00: 79, x", ""},
      {"word in the middle", "NVRM: no Xid (PCI:0000:3b:00): 79, x", ""},
      {"exporter's", "XidCriticalError: Xid=94 on Device=GPU-9a3b7c11", ""},
      {"no pid", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
       "xid /0000:3b:00.0 code=79"},
      {"unknown process",
       "NVRM: Xid (PCI:0000:4f:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: x",
       "xid /0000:4f:00.0 code=63"},
      {"cut in the pid", "NVRM: Xid (PCI:0000:3b:00): 31, pid=190", "xid /0000:3b:00.0 code=31"},
      {"very old", "NVRM: Xid (0000:03:00): 14, Channel 00000001", "xid /0000:03:00.0 code=14"},
      {"eight digits, capitals, function", "NVRM: Xid (PCI:00000000:C4:00.0): 13, x",
       "xid /0000:c4:00.0 code=13"},
      {"domain of its own", "NVRM: Xid (PCI:10001234:C4:00): 13, x",
       "xid /10001234:c4:00.0 code=13"},
      {"MIG", "NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 31, pid=7, name=a b, x",
       "xid /0000:01:00.0 gi=5 ci=0 code=31 pid=7 name=a b"},
      {"MIG of a driver that prints its own format", "NVRM: Xid (PCI:0000:01:00 GPU-I:02u): 31, x",
       "xid /0000:01:00.0 code=31"},
      {"clean-up", "NVRM: Xid (PCI:0000:d4:00): 45, pid=1, name=p, Ch 1 caused by previous Xid 149",
       "xid /0000:d4:00.0 code=45 pid=1 name=p after=149"},
      {"recovery",
       "NVRM: Xid (PCI:0002:00:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
       "Reboot Required)",
       "xid /0002:00:00.0 code=154 recovery=2"},
      {"recovery not known",
       "NVRM: Xid (PCI:0002:00:00): 154, changed from 0x0 (None) to 0x9 (New)",
       "xid /0002:00:00.0 code=154"},
      {"NVLink", "NVRM: Xid (PCI:0002:00:00): 74, NVLink: fatal error detected on link 4(0x0)",
       "xid /0002:00:00.0 code=74 link=4"},
      {"NVLink 5",
       "NVRM: Xid (PCI:0000:d4:00): 149, pid=1, name=p, NETIR_LINK_EVT Fatal XC0 i0 Link 07 "
       "(0x025001c6 0x00000000 0x0)",
       "xid /0000:d4:00.0 code=149 fatal pid=1 name=p link=7 NETIR_LINK_EVT:25001c6:0"},
      {"NVLink 5, two names, no link",
       "NVRM: Xid (PCI:0000:d4:00): 146, TLW_RX/TLW_RX_PIPE0 Nonfatal XC1 i0 Link -1 (0x143 0x1 "
       "0x0)",
       "xid /0000:d4:00.0 code=146 nonfatal TLW_RX/TLW_RX_PIPE0:143:1"},
      {"NVLink 5, cut in its words",
       "NVRM: Xid (PCI:0000:d4:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x025001c6",
       "xid /0000:d4:00.0 code=149"},
      {"bytes that are no text", "NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=\xff\xfe, \x80",
       "xid /0000:3b:00.0 code=31 pid=7 name=\xff\xfe"},
  };
  try_rows(rows);
}

TEST(KernelReader, OtherLinesOfGpuAndSwitch) {
  const FormRow rows[] = {
      {"loaded", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14", ""},
      {"version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06", ""},
      {"serial number", "NVRM: GPU Board Serial Number: 165", ""},
      {"companion",
       "nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 12028, Severity 0 Engine instance 3", ""},
      {"data", "nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 12028, Data {0x0, 0x1}", ""},
      {"switch without its number", "nvidia-nvswitch: SXid (PCI:0000:c5:00.0): 12028, Fatal, x",
       ""},
      {"SXid cut", "nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 1202", ""},
      {"not fatal", "nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress x",
       "sxid /0000:c5:00.0 code=12028 nonfatal device=nvswitch0 link=32"},
      {"fatal, no link", "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 22003, Fatal, Minion halt",
       "sxid /0000:05:00.0 code=22003 fatal device=nvswitch3"},
      {"noise", "NVRM: kceIsGenXorHigherSupported_GH100: Could not get root gen speed",
       "driver_noise"},
      {"assertion", "NVRM: nvAssertFailedNoLog: Assertion failed: x @ rmapi.c:563", "driver_noise"},
      {"off the bus", "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
       "gpu_lost /0000:18:00.0 code=79"},
      {"no start", "NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x26:0x56:1463)",
       "gpu_init_failed /0000:18:00.0"},
      {"not taken by the driver", "nvidia: probe of 0000:18:00.0 failed with error -1",
       "gpu_init_failed /0000:18:00.0"},
      {"another driver's probe", "nouveau: probe of 0000:18:00.0 failed with error -1", ""},
      {"versions", "NVRM: API mismatch: the client has version 550.144, but", "driver_mismatch"},
      {"cannot be woken",
       "nvidia 0000:18:00.0: Unable to change power state from D3cold to D0, device inaccessible",
       "device_lost /0000:18:00.0 device=nvidia"},
      {"asleep", "nvidia 0000:18:00.0: can't change power state from D0 to D3hot", ""},
  };
  try_rows(rows);
}

TEST(KernelReader, PcieAndNetwork) {
  const FormRow rows[] = {
      {"AER's first line", "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
       ""},
      {"its third", "pcieport 0000:00:03.0:   device [8086:6f08] error status/mask=1/2", ""},
      {"no address", "pcieport: PCIe Bus Error: severity=Corrected, type=x", ""},
      {"full width", "mlx5_core 0000:5e:00.0: 252.048 Gb/s available PCIe bandwidth (32.0 GT/s)",
       ""},
      {"IPv6", "IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready", ""},
      {"cable plugged", "mlx5_core 0000:5e:00.0: Port module event: module 0, Cable plugged", ""},
      {"link of a drive", "ata1: SATA link down (SStatus 0 SControl 300)", ""},
      {"a program's", "connect: Link down", ""},
      {"corrected",
       "pcieport 0000:00:03.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, x",
       "pcie_error /0000:00:03.0 corrected"},
      {"not fatal",
       "nvidia 0000:18:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction",
       "pcie_error /0000:18:00.0 nonfatal"},
      {"fatal",
       "pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Inaccessible, x",
       "pcie_error /0000:00:03.0 fatal"},
      {"of newer kernels",
       "pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=x",
       "pcie_error /0000:00:03.0 fatal"},
      {"contained", "pcieport 0000:00:03.0: DPC: containment event, status:0x1f01 source:0x0000",
       "pcie_error /0000:00:03.0 fatal"},
      {"lanes", "mlx5_core 0000:5e:00.0: PCIe link is limited width: x4 < x16",
       "pcie_limited /0000:5e:00.0"},
      {"bandwidth",
       "pci 0000:5e:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link "
       "at "
       "0000:5d:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
       "pcie_limited /0000:5e:00.0"},
      {"mlx5 down", "mlx5_core 0000:5e:00.0 enp94s0f0np0: Link down",
       "link_down /0000:5e:00.0 device=enp94s0f0np0"},
      {"mlx5 up", "mlx5_core 0000:5e:00.0 enp94s0f0np0: Link up",
       "link_up /0000:5e:00.0 device=enp94s0f0np0"},
      {"port down", "mlx5_core 0000:5e:00.0: Link down", "link_down /0000:5e:00.0"},
      {"with the driver's name", "igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down",
       "link_down /0000:01:00.0 device=eth0"},
      {"Ethernet", "bnxt_en 0000:01:00.0 eno1np0: NIC Link is Down",
       "link_down /0000:01:00.0 device=eno1np0"},
      {"Ethernet up", "ixgbe 0000:01:00.0 eth0: NIC Link is Up 10 Gbps, Flow Control: RX/TX",
       "link_up /0000:01:00.0 device=eth0"},
      {"older", "e1000e: eth0 NIC Link is Down", "link_down device=eth0"},
      {"bond", "bond0: (slave ens1f0): link status definitely down, disabling slave",
       "link_down device=ens1f0"},
      {"unplugged", "mlx5_core 0000:5e:00.0: Port module event: module 0, Cable unplugged",
       "cable_fault /0000:5e:00.0"},
      {"bad cable",
       "mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, Bad or shorted "
       "cable/module",
       "cable_fault /0000:5e:00.0"},
      {"counter read again and again",
       "mlx5_core 0000:5e:00.0: mlx5_cmd_out_err:808:(pid 7): ACCESS_REG(0x805) op_mod(0x1) failed",
       "driver_noise /0000:5e:00.0"},
      {"firmware",
       "mlx5_core 0000:5e:00.0: poll_health:800:(pid 0): device's health compromised - reached "
       "miss count",
       "nic_fault /0000:5e:00.0"},
      {"hot", "mlx5_core 0000:5e:00.0: High temperature on sensors with bit set 0x1 0x0",
       "nic_fault /0000:5e:00.0"},
      {"queue", "NETDEV WATCHDOG: eth0 (ixgbe): transmit queue 3 timed out",
       "nic_fault device=eth0"},
  };
  try_rows(rows);
}

TEST(KernelReader, Processes) {
  const FormRow rows[] = {
      {"who asked for memory", "python invoked oom-killer: gfp_mask=0x14000c0, order=0", ""},
      {"reaper", "oom_reaper: reaped process 7 (python), now anon-rss:0kB", ""},
      {"cut in the pid", "Out of memory: Killed process 93", ""},
      {"a shell's", "Killed process 93", ""},
      {"cut in the task", "INFO: task python:18 blocked", ""},
      {"memory",
       "Out of memory: Killed process 9382 (pt_data_worker) total-vm:1kB, anon-rss:2kB, UID:0",
       "oom_kill pid=9382 name=pt_data_worker"},
      {"name with brackets", "Killed process 93 ((sd-pam)) total-vm:1kB, anon-rss:2kB",
       "oom_kill pid=93 name=(sd-pam)"},
      {"with a user", "Killed process 93, UID 1000, (python) total-vm:1kB",
       "oom_kill pid=93 name=python"},
      {"group",
       "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,"
       "oom_memcg=/k/pod1,task_memcg=/k/pod1/c,task=python,pid=93,uid=0",
       "oom_kill pid=93 name=python device=/k/pod1/c"},
      {"blocked", "INFO: task kworker/u8:2:187233 blocked for more than 120 seconds.",
       "hung_task pid=187233 name=kworker/u8:2"},
      {"core", "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:1234]",
       "lockup pid=1234 name=python"},
      {"hard", "NMI watchdog: Watchdog detected hard LOCKUP on cpu 4", "lockup"},
      {"stall", "rcu: INFO: rcu_sched self-detected stall on CPU", "lockup"},
      {"segmentation fault", "python[77]: segfault at 0 ip 00007f sp 00007f error 4 in libc.so.6",
       "segfault pid=77 name=python"},
      {"trap", "traps: pt_worker[77] general protection fault ip:7f sp:7f error:0 in a.so",
       "segfault pid=77 name=pt_worker"},
  };
  try_rows(rows);
}

TEST(KernelReader, HostAndStorage) {
  const FormRow rows[] = {
      {"cooled down", "CPU3: Core temperature/speed normal", ""},
      {"EDAC at boot", "EDAC MC0: Giving out device to module skx_edac", ""},
      {"mount", "XFS (nvme0n1): Ending clean mount", ""},
      {"mounted", "EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode", ""},
      {"found", "nvme nvme0: 128/0/0 default/read/poll queues", ""},
      {"no medium", "blk_update_request: I/O error, dev fd0, sector 0 op 0x0", ""},
      {"cut server", "nfs: server 10.77", ""},
      {"logged", "mce: [Hardware Error]: Machine check events logged", "machine_check corrected"},
      {"processor", "mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 4: b200",
       "machine_check fatal"},
      {"firmware first", "{1}[Hardware Error]: event severity: recoverable",
       "machine_check nonfatal"},
      {"memory corrected", "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0",
       "memory_error corrected device=MC0"},
      {"memory lost", "EDAC MC1: 1 UE memory scrubbing error on x",
       "memory_error fatal device=MC1"},
      {"hot", "mce: CPU12: Package temperature above threshold, cpu clock throttled (total = 1)",
       "cpu_throttled"},
      {"drive", "nvme nvme0: I/O 123 (I/O Cmd) QID 4 timeout, aborting", "disk_error device=nvme0"},
      {"drive gone", "nvme nvme1: Removing after probe failure status: -19",
       "disk_error device=nvme1"},
      {"drive that left", "sd 0:0:1:0: [sdb] rejecting I/O to offline device",
       "disk_error device=sdb"},
      {"drive given up", "ata3.00: disabled", "disk_error device=ata3"},
      {"something else is off", "systemd: swap: disabled", ""},
      {"sector", "I/O error, dev nvme0n1, sector 12 op 0x0:(READ) flags 0x0",
       "disk_error device=nvme0n1"},
      {"file system", "EXT4-fs error (device dm-0): ext4_lookup:1785: inode #2: comm ls: x",
       "fs_error device=dm-0"},
      {"shut down", "XFS (nvme0n1): Log I/O Error Detected. Shutting down filesystem",
       "fs_error device=nvme0n1"},
      {"server", "nfs: server 10.77.8.20 not responding, still trying",
       "server_lost device=10.77.8.20"},
      {"server back", "nfs: server 10.77.8.20 OK", "server_back device=10.77.8.20"},
      {"Lustre",
       "Lustre: fs-OST0001-osc-ffff: Connection to fs-OST0001 (at 10.1.1.2@o2ib) was lost; in "
       "progress operations using this service will wait",
       "server_lost device=10.1.1.2@o2ib"},
      {"Lustre back",
       "Lustre: fs-OST0001-osc-ffff: Connection restored to 10.1.1.2@o2ib (at "
       "10.1.1.2@o2ib)",
       "server_back device=10.1.1.2@o2ib"},
  };
  try_rows(rows);
}

TEST(KernelReader, AddressesOfOneForm) {
  for (const char* bad : {"", "0000", "0000:3b", "0000:3b:00.8", "0000:3b:00.", "00000:3b:00",
                          "0000:3g:00", "0000-3b:00", "0000:3b:00.0 "}) {
    EXPECT_EQ(normal_pci(bad), "") << bad;
  }
  EXPECT_EQ(normal_pci("0000:3B:00"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci("00000000:3B:00.1"), "0000:3b:00.1");
  EXPECT_EQ(normal_pci("00010000:3b:00"), "00010000:3b:00.0");
}

// Lines that belong together.
TEST(KernelReader, OneEventOfSeveralLines) {
  const FormRow rows[] = {
      {"number, then words",
       "[ 10.1] NVRM: Xid (PCI:0000:18:00): 79, pid=7, name=p, GPU has fallen off the bus.\n"
       "[ 10.2] NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
       "xid /0000:18:00.0 code=79 pid=7 name=p"},
      {"words, then number",
       "[ 10.1] NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.\n"
       "[ 10.2] NVRM: Xid (PCI:0000:18:00): 79, pid=7, name=p, GPU has fallen off the bus.",
       "xid /0000:18:00.0 code=79 pid=7 name=p"},
      {"of two GPUs",
       "[ 10.1] NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.\n"
       "[ 10.2] NVRM: Xid (PCI:0000:19:00): 79, GPU has fallen off the bus.",
       "gpu_lost /0000:18:00.0 code=79; xid /0000:19:00.0 code=79"},
      {"of another day",
       "[ 10.1] NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.\n"
       "[ 99910.2] NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
       "xid /0000:18:00.0 code=79; gpu_lost /0000:18:00.0 code=79"},
      {"a block of lines",
       "NVRM: The NVIDIA GPU 0000:18:00.0\nNVRM: (PCI ID: 10de:2330) installed in this system has\n"
       "NVRM: fallen off the bus and is not responding to commands.",
       "gpu_lost /0000:18:00.0 code=79"},
      {"a block without its head", "NVRM: fallen off the bus and is not responding to commands.",
       ""},
      {"another block", "NVRM: The NVIDIA GPU 0000:18:00.0\nNVRM: is not supported by this driver.",
       ""},
      {"a block of another host",
       "Aug  1 10:00:00 n3 kernel: NVRM: The NVIDIA GPU 0000:18:00.0\n"
       "Aug  1 10:00:00 n4 kernel: NVRM: fallen off the bus and is not responding to commands.",
       ""},
      {"old kill",
       "Task in /k/pod3 killed as a result of limit of /k/pod3\n"
       "Memory cgroup out of memory: Kill process 20 (python) score 1611 or sacrifice child\n"
       "Killed process 20 (python) total-vm:1kB",
       "oom_kill pid=20 name=python device=/k/pod3"},
      {"new kill",
       "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/k/pod1,task=python,pid=93,uid=0\n"
       "Memory cgroup out of memory: Killed process 93 (python) total-vm:1kB",
       "oom_kill pid=93 name=python device=/k/pod1"},
      {"two kills", "Killed process 20 (a) total-vm:1kB\nKilled process 21 (b) total-vm:1kB",
       "oom_kill pid=20 name=a; oom_kill pid=21 name=b"},
      {"the group of an earlier kill",
       "Task in /a killed as a result of limit of /a\nKilled process 20 (a) total-vm:1kB\n"
       "Killed process 21 (b) total-vm:1kB",
       "oom_kill pid=20 name=a device=/a; oom_kill pid=21 name=b"},
  };
  try_rows(rows);
}

TEST(KernelReader, TheDriverNamesTheUuidOnce) {
  const auto events =
      read("NVRM: GPU at PCI:0000:3b:00: GPU-7e57a36f\nNVRM: GPU at PCI:x: GPU-1\n" MSG
           "\nNVRM: Xid (PCI:0000:3c:00): 31, x")
          .events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].gpu_uuid, "GPU-7e57a36f");
  EXPECT_EQ(events[1].gpu_uuid, "");
}

TEST(KernelReader, TheHostOfTheFileIsForLinesWithoutOne) {
  EXPECT_EQ(shown(MSG, "n9"), "xid n9/0000:3b:00.0 code=31 pid=70 name=python");
  EXPECT_EQ(shown("Aug  1 10:00:00 n3 kernel: " MSG, "n9"),
            "xid n3/0000:3b:00.0 code=31 pid=70 name=python");
}

// A GPU that writes the same line for days costs no memory.
TEST(KernelReader, RepeatsAreCounted) {
  KernelReader reader({.host = "", .written = std::nullopt});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    reader.line(fmt::format("[ {}.5] NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=p, Ch {}", i, i),
                i);
  }
  const auto events = reader.finish().events;
  ASSERT_EQ(events.size(), limits::kKernelEventsOfPart);
  EXPECT_EQ(events.back().repeats, 1000 - limits::kKernelEventsOfPart);
  EXPECT_EQ(show_time(events.back().last), "- boot=1000.5");
  EXPECT_EQ(events.front().repeats, 0u);
}

TEST(KernelReader, EventsOfALogAreBounded) {
  KernelReader reader({.host = "", .written = std::nullopt});
  for (std::uint64_t i = 1; i <= limits::kKernelEvents + 10; ++i) {
    reader.line(fmt::format("NVRM: Xid (PCI:0000:3b:00): 31, pid={}, name=p, x", i), i);
  }
  const KernelReading out = reader.finish();
  EXPECT_EQ(out.events.size(), limits::kKernelEvents);
  EXPECT_EQ(out.not_kept, 10u);
}

TEST(KernelReader, LongLinesAreCutInTheirText) {
  const auto events = read(MSG + std::string(limits::kLineBytes - 100, 'x')).events;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text.size(), limits::kEvidenceChars);
}

// One line of every wrap and of many forms, cut and changed at every byte: never a crash, the lines
// beside the damaged one stay, and no GPU is named that is not in the log.
TEST(KernelReader, DamagedAtEveryByte) {
  const std::string before = "Aug  1 10:00:00 n3 kernel: NVRM: Xid (PCI:0000:01:00): 48, x\n";
  const std::string after = "\n[   12.500000] NVRM: Xid (PCI:0000:02:00): 95, x";
  const std::string link =
      "Aug  1 10:00:00 n3 kernel: [   12.500000] NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): "
      "149, pid=1, name=p, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x025001c6 0x00000000 0x0)";
  const std::string oom =
      "<4>1 2026-08-01T10:00:00Z n3 kernel - - [a b] oom-kill:constraint=C,task_memcg=/a,task=p,"
      "pid=93,uid=0";
  const std::string document =
      R"({"log":"{\"_HOSTNAME\":\"n3\",\"__REALTIME_TIMESTAMP\":\"1785578400000000\",)"
      R"(\"MESSAGE\":\"SXid\"}\n","time":"2026-08-01T10:00:00Z"})";
  const std::string damaged[] = {
      link,
      oom,
      document,
      R"({"MESSAGE":[78,86,82,77,58,32,88,105,100],"__MONOTONIC_TIMESTAMP":"1"})",
      "n3: 4,1234,12500000,-;INFO: task kworker/u8:2:187233 blocked for more than 120 seconds.",
      "\x1b[32m[Sat Aug  1 10:00:00 2026] \x1b[0mNVRM: GPU at PCI:0000:3b:00: GPU-7e57a36f",
  };
  for (const std::string& line : damaged) {
    const auto check = [&](const std::string& text) {
      const auto events = read(before + text + after).events;
      ASSERT_GE(events.size(), 2u) << text;
      EXPECT_EQ(events.front().code, 48) << text;
      EXPECT_EQ(events.back().code, 95) << text;
    };
    for (std::size_t i = 0; i <= line.size(); ++i) check(line.substr(0, i));
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (const char c : {'\0', '\n', ']', '9', '\\', '\xff'}) {
        std::string changed = line;
        changed[i] = c;
        check(changed);
      }
    }
  }
}

}  // namespace
}  // namespace muster
