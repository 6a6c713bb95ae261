#include "core/kernel/kernel_forms.h"

#include <re2/re2.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

using Kind = KernelEventKind;
using Piece = re2::StringPiece;

constexpr auto kCorrected = KernelGrade::corrected;
constexpr auto kNonfatal = KernelGrade::nonfatal;
constexpr auto kFatal = KernelGrade::fatal;

struct Form {
  Kind kind;
  std::string_view word;  // in every message of this form: looked for before the pattern
  const char* pattern;    // of the whole message; its named groups are members of KernelEvent
  std::optional<KernelGrade> grade = std::nullopt;  // where the form itself is one
};

#define PCI "(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-7])?)"
#define DISK "(?P<device>[\\w-]{1,64})"

// Texts as the kernel and its drivers print them; numbers of a cut line are not taken for whole
// ones: what follows them is part of the pattern.
constexpr Form kForms[] = {
    // GPU. Old drivers have no "PCI:", drivers before 570 always have pid and name, and one kind of
    // MIG line has a letter behind the number of the instance.
    {Kind::xid, "Xid (",
     "NVRM: Xid \\((?:PCI:)?" PCI "(?: GPU-I:(?:[0-9a-fA-F]{2}u|(?P<gi>[0-9a-fA-F]{2})))?"
     "(?: GPU-CI:(?:[0-9a-fA-F]{2}u|(?P<ci>[0-9a-fA-F]{2})))?\\): (?P<code>\\d{1,5}), "
     "(?:pid=(?P<pid>[^,]{1,32}), )?(?:name=(?P<name>[^,]{0,64}), )?(?P<rest>.*)"},
    {Kind::gpu_lost, "fallen off the bus",
     "NVRM: GPU (?:at )?(?:PCI:)?" PCI ": GPU has fallen off the bus.*"},
    {Kind::gpu_init_failed, "RmInitAdapter", "NVRM: GPU " PCI ": RmInitAdapter failed.*"},
    {Kind::gpu_init_failed, "probe of ", "nvidia: probe of " PCI " failed with error -\\d+.*"},
    {Kind::driver_mismatch, "API mismatch", "NVRM: API mismatch: .*"},
    {Kind::driver_noise,
     "NVRM: ", "NVRM: (?:kceIsGenXorHigherSupported|nvAssert(?:Ok)?Failed|nvCheck(?:Ok)?Failed).*"},
    {Kind::sxid, "SXid (",
     "nvidia-(?P<device>nvswitch\\d{1,4}): SXid \\(PCI:" PCI
     "\\): (?P<code>\\d{1,5}), (?P<grade>Fatal|Non-fatal), (?:Link (?P<link>\\d{1,4}) )?.*"},
    // PCIe
    {Kind::pcie_error, "PCIe Bus Error",
     "[\\w-]+ " PCI ": PCIe Bus Error: severity=(?P<grade>[A-Za-z() -]{1,40}), .*"},
    {Kind::pcie_error, "containment event", "[\\w-]+ " PCI ": DPC: containment event.*", kFatal},
    {Kind::pcie_limited, "limited width", "[\\w-]+ " PCI ".*limited width: x\\d+ < x\\d+.*"},
    {Kind::pcie_limited, "available PCIe",
     "[\\w-]+ " PCI ": [\\d.]+ Gb/s available PCIe bandwidth, limited by .*"},
    {Kind::device_lost, "inaccessible",
     DISK " " PCI ": .*power state.*(?:config space|device) inaccessible.*"},
    // Network
    {Kind::cable_fault, "Port module event",
     "mlx5_core " PCI
     "[^:]*: Port module event(?:\\[error\\])?: module \\d+, Cable (?:unplugged|error).*"},
    {Kind::link_down, "Link ",
     "\\w+ " PCI
     "(?:[: ]+(?P<device>[\\w.@-]{1,64}))?: (?:\\w+: [\\w.@-]+ )?(?:NIC )?Link (?:is )?[Dd]own.*"},
    {Kind::link_up, "Link ",
     "\\w+ " PCI
     "(?:[: ]+(?P<device>[\\w.@-]{1,64}))?: (?:\\w+: [\\w.@-]+ )?(?:NIC )?Link (?:is )?[Uu]p.*"},
    {Kind::link_down, "Link is Down", "(?:\\w+: )?" DISK ":? (?:NIC )?Link is Down.*"},
    {Kind::link_up, "Link is Up", "(?:\\w+: )?" DISK ":? (?:NIC )?Link is Up.*"},
    {Kind::link_down, "link status",
     "\\S+: \\(slave " DISK "\\): link status (?:definitely )?down.*"},
    {Kind::link_up, "link status", "\\S+: \\(slave " DISK "\\): link status definitely up.*"},
    {Kind::driver_noise, "ACCESS_REG", "mlx5_core " PCI ": mlx5_cmd.*ACCESS_REG\\(.*"},
    {Kind::nic_fault, "mlx5_core",
     "mlx5_core " PCI ".*(?:health compromised|High temperature on "
     "sensors|wait_func.*[Tt]imeout|insufficient power on the PCIe slot).*"},
    {Kind::nic_fault, "NETDEV WATCHDOG",
     "NETDEV WATCHDOG: (?:CPU: \\d+: )?" DISK " .*transmit queue \\d+ timed out.*"},
    // Processes and memory
    {Kind::oom_kill, " of memory: Kill",
     "(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process (?P<pid>\\d{1,10}),? "
     "(?:UID \\d+, )?\\((?P<name>.{0,64}?)\\),? .*"},
    {Kind::oom_kill, "Killed process",
     "Killed process (?P<pid>\\d{1,10}),? (?:UID \\d+, )?\\((?P<name>.{0,64}?)\\),? .*"},
    {Kind::oom_kill, "oom-kill:",
     "oom-kill:.*,task_memcg=(?P<device>[^,]{0,512}),task=(?P<name>[^,]{0,64}),"
     "pid=(?P<pid>\\d{1,10}),.*"},
    {Kind::hung_task, "blocked for more than",
     "INFO: task (?P<name>.{1,64}):(?P<pid>\\d{1,10}) blocked for more than \\d+ seconds.*"},
    {Kind::lockup, "soft lockup",
     "(?:NMI )?(?:watchdog: )?BUG: soft lockup - CPU#\\d+ stuck for \\d+s! "
     "\\[(?P<name>.{1,64}):(?P<pid>\\d{1,10})\\].*"},
    {Kind::lockup, "hard LOCKUP", "(?:NMI )?watchdog: Watchdog detected hard LOCKUP.*"},
    {Kind::lockup, "self-detected stall", "(?:rcu: )?INFO: .* self-detected stall on CPU.*"},
    {Kind::segfault, "segfault at", "(?P<name>.{1,64})\\[(?P<pid>\\d{1,10})\\]: segfault at .*"},
    {Kind::segfault, "general protection",
     "traps: (?P<name>.{1,64})\\[(?P<pid>\\d{1,10})\\] general protection.*"},
    // Host hardware
    {Kind::machine_check, "Machine check events",
     "(?:mce: )?\\[Hardware Error\\]: Machine check events logged.*", kCorrected},
    {Kind::machine_check, "Machine Check",
     "(?:mce: )?\\[Hardware Error\\]: CPU \\d+: Machine Check Exception: .*", kFatal},
    {Kind::machine_check, "Machine Check",
     "(?:mce: )?\\[Hardware Error\\]: CPU \\d+: Machine Check: .*", kNonfatal},
    {Kind::machine_check, "event severity",
     "(?:\\{\\d+\\})?\\[Hardware Error\\]: event severity: (?P<grade>\\w{1,20}).*"},
    {Kind::memory_error, "EDAC MC", "EDAC (?P<device>MC\\d+): \\d+ (?P<grade>CE|UE) .*"},
    {Kind::cpu_throttled, "throttled",
     "(?:mce: )?CPU\\d+: (?:Core|Package) temperature(?:/speed)? above threshold, cpu clock "
     "throttled.*"},
    // Storage
    {Kind::disk_error, "nvme nvme",
     "nvme (?P<device>nvme\\d{1,4}): (?:I/O .*timeout|controller is down|frozen state error "
     "detected|Removing after probe "
     "failure|Device not ready|Disabling device after reset failure).*"},
    {Kind::disk_error, " error, dev ",
     "(?:\\w+: )?(?:I/O|critical (?:medium|target)) error, dev " DISK ", .*"},
    {Kind::disk_error, "rejecting I/O",
     "sd [\\d:]+: (?:\\[(?P<device>\\w{1,64})\\] )?rejecting I/O to (?:offline|dead) device.*"},
    {Kind::disk_error, ": disabled", "(?P<device>ata\\d{1,4})\\.\\d\\d: disabled"},
    {Kind::fs_error, "fs error (device",
     "(?:EXT\\d-fs|F2FS-fs) error \\(device (?P<device>[^)]{1,64})\\).*"},
    {Kind::fs_error, "Remounting filesystem",
     "EXT\\d-fs \\((?P<device>[^)]{1,64})\\): Remounting filesystem read-only.*"},
    {Kind::fs_error, "XFS (",
     "XFS \\((?P<device>[^)]{1,64})\\): .*(?:[Cc]orrupt|I/O [Ee]rror|[Ss]hut(?:ting)? ?down).*"},
    {Kind::fs_error, "BTRFS error", "BTRFS error \\(device (?P<device>[^) ]{1,64})[^)]*\\).*"},
    {Kind::server_lost, "nfs: server",
     "nfs: server (?P<device>\\S{1,255}) not responding, (?:still trying|timed out).*"},
    {Kind::server_back, "nfs: server", "nfs: server (?P<device>\\S{1,255}) OK.*"},
    {Kind::server_lost, "Connection to ",
     "Lustre: .*Connection to \\S+ \\(at (?P<device>[^)]{1,255})\\) was lost.*"},
    {Kind::server_back, "Connection restored to ",
     "Lustre: .*Connection restored to .*\\(at (?P<device>[^)]{1,255})\\).*"},
};

