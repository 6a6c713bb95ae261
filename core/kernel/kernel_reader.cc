#include "core/kernel/kernel_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/kernel/anchors.h"
#include "core/kernel/kernel_envelope.h"
#include "core/kernel/kernel_forms.h"

namespace muster {
namespace {

using Kind = KernelEventKind;

// Lines that say one thing twice follow each other at once; a minute is for logs that are slow.
constexpr Duration kTogether = std::chrono::minutes(1);
constexpr std::uint64_t kTogetherLines = 64;

// Whether two times of one log lie within a minute; without times nothing speaks against it.
bool near(const KernelTime& a, const KernelTime& b) {
  if (a.since_boot && b.since_boot) {
    return std::chrono::abs(*a.since_boot - *b.since_boot) <= kTogether;
  }
  if (a.at && b.at) return std::chrono::abs(*a.at - *b.at) <= kTogether;
  return true;
}

// "0000:3b:00" of "NVRM: GPU at PCI:0000:3b:00: GPU-7e57a36f-..."; the rest stays in `text`.
std::string_view take_word(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return {};
  std::string_view rest = text.substr(before.size());
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  text = rest.substr(end);
  return word;
}

bool is_loss(const KernelEvent& event) {
  return event.kind == Kind::gpu_lost || (event.kind == Kind::xid && event.code == 79);
}

}  // namespace

struct KernelReader::State {
  explicit State(Options given) : options(std::move(given)), envelope(options.written) {}

  struct Part {
    std::size_t last = 0;   // its newest event
    std::size_t count = 0;  // of its events that are kept
  };
  // What an earlier line tells about one that comes.
  struct Pending {
    std::string host, value;
    std::uint64_t line = 0;

    bool fits(std::string_view of_host, std::uint64_t number, std::uint64_t lines) const {
      return line != 0 && of_host == host && number - line <= lines;
    }
  };

  bool message(const KernelLine& read, std::uint64_t number);
  bool take_hint(const KernelLine& read, std::uint64_t number);
  void take(KernelEvent event);
  bool fold_loss(const KernelEvent& event);
  bool fold_kill(KernelEvent& event);
  void keep(KernelEvent event);

