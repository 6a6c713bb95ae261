#include "core/kernel/kernel_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/kernel/nvlink5_table.h"
#include "core/kernel/sxid_table.h"
#include "core/kernel/xid_table.h"

namespace muster {
namespace {

struct KindRow {
  KernelEventKind kind;
  Cause cause;
  Severity severity;
  Confidence confidence;
  Action first, then;
  std::string_view meaning;
};

using Kind = KernelEventKind;

// Kinds that need no look into the line. Links go down in every boot and with every replugged
// cable, a blocked task waits for something else: they are low, whatever they cost.
constexpr KindRow kKinds[] = {
    {Kind::gpu_lost, Cause::gpu_fell_off_bus, Severity::critical, Confidence::high,
     Action::drain_host, Action::power_cycle_host, "the GPU does not answer on PCIe any more"},
    {Kind::gpu_init_failed, Cause::undetermined, Severity::critical, Confidence::medium,
     Action::drain_host, Action::reset_gpu, "the driver could not start the GPU"},
    {Kind::driver_mismatch, Cause::driver_library_mismatch, Severity::critical, Confidence::high,
     Action::refuse_launch, Action::reboot_host,
     "programs bring another version of the driver than the kernel has loaded"},
    {Kind::driver_noise, Cause::harmless_message, Severity::ok, Confidence::high, Action::none,
     Action::none, "a line of a driver that is known to mean nothing"},
    {Kind::pcie_limited, Cause::pcie_link_degraded, Severity::warning, Confidence::medium,
     Action::check_power_cooling, Action::recheck, "a PCIe link runs below what its device can do"},
    {Kind::link_down, Cause::ib_link_faulty, Severity::critical, Confidence::low,
     Action::check_link, Action::watch, "a network link went down"},
    {Kind::link_up, Cause::undetermined, Severity::info, Confidence::low, Action::none,
     Action::none, "a network link came up"},
    {Kind::cable_fault, Cause::ib_link_faulty, Severity::critical, Confidence::medium,
     Action::check_link, Action::none, "a cable or its module is gone or reports an error"},
    {Kind::oom_kill, Cause::host_oom_killed, Severity::critical, Confidence::high,
     Action::reduce_memory, Action::raise_limit, "the kernel killed a process to free memory"},
    {Kind::hung_task, Cause::undetermined, Severity::warning, Confidence::low,
     Action::collect_evidence, Action::watch,
     "a process has waited for minutes inside the kernel, mostly for storage or a driver"},
    {Kind::lockup, Cause::undetermined, Severity::warning, Confidence::medium,
     Action::collect_evidence, Action::watch, "a processor core did not get on for seconds"},
    {Kind::segfault, Cause::undetermined, Severity::info, Confidence::medium, Action::fix_code,
     Action::none, "a program touched memory that is not its own and was ended"},
    {Kind::cpu_throttled, Cause::undetermined, Severity::warning, Confidence::medium,
     Action::check_power_cooling, Action::watch, "a processor got too hot and slowed down"},
    {Kind::fs_error, Cause::undetermined, Severity::critical, Confidence::medium,
     Action::collect_evidence, Action::replace_disk, "a file system reports damage"},
    {Kind::server_lost, Cause::storage_server_lost, Severity::critical, Confidence::medium,
     Action::repair_storage, Action::restart_from_checkpoint, "a file server does not answer"},
    {Kind::server_back, Cause::storage_pause_recovered, Severity::info, Confidence::medium,
     Action::watch, Action::none, "a file server answers again"},
};

void take_row(KernelJudgement& out, const KindRow& row) {
  out = {row.cause, row.severity, row.confidence, row.first, row.then, std::string(row.meaning)};
}

KernelJudgement nvlink_of(const KernelEvent& event) {
  const KernelJudgement down = {Cause::nvlink_down, Severity::critical, Confidence::high,
                                Action::drain_host, Action::reset_gpu,  "an NVLink is lost"};
  const KernelJudgement minor = {
      Cause::nvlink_nonfatal, Severity::info, Confidence::high,
      Action::watch,          Action::none,   "an NVLink event from which the link recovered"};
  const bool told_fatal = event.grade == KernelGrade::fatal;
  const NvlinkRow* row = event.nvlink ? find_nvlink5(*event.code, *event.nvlink) : nullptr;
  KernelJudgement out = told_fatal ? down : minor;
  if (row == nullptr) {
    out.confidence = event.grade ? Confidence::medium : Confidence::low;
    return out;
  }
  // Where the word of the line and the table contradict each other, neither accuses a GPU.
  const bool reset = row->action == NvlinkDo::reset;
  if (reset != told_fatal) {
    out = down;
    out.confidence = Confidence::low;
  }
  if (row->look == NvlinkLook::cables || row->look == NvlinkLook::signal) {
    out.then = Action::check_link;
  }
  return out;
}

KernelJudgement recovery_of(GpuRecovery recovery) {
  if (recovery == GpuRecovery::none) {
    return {Cause::harmless_message,
            Severity::ok,
            Confidence::high,
            Action::none,
            Action::none,
            "the driver wants nothing done to the GPU any more"};
  }
  KernelJudgement out{.cause = Cause::undetermined,
                      .severity = Severity::critical,
                      .confidence = Confidence::high,
                      .first = Action::drain_host,
                      .then = Action::reset_gpu,
                      .meaning = fmt::format("the driver says: {}", recovery_meaning(recovery))};
  if (recovery == GpuRecovery::reboot_node) out.then = Action::reboot_host;
  if (recovery == GpuRecovery::recover_imex_domain) out.then = Action::start_service;
  if (recovery == GpuRecovery::drain_p2p) out.then = Action::collect_evidence;
  return out;
}

KernelJudgement xid_of(const KernelEvent& event) {
  const XidRow* row = event.code ? find_xid(*event.code) : nullptr;
  if (row == nullptr) return {.meaning = "an Xid that this program does not know"};
  if (row->code == 154 && event.recovery) return recovery_of(*event.recovery);
  if (row->code >= 144 && row->code <= 150) return nvlink_of(event);
  const XidAdvice& advice = row->advice;
  KernelJudgement out{advice.cause, advice.severity, advice.confidence,
                      advice.first, advice.then,     std::string(row->meaning)};
  if (event.caused_by)
    out.meaning += fmt::format("; it names Xid {} as the reason", *event.caused_by);
  return out;
}

KernelJudgement sxid_of(const KernelEvent& event) {
  const SxidRow* row = event.code ? find_sxid(*event.code) : nullptr;
  const SxidClass listed = row != nullptr ? row->grade : SxidClass::unlisted;
  const std::string_view unit = event.code ? sxid_unit(*event.code) : "";
  const std::string where =
      row != nullptr ? fmt::format(" ({}: {})", unit, row->name) : std::string();
  if (event.grade == KernelGrade::fatal || listed == SxidClass::fatal) {
    const bool agreed = event.grade == KernelGrade::fatal;
    return {Cause::nvlink_down, Severity::critical,  agreed ? Confidence::high : Confidence::low,
            Action::drain_host, Action::reboot_host, "an NVSwitch reports a fatal error" + where};
  }
  if (listed == SxidClass::maybe_fatal) {
    return {Cause::nvlink_nonfatal, Severity::info,
            Confidence::low,        Action::watch,
            Action::none,           "an NVSwitch reports an error that may cost traffic" + where};
  }
  const bool stalls = listed == SxidClass::stalling;
  return {Cause::harmless_message,
          Severity::ok,
          stalls ? Confidence::low : Confidence::medium,
          stalls ? Action::watch : Action::none,
          Action::none,
          (stalls ? "a switch message that matters only where traffic stands still"
                  : "a switch message that it calls not fatal") +
              where};
}

// Corrected errors are counted, not acted on; what a host could not correct is.
KernelJudgement graded(const KernelEvent& event, std::string_view part) {
  const KernelGrade grade = event.grade.value_or(KernelGrade::corrected);
  if (grade == KernelGrade::corrected) {
    return {Cause::undetermined, Severity::info, Confidence::medium,
            Action::watch,       Action::none,   fmt::format("{} corrected an error", part)};
  }
  if (grade == KernelGrade::nonfatal) {
    return {Cause::undetermined, Severity::warning,
            Confidence::medium,  Action::collect_evidence,
            Action::watch,       fmt::format("{} reports an error that it did not correct", part)};
  }
  return {Cause::undetermined,      Severity::critical,
          Confidence::medium,       Action::drain_host,
          Action::collect_evidence, fmt::format("{} reports a fatal error", part)};
}

KernelJudgement lost_device_of(const KernelEvent& event) {
  KernelJudgement out{.cause = Cause::undetermined,
                      .severity = Severity::critical,
                      .confidence = Confidence::low,
                      .first = Action::collect_evidence,
                      .then = Action::drain_host,
                      .meaning = "a PCIe device does not answer"};
  if (event.device == "nvidia") out.cause = Cause::gpu_fell_off_bus;
  if (event.device == "nvme") out.cause = Cause::nvme_failing;
  if (out.cause != Cause::undetermined) out.confidence = Confidence::medium;
  return out;
}

// Drivers and names of what carries a run's traffic: adapters of InfiniBand, RoCE and their kind.
constexpr std::string_view kFabricDrivers[] = {"mlx4_core", "mlx4_en", "mlx5_core", "ib_ipoib",
                                               "bnxt_en",   "irdma",   "hfi1",      "efa"};
// What carries none of it: the network of a management controller hangs on USB.
constexpr std::string_view kAsideDrivers[] = {"cdc_ether",  "cdc_ncm", "cdc_eem", "cdc_subset",
                                              "rndis_host", "r8152",   "asix",    "ax88179_178a"};

template <std::size_t N>
bool one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// A queue that hung: "NETDEV WATCHDOG: eth0 (ixgbe): ...", "NETDEV WATCHDOG: CPU: 3: eth0 ...".
// Which interface a run goes over, a kernel log does not tell.
KernelJudgement nic_of(const KernelEvent& event) {
  KernelJudgement out{.cause = Cause::undetermined,
                      .severity = Severity::critical,
                      .confidence = Confidence::medium,
                      .first = Action::collect_evidence,
                      .then = Action::drain_host,
                      .meaning = "a network adapter reports a fault of its own"};
  if (event.text.find("NETDEV WATCHDOG") == std::string::npos) return out;
  const std::string_view text = event.text;
  const std::size_t open = text.find('(');
  const std::string_view driver = open == text.npos
                                      ? text.substr(0, 0)
                                      : text.substr(open + 1, text.find(')', open) - open - 1);
  const std::string_view name = event.device;
  if (one_of(kFabricDrivers, driver) || name.starts_with("ib")) return out;
  const bool aside = one_of(kAsideDrivers, driver) || name.starts_with("usb") ||
                     name.starts_with("enx") || name.starts_with("wl");
  if (aside) {
    return {Cause::harmless_message,
            Severity::ok,
            Confidence::medium,
            Action::none,
            Action::none,
            "a network device on USB or radio hung (as a rule the management controller's): no "
            "traffic of a run goes over it"};
  }
  out.severity = Severity::warning;
  out.confidence = Confidence::low;
  out.then = Action::watch;
  out.meaning = "a queue of a network adapter hung; whether a run uses it is not told";
  return out;
}

}  // namespace

KernelJudgement cause_of(const KernelEvent& event) {
  switch (event.kind) {
    case Kind::xid:
      return xid_of(event);
    case Kind::sxid:
      return sxid_of(event);
    case Kind::pcie_error:
      return graded(event, "a PCIe device");
    case Kind::machine_check:
      return graded(event, "the processor");
    case Kind::memory_error:
      return graded(event, "host memory");
    case Kind::device_lost:
      return lost_device_of(event);
    case Kind::nic_fault:
      return nic_of(event);
    case Kind::disk_error:
      if (event.device.starts_with("nvme")) {
        return {Cause::nvme_failing, Severity::critical,
                Confidence::medium,  Action::replace_disk,
                Action::drain_host,  "a local disk does not answer or cannot read"};
      }
      return {Cause::undetermined,      Severity::warning,    Confidence::medium,
              Action::collect_evidence, Action::replace_disk, "a block device reports errors"};
    default:
      break;
  }
  KernelJudgement out;
  for (const KindRow& row : kKinds) {
    if (row.kind == event.kind) take_row(out, row);
  }
  // Every boot prints the bandwidth of a slot that was never as wide as its card.
  const bool by_design =
      event.kind == Kind::pcie_limited && event.text.find("limited width") == std::string::npos;
  if (by_design) out.confidence = Confidence::low;
  return out;
}

}  // namespace muster