#undef PCI
#undef DISK

enum Group { kPci, kCode, kPid, kName, kDevice, kLink, kGrade, kGi, kCi, kRest, kGroups };
constexpr std::array<std::string_view, kGroups> kGroupNames = {
    "pci", "code", "pid", "name", "device", "link", "grade", "gi", "ci", "rest"};

constexpr std::size_t kMostGroups = 12;  // of one pattern, with the whole

struct Compiled {
  const Form* form;
  std::unique_ptr<RE2> pattern;
  std::array<int, kGroups> group{};  // its number in the pattern; 0: not there
};

// Bytes that are no text must not hide what stands beside them.
RE2::Options any_bytes() {
  RE2::Options options(RE2::Latin1);
  options.set_dot_nl(true);
  return options;
}

std::vector<Compiled> compile() {
  std::vector<Compiled> out;
  for (const Form& form : kForms) {
    Compiled compiled{.form = &form, .pattern = std::make_unique<RE2>(form.pattern, any_bytes())};
    const auto& named = compiled.pattern->NamedCapturingGroups();
    for (std::size_t i = 0; i < kGroups; ++i) {
      const auto at = named.find(std::string(kGroupNames[i]));
      if (at != named.end()) compiled.group[i] = at->second;
    }
    out.push_back(std::move(compiled));
  }
  return out;
}