  Options options;
  KernelEnvelope envelope;
  KernelReading reading;
  std::unordered_map<std::string, Part> parts;
  std::unordered_map<std::string, std::string> uuids;   // by host and PCI address
  std::unordered_map<std::string, std::size_t> losses;  // by host and PCI address -> event
  std::optional<std::size_t> last_kill;
  Pending limited_group;  // "Task in ... killed as a result of limit of GROUP"
  Pending block;          // "The NVIDIA GPU 0000:18:00.0": the rest stands on the next lines
};

// Lines that are no events and explain others.
bool KernelReader::State::take_hint(const KernelLine& read, std::uint64_t number) {
  std::string_view text = read.message;
  if (const std::string_view pci = take_word(text, "NVRM: GPU at PCI:"); pci.ends_with(':')) {
    const std::string address = normal_pci(pci.substr(0, pci.size() - 1));
    if (address.empty() || !text.starts_with(" GPU-") || text.size() > 64) return false;
    if (uuids.size() < limits::kSeries) uuids[read.host + ' ' + address] = text.substr(1);
    return true;
  }
  if (const std::string_view pci = take_word(text, "NVRM: The NVIDIA GPU "); !pci.empty()) {
    block = {read.host, normal_pci(pci), number};
    return true;
  }
  constexpr std::string_view kLimit = "killed as a result of limit of ";
  if (const std::size_t at = text.find(kLimit);
      text.starts_with("Task in ") && at != std::string_view::npos) {
    const std::string_view group = text.substr(at + kLimit.size());
    limited_group = {read.host, std::string(group.substr(0, limits::kEvidenceChars)), number};
    return true;
  }
  return false;
}

bool KernelReader::State::message(const KernelLine& read, std::uint64_t number) {
  if (take_hint(read, number)) return true;
  std::optional<KernelEvent> event = read_kernel_message(read.message);
  constexpr std::uint64_t kBlockLines = 4;
  if (!event && read.message.find("fallen off the bus and is not") != std::string_view::npos &&
      read.message.starts_with("NVRM: ") && block.fits(read.host, number, kBlockLines)) {
    event.emplace();
    event->kind = Kind::gpu_lost;
    event->code = 79;
    event->pci = block.value;
    event->text = whole_characters(read.message, limits::kEvidenceChars);
  }
  if (!event) return false;
  event->time = event->last = read.time;
  event->host = read.host;
  event->line = number;
  take(std::move(*event));
  return true;
}

void KernelReader::State::take(KernelEvent event) {
  if (is_loss(event) && fold_loss(event)) return;
  if (event.kind == Kind::oom_kill && fold_kill(event)) return;
  keep(std::move(event));
}

// One loss of a GPU is told up to four times. The line with the number is worth most.
bool KernelReader::State::fold_loss(const KernelEvent& event) {
  const auto found = losses.find(event.host + ' ' + event.pci);
  if (found == losses.end()) return false;
  KernelEvent& before = reading.events[found->second];
  if (!near(before.last, event.time)) return false;
  if (before.kind == Kind::gpu_lost && event.kind == Kind::xid) {
    before.kind = Kind::xid;
    before.text = event.text;
    before.line = event.line;
    before.pid = event.pid;
    before.process = event.process;
    return true;
  }
  return event.kind == Kind::gpu_lost;
}

// "oom-kill:" names the group, "Kill process" the victim, "Killed process" both or neither.
bool KernelReader::State::fold_kill(KernelEvent& event) {
  if (event.device.empty() && limited_group.fits(event.host, event.line, kTogetherLines)) {
    event.device = limited_group.value;
  }
  limited_group.line = 0;
  if (!last_kill) return false;
  KernelEvent& before = reading.events[*last_kill];
  const bool same = before.host == event.host && before.pid == event.pid &&
                    event.line - before.line <= kTogetherLines && near(before.time, event.time);
  if (!same) return false;
  if (before.device.empty()) before.device = event.device;
  before.text = event.text;  // the later ones tell how much memory it had
  before.line = event.line;
  return true;
}

void KernelReader::State::keep(KernelEvent event) {
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : "-"; };
  const std::string key = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(event.kind), event.host, event.pci,
      event.device, number(event.code), number(event.pid), number(event.link),
      number(event.caused_by), event.grade ? static_cast<int>(*event.grade) : -1,
      event.recovery ? static_cast<int>(*event.recovery) : -1);
  const auto known = parts.find(key);
  if (known != parts.end() && known->second.count >= limits::kKernelEventsOfPart) {
    KernelEvent& last = reading.events[known->second.last];
    ++last.repeats;
    last.last = event.time;
    return;
  }
  if (reading.events.size() >= limits::kKernelEvents) {
    ++reading.not_kept;
    return;
  }
  if (const auto uuid = uuids.find(event.host + ' ' + event.pci); uuid != uuids.end()) {
    event.gpu_uuid = uuid->second;
  }
  const std::size_t index = reading.events.size();
  Part& part = parts[key];
  part = {index, part.count + 1};
  if (is_loss(event)) losses[event.host + ' ' + event.pci] = index;
  if (event.kind == Kind::oom_kill) last_kill = index;
  reading.events.push_back(std::move(event));
}

KernelReader::KernelReader(Options options) : state_(std::make_unique<State>(std::move(options))) {}
KernelReader::~KernelReader() = default;
KernelReader::KernelReader(KernelReader&&) noexcept = default;
KernelReader& KernelReader::operator=(KernelReader&&) noexcept = default;

bool KernelReader::line(std::string_view text, std::uint64_t number) {
  state_->envelope.follow(text);
  if (!has_kernel_anchor(text)) return false;
  KernelLine read = state_->envelope.read(text);
  if (read.host.empty()) read.host = state_->options.host;
  return state_->message(read, number);
}

KernelReading KernelReader::finish() {
  // An event that took over a later line stands where that line does.
  std::stable_sort(state_->reading.events.begin(), state_->reading.events.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.line < b.line; });
  return std::exchange(state_->reading, {});
}

bool shows_steps(std::string_view head) {
  for (const std::string_view line : split(head, '\n')) {
    const std::size_t at = line.starts_with('[') ? line.find_first_not_of(' ', 1) : line.npos;
    if (at != line.npos && line[at] == '+') return true;
  }
  return false;
}

}  // namespace muster
