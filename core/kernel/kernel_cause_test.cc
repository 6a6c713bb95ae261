#include "core/kernel/kernel_cause.h"

#include <gtest/gtest.h>

#include <span>

namespace muster {
namespace {

using Kind = KernelEventKind;

KernelEvent of(Kind kind, std::optional<std::int32_t> code = std::nullopt,
               std::optional<KernelGrade> grade = std::nullopt) {
  KernelEvent event;
  event.kind = kind;
  event.code = code;
  event.grade = grade;
  return event;
}

KernelEvent nvlink(std::int32_t code, const char* unit, std::uint32_t info, std::uint32_t status,
                   std::optional<KernelGrade> grade) {
  KernelEvent event = of(Kind::xid, code, grade);
  event.nvlink = NvlinkWords{.unit = unit, .interrupt_info = info, .error_status = status};
  return event;
}

KernelEvent device(Kind kind, const char* name) {
  KernelEvent event = of(kind);
  event.device = name;
  return event;
}

KernelEvent told(Kind kind, const char* text) {
  KernelEvent event = of(kind);
  event.text = text;
  return event;
}

KernelEvent queue(const char* name, const char* driver) {
  KernelEvent event = device(Kind::nic_fault, name);
  event.text =
      std::string("NETDEV WATCHDOG: ") + name + " (" + driver + "): transmit queue 2 timed out";
  return event;
}

KernelEvent recovery(GpuRecovery what) {
  KernelEvent event = of(Kind::xid, 154);
  event.recovery = what;
  return event;
}

struct Row {
  const char* name;
  KernelEvent event;
  Cause cause;
  Severity severity;
  Confidence confidence;
};

void try_rows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    const KernelJudgement out = cause_of(row.event);
    EXPECT_EQ(out.cause, row.cause) << row.name << ": " << cause_name(out.cause);
    EXPECT_EQ(out.severity, row.severity) << row.name;
    EXPECT_EQ(out.confidence, row.confidence) << row.name;
    EXPECT_FALSE(out.meaning.empty()) << row.name;
  }
}

constexpr auto kFatal = KernelGrade::fatal, kNonfatal = KernelGrade::nonfatal,
               kCorrected = KernelGrade::corrected;

TEST(KernelCause, NobodyIsAccused) {
  const Row rows[] = {
      {"unknown Xid", of(Kind::xid, 999), Cause::undetermined, Severity::info, Confidence::low},
      {"Xid without a number", of(Kind::xid), Cause::undetermined, Severity::info, Confidence::low},
      {"clean-up", of(Kind::xid, 45), Cause::benign_cleanup_xid, Severity::ok, Confidence::medium},
      {"page fault", of(Kind::xid, 31), Cause::app_memory_fault, Severity::info,
       Confidence::medium},
      {"154 to none", recovery(GpuRecovery::none), Cause::harmless_message, Severity::ok,
       Confidence::high},
      {"154 without its words", of(Kind::xid, 154), Cause::undetermined, Severity::info,
       Confidence::medium},
      {"switch, not fatal", of(Kind::sxid, 12028, kNonfatal), Cause::harmless_message, Severity::ok,
       Confidence::low},
      {"switch, corrected", of(Kind::sxid, 19049, kNonfatal), Cause::harmless_message, Severity::ok,
       Confidence::medium},
      {"switch, may be fatal", of(Kind::sxid, 20034, kNonfatal), Cause::nvlink_nonfatal,
       Severity::info, Confidence::low},
      {"switch, always fatal, but the line says no", of(Kind::sxid, 22003, kNonfatal),
       Cause::nvlink_down, Severity::critical, Confidence::low},
      {"driver noise", of(Kind::driver_noise), Cause::harmless_message, Severity::ok,
       Confidence::high},
      {"corrected PCIe", of(Kind::pcie_error, {}, kCorrected), Cause::undetermined, Severity::info,
       Confidence::medium},
      {"PCIe without a grade", of(Kind::pcie_error), Cause::undetermined, Severity::info,
       Confidence::medium},
      {"link down", of(Kind::link_down), Cause::ib_link_faulty, Severity::critical,
       Confidence::low},
      {"slot narrower than its card",
       told(Kind::pcie_limited, "pci 0000:5e:00.0: 31.5 Gb/s available PCIe bandwidth, limited by"),
       Cause::pcie_link_degraded, Severity::warning, Confidence::low},
      {"network of a management controller", queue("usb0", "cdc_ether"), Cause::harmless_message,
       Severity::ok, Confidence::medium},
      {"the same by its other name", queue("enx7a2c01", "rndis_host"), Cause::harmless_message,
       Severity::ok, Confidence::medium},
      {"some adapter", queue("eno2", "tg3"), Cause::undetermined, Severity::warning,
       Confidence::low},
      {"blocked", of(Kind::hung_task), Cause::undetermined, Severity::warning, Confidence::low},
      {"some device is gone", device(Kind::device_lost, "xhci_hcd"), Cause::undetermined,
       Severity::critical, Confidence::low},
      {"NVLink 5 without words", of(Kind::xid, 149), Cause::nvlink_nonfatal, Severity::info,
       Confidence::low},
      {"NVLink 5, recovered", nvlink(145, "RLW_SRC_TRACK", 0x040868e2, 8, kNonfatal),
       Cause::nvlink_nonfatal, Severity::info, Confidence::high},
      {"NVLink 5, table and word differ", nvlink(149, "NETIR_LINK_EVT", 0x028001c6, 0, kFatal),
       Cause::nvlink_down, Severity::critical, Confidence::low},
      {"NVLink 5, the other way round", nvlink(145, "RLW_SRC_TRACK", 0xe2, 1, kNonfatal),
       Cause::nvlink_down, Severity::critical, Confidence::low},
  };
  try_rows(rows);
}