KernelGrade grade_of(std::string_view word) {
  const std::string lower = to_lower(word);
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (has("non-fatal") || has("nonfatal") || has("recoverable")) return kNonfatal;
  if (has("fatal") || has("uncorrect") || lower == "ue") return kFatal;
  return kCorrected;
}

std::optional<std::int32_t> small(std::string_view digits) {
  const auto value = parse_int(digits);
  if (!value || *value < 0 || *value > 1'000'000) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<std::int32_t> hex(std::string_view digits) {
  const auto value = parse_hex("0x" + std::string(digits));
  if (!value) return std::nullopt;
  return static_cast<std::int32_t>(*value & 0xffff);
}

std::string bounded(std::string_view text) {
  return std::string(whole_characters(text, limits::kEvidenceChars));
}

// What stands behind the number of an Xid and is a value, not a text.
void read_xid_text(std::string_view rest, KernelEvent& event) {
  static const RE2 kCausedBy(".*caused by previous Xid (\\d{1,5})\\b.*", any_bytes());
  static const RE2 kRecovery(".* to 0x([0-9a-fA-F]{1,4}) \\(.*", any_bytes());
  static const RE2 kWords(
      "([A-Za-z0-9_/ ]{1,64}?) (Fatal|Non-?fatal) XC\\d i\\d Link (-?\\d{1,4}) "
      "\\((0x[0-9a-fA-F]{1,8}) (0x[0-9a-fA-F]{1,8})\\b.*",
      any_bytes());
  static const RE2 kLink(".*[Ll]ink (\\d{1,4})\\b.*", any_bytes());
  const Piece text(rest.data(), rest.size());
  const std::int32_t code = event.code.value_or(0);
  Piece first, grade, link, info, status;
  const auto view = [](const Piece& piece) { return std::string_view(piece.data(), piece.size()); };
  if (code == 45 && RE2::FullMatch(text, kCausedBy, &first)) event.caused_by = small(view(first));
  if (code == 154 && RE2::FullMatch(text, kRecovery, &first)) {
    const auto value = hex(view(first));
    if (value && *value <= static_cast<int>(GpuRecovery::recover_imex_domain)) {
      event.recovery = static_cast<GpuRecovery>(*value);
    }
  }
  if (code == 74 && RE2::FullMatch(text, kLink, &first)) event.link = small(view(first));
  if (code < 144 || code > 150) return;
  if (!RE2::FullMatch(text, kWords, &first, &grade, &link, &info, &status)) return;
  event.grade = grade_of(view(grade));
  event.link = small(view(link));  // -1: of no link
  event.nvlink =
      NvlinkWords{.unit = std::string(view(first)),
                  .interrupt_info = static_cast<std::uint32_t>(parse_hex(view(info)).value_or(0)),
                  .error_status = static_cast<std::uint32_t>(parse_hex(view(status)).value_or(0))};
}

// Devices without a medium answer every read with an error.
bool is_no_disk(std::string_view device) {
  return device.starts_with("fd") || device.starts_with("sr") || device.starts_with("loop");
}

KernelEvent event_of(const Compiled& compiled, std::string_view message,
                     std::span<const Piece> found) {
  const auto text = [&](Group group) -> std::string_view {
    const int at = compiled.group[group];
    if (at == 0 || found[static_cast<std::size_t>(at)].data() == nullptr) return {};
    const Piece& piece = found[static_cast<std::size_t>(at)];
    return {piece.data(), piece.size()};
  };
  KernelEvent event;
  event.kind = compiled.form->kind;
  event.grade = compiled.form->grade;
  event.pci = normal_pci(text(kPci));
  event.code = small(text(kCode));
  event.pid = parse_int(text(kPid));  // "'<unknown>'" is no number
  if (const std::string_view name = text(kName); name != "<unknown>") event.process = name;
  event.device = text(kDevice);
  event.link = small(text(kLink));
  if (!text(kGrade).empty()) event.grade = grade_of(text(kGrade));
  event.gpu_instance = hex(text(kGi));
  event.compute_instance = hex(text(kCi));
  event.text = bounded(message);
  if (event.kind == Kind::xid) read_xid_text(text(kRest), event);
  if (event.kind == Kind::gpu_lost) event.code = 79;
  return event;
}

}  // namespace