TEST(KernelCause, SomebodyIs) {
  const Row rows[] = {
      {"NVLink 5 down", nvlink(149, "NETIR_LINK_EVT", 0x025001c6, 0, kFatal), Cause::nvlink_down,
       Severity::critical, Confidence::high},
      {"NVLink 5, unlisted", nvlink(149, "NETIR_NEWS", 0, 0, kFatal), Cause::nvlink_down,
       Severity::critical, Confidence::medium},
      {"off the bus", of(Kind::xid, 79), Cause::gpu_fell_off_bus, Severity::critical,
       Confidence::high},
      {"off the bus, in words", of(Kind::gpu_lost, 79), Cause::gpu_fell_off_bus, Severity::critical,
       Confidence::high},
      {"reboot wanted", recovery(GpuRecovery::reboot_node), Cause::undetermined, Severity::critical,
       Confidence::high},
      {"switch, fatal", of(Kind::sxid, 22003, kFatal), Cause::nvlink_down, Severity::critical,
       Confidence::high},
      {"GPU cannot be woken", device(Kind::device_lost, "nvidia"), Cause::gpu_fell_off_bus,
       Severity::critical, Confidence::medium},
      {"adapter of the fabric", queue("ens4f0np0", "mlx5_core"), Cause::undetermined,
       Severity::critical, Confidence::medium},
      {"IP over InfiniBand", queue("ibp3s0", "?"), Cause::undetermined, Severity::critical,
       Confidence::medium},
      {"adapter without power", told(Kind::nic_fault, "mlx5_core 0000:5e:00.0: insufficient power"),
       Cause::undetermined, Severity::critical, Confidence::medium},
      {"disk", device(Kind::disk_error, "nvme0"), Cause::nvme_failing, Severity::critical,
       Confidence::medium},
      {"lanes lost", told(Kind::pcie_limited, "mlx5_core 0000:5e:00.0: limited width: x4 < x16"),
       Cause::pcie_link_degraded, Severity::warning, Confidence::medium},
      {"other disk", device(Kind::disk_error, "sda"), Cause::undetermined, Severity::warning,
       Confidence::medium},
      {"memory of the host", of(Kind::memory_error, {}, kFatal), Cause::undetermined,
       Severity::critical, Confidence::medium},
      {"out of memory", of(Kind::oom_kill), Cause::host_oom_killed, Severity::critical,
       Confidence::high},
  };
  try_rows(rows);
}

// Every kind, code and grade: allowed by the table of causes, with words for people, and what is
// not critical drains and replaces nothing.
TEST(KernelCause, AllThatCanCome) {
  const std::optional<KernelGrade> grades[] = {std::nullopt, KernelGrade::corrected,
                                               KernelGrade::nonfatal, KernelGrade::fatal};
  for (int kind = 0; kind <= static_cast<int>(Kind::server_back); ++kind) {
    EXPECT_FALSE(kernel_event_kind_name(static_cast<Kind>(kind)).empty());
    const bool coded = kind <= static_cast<int>(Kind::sxid);
    for (std::int32_t code = 0; code < (coded ? 31000 : 1); ++code) {
      if (code == 200) code = 9990;
      for (const auto& grade : grades) {
        const KernelJudgement out = cause_of(of(static_cast<Kind>(kind), code, grade));
        ASSERT_TRUE(cause_row(out.cause).allows(out.severity)) << kind << " " << code;
        ASSERT_FALSE(out.meaning.empty()) << kind << " " << code;
        if (out.severity >= Severity::warning) continue;
        ASSERT_TRUE(out.first != Action::drain_host && out.then != Action::drain_host) << code;
        ASSERT_TRUE(out.first != Action::replace_gpu && out.then != Action::replace_gpu) << code;
      }
    }
  }
}

}  // namespace
}  // namespace muster