std::optional<KernelEvent> read_kernel_message(std::string_view message) {
  static const std::vector<Compiled> kCompiled = compile();
  const Piece text(message.data(), message.size());
  for (const Compiled& compiled : kCompiled) {
    if (message.find(compiled.form->word) == std::string_view::npos) continue;
    std::array<Piece, kMostGroups> found;
    const int groups = compiled.pattern->NumberOfCapturingGroups() + 1;
    MUSTER_CHECK(groups <= static_cast<int>(kMostGroups), "a place for every group");
    if (!compiled.pattern->Match(text, 0, text.size(), RE2::ANCHOR_BOTH, found.data(), groups)) {
      continue;
    }
    KernelEvent event = event_of(compiled, message, found);
    if (event.kind == Kind::disk_error && is_no_disk(event.device)) return std::nullopt;
    return event;
  }
  return std::nullopt;
}

std::string normal_pci(std::string_view text) {
  std::string out = to_lower(text);
  const std::size_t domain = out.find(':');
  if (domain != 4 && domain != 8) return {};
  const std::string_view rest = std::string_view(out).substr(domain);
  // ":3b:00" or ":3b:00.0"
  constexpr std::string_view kShape = ":hh:hh.o";
  if (rest.size() != 6 && rest.size() != kShape.size()) return {};
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (std::size_t i = 0; i < domain; ++i) {
    if (!is_hex(out[i])) return {};
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char shape = kShape[i];
    const bool fits = shape == 'h'   ? is_hex(rest[i])
                      : shape == 'o' ? rest[i] >= '0' && rest[i] <= '7'
                                     : rest[i] == shape;
    if (!fits) return {};
  }
  if (rest.size() == 6) out += ".0";
  if (domain == 8 && out.starts_with("0000")) out.erase(0, 4);
  return out;
}

}  // namespace muster
