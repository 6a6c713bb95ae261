#include "app/log_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "app/line_fold.h"
#include "app/log_line_reader.h"
#include "base/anchored_lines.h"
#include "base/colours.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/utf16.h"
#include "core/comms/witness_log_event.h"
#include "core/explain/event_keeper.h"
#include "core/kernel/anchors.h"
#include "core/kernel/kernel_log_event.h"
#include "core/kernel/kernel_reader.h"
#include "core/progress/progress_log_event.h"
#include "core/progress/progress_words.h"

namespace muster {
namespace {

// Where the first and the last stamp of a log are looked for.
constexpr std::size_t kStampBytes = 8 * 1024;
constexpr std::size_t kStepFront = 96;          // a stamp and the name of who speaks
constexpr std::uint64_t kTracebackLines = 200;  // longer ones are frames of frames

// Witnesses that a rule which knows the line says more of.
bool rules_know_more(const LogEvent& event) {
  for (const std::string_view name :
       {"exception", "network_error", "cuda_error", "gpu_oom", "gpu_lost", "killed", "crashed"}) {
    if (event.rule == name) return true;
  }
  return event.role == EventRole::teardown;
}

// Steps, or a loss in a form that tells no step, or the library under all of them.
bool shows_training(std::string_view text) {
  if (shows_steps(text) || text.find("NCCL INFO") != std::string_view::npos) return true;
  const std::string low = to_lower(text);
  for (const std::string_view word : {"loss: ", "loss/", "loss=", "loss':", "loss\":", "loss ",
                                      "nccl version", "training completed", "checkpoint"}) {
    if (low.find(word) != std::string::npos) return true;
  }
  return false;
}

// "[Sat Aug  1 03:11:40 2026] usb 1-1: ..." of dmesg -T, "Aug  1 03:11:40 n1 kernel: ..."
bool is_kernel_line(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const std::size_t close = line.find("] ");
  const auto time = close != std::string_view::npos && line.starts_with('[')
                        ? parse_timestamp(line.substr(1, close - 1))
                        : std::nullopt;
  const bool weekday = close == 25 && line.find(' ') == 4;
  return (time && weekday) || line.find(" kernel: ") != std::string_view::npos;
}

// What a reader of many lines knows of a line and the rule does not.
void complete(LogEvent& rule, LogEvent&& witness) {
  if (rule.host.empty()) rule.host = std::move(witness.host);
  if (!rule.rank) rule.rank = witness.rank;
  if (!rule.pid) rule.pid = witness.pid;
  if (!rule.time.at) rule.time = rule.last = witness.time;
  if (witness.text.size() > rule.text.size()) rule.text = std::move(witness.text);
}

}  // namespace

// ---- anchors -----------------------------------------------------------------------------------

std::vector<std::string> LogAnchors::collect() {
  std::vector<std::string> literals;
  std::map<std::string, std::size_t, std::less<>> known;
  const auto use_of = [&](std::string_view literal) -> Use& {
    const auto [found, fresh] = known.try_emplace(std::string(literal), literals.size());
    if (fresh) {
      literals.emplace_back(literal);
      uses_.emplace_back();
    }
    return uses_[found->second];
  };
  for (const std::string_view literal : kernel_anchors()) use_of(literal).kernel = true;
  for (const std::string_view literal : watchdog_anchors()) use_of(literal).comms = true;
  for (const std::string_view literal : event_words()) use_of(literal).event = true;
  for (const std::string_view literal : step_words()) use_of(literal).step = true;
  const auto& anchors = rules_.anchors();
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    use_of(anchors[i]).rule = static_cast<std::uint16_t>(i);
  }
  return literals;
}

LogAnchors::LogAnchors(const RuleMatcher& rules) : rules_(rules), search_(collect()) {}

// ---- one log -----------------------------------------------------------------------------------

struct LogScan::State {
  State(const LogAnchors& given, Options o);

  void bytes(std::string_view text);
  bool line(std::string_view text, std::uint64_t number, std::span<const std::uint16_t> literals);
  bool piece(std::string_view text, std::uint64_t number, std::span<const std::uint16_t> literals,
             const LogAnchors::Use& use);
  bool fold(std::string_view text, std::uint64_t number, std::span<const std::uint16_t> literals,
            const LogAnchors::Use& use);
  void unfold(const LineFold::Folded& one);
  void unfold_all();
  bool rules(std::string_view text, std::uint64_t number, std::span<const std::uint16_t> literals,
             bool in_traceback);
  void first_bytes(std::string_view text);
  void stamps();
  void note_step(std::uint64_t number);
  void stamp_from_above(std::vector<LogEvent>& events) const;
  void name_host(std::vector<LogEvent>& kernel_events);
  void add_witnesses(LogReading& reading, ScannedLog& out, std::vector<LogEvent> ruled);

  const LogAnchors& anchors;
  Options options;
  AnchoredLines lines;
  LineFold folded;
  LogLineReader envelope;
  KernelReader kernel;
  WatchdogReader watchdog;
  EventKeeper keeper;
  ProgressEvents progress;
  std::optional<Utf16Decoder> utf16;
  std::string head, tail, plain;
  std::string step;                          // the front of the last line of a step
  std::map<std::uint64_t, EventTime> above;  // by the first line of a traceback: of that step
  LogSource source;
  std::set<std::int32_t> ranks;  // that rules saw in lines; more than two are not counted
  std::uint64_t skipped = 0;     // lines like the one that is read, which were passed over
  std::vector<std::uint16_t> of_rules;
  bool begun = false;
};

LogScan::State::State(const LogAnchors& given, Options o)
    : anchors(given),
      options(std::move(o)),
      lines(given.search()),
      envelope(options.written),
      kernel({.host = options.host, .written = options.written}),
      watchdog({.source = options.name,
                .rank = options.rank,
                .written = options.written.value_or(WallTime{})}),
      progress(options.name, [this](LogEvent event) { keeper.add(std::move(event)); }) {
  source.name = options.name;
  source.host = options.host;
  source.rank = options.rank;
}

void LogScan::State::first_bytes(std::string_view text) {
  begun = true;
  head = text.substr(0, kStampBytes);
  if (shows_steps(head) || anchors.rules().needs_all_lines()) lines.want_all();
}

void LogScan::State::bytes(std::string_view text) {
  if (!begun) {
    if (Utf16Decoder::begins(text)) utf16.emplace();
    const auto order = Utf16Decoder::big_endian_without_mark(text.substr(0, kStampBytes));
    if (order) utf16.emplace(*order);
  }
  std::string decoded;
  if (utf16) {
    decoded = utf16->feed(text);
    text = decoded;
  }
  if (!begun) first_bytes(text);
  lines.feed(text, [this](std::string_view line_text, std::uint64_t number, auto literals) {
    return line(line_text, number, literals);
  });
  if (text.size() >= kStampBytes) {
    tail = text.substr(text.size() - kStampBytes);
  } else {
    tail += text;
    if (tail.size() > 2 * kStampBytes) tail.erase(0, tail.size() - kStampBytes);
  }
}

bool LogScan::State::line(std::string_view text, std::uint64_t number,
                          std::span<const std::uint16_t> literals) {
  if (text.find('\x1b') != std::string_view::npos || text.find('\0') != std::string_view::npos) {
    plain = without_colours(text);
    std::erase(plain, '\0');
    text = plain;
  }
  LogAnchors::Use use;
  for (const std::uint16_t literal : literals) {
    const LogAnchors::Use& one = anchors.use(literal);
    use.kernel |= one.kernel;
    use.comms |= one.comms;
    use.event |= one.event;
    use.step |= one.step;
    if (one.rule) use.rule = one.rule;
  }
  const bool dense = (use.comms || use.rule) && !use.kernel && !use.event && !use.step;
  if (dense && !watchdog.wants_next() && text.find('\r') == std::string_view::npos) {
    return fold(text, number, literals, use);
  }
  // A bar redraws its line; what another process wrote stands between.
  bool next = false;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find('\r');
    const std::string_view part = text.substr(0, end);
    if (!part.empty()) next = piece(part, number, literals, use);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return next;
}

// A line of a kind that comes by the hundred thousand: read only while it has news.
bool LogScan::State::fold(std::string_view text, std::uint64_t number,
                          std::span<const std::uint16_t> literals, const LogAnchors::Use& use) {
  const auto shape = LineFold::shape_of(text);
  if (shape && folded.folds(*shape, text, number)) return false;
  const std::uint64_t before = watchdog.news();
  if (use.comms) watchdog.line(text, number);
  const bool ruled = use.rule || anchors.rules().needs_all_lines();
  const bool settled = !ruled || rules(text, number, literals, false);
  const bool next = watchdog.wants_next();
  if (next) note_step(number);
  if (shape && settled && !next && watchdog.news() == before) {
    if (const auto other = folded.settle(*shape, number)) unfold(*other);
  }
  return next;
}

void LogScan::State::unfold(const LineFold::Folded& one) {
  std::vector<std::uint16_t> here;
  anchors.search().find(one.text, [&here](std::size_t, std::size_t literal) {
    here.push_back(static_cast<std::uint16_t>(literal));
  });
  std::sort(here.begin(), here.end());
  here.erase(std::unique(here.begin(), here.end()), here.end());
  skipped = one.skipped - 1;
  rules(one.text, one.number, here, false);
  skipped = 0;
}

void LogScan::State::unfold_all() {
  for (const LineFold::Folded& one : folded.take()) unfold(one);
}

bool LogScan::State::piece(std::string_view text, std::uint64_t number,
                           std::span<const std::uint16_t> literals, const LogAnchors::Use& use) {
  const bool in_traceback = watchdog.wants_next();
  // dmesg -H needs every line; it is told so only where it showed.
  const bool every = literals.empty();
  const bool kernels = (use.kernel || every) && kernel.line(text, number);
  if (kernels) return in_traceback;
  if (use.comms || in_traceback) watchdog.line(text, number);
  if (use.rule || anchors.rules().needs_all_lines()) rules(text, number, literals, in_traceback);
  if (use.event) {
    progress.line(text, number);
  } else if (use.step) {
    progress.step_line(text, number);
    step.assign(text.substr(0, kStepFront));
  }
  if (!in_traceback && watchdog.wants_next()) note_step(number);
  return watchdog.wants_next();
}

// Logs of several ranks that were put one behind the other are known by it.
void LogScan::State::note_step(std::uint64_t number) {
  if (step.empty() || above.size() >= limits::kOpenTracebacks) return;
  const LogLine read = envelope.read(step);
  if (read.time.at) above.emplace(number, read.time);
}

void LogScan::State::stamp_from_above(std::vector<LogEvent>& events) const {
  for (LogEvent& event : events) {
    if (event.time.at || !event.line) continue;
    const auto after = above.upper_bound(*event.line);
    if (after == above.begin()) continue;
    const auto& [first, time] = *std::prev(after);
    if (*event.line - first <= kTracebackLines) event.above = time;
  }
}

// True where the line, and those like it that come later, are only counted.
bool LogScan::State::rules(std::string_view text, std::uint64_t number,
                           std::span<const std::uint16_t> literals, bool in_traceback) {
  const LogLine read = envelope.read(text);
  // Frames of a traceback quote source code, which may say anything.
  if (in_traceback && read.message.starts_with("  ")) return false;
  of_rules.clear();
  for (const std::uint16_t literal : literals) {
    if (const auto rule = anchors.use(literal).rule) of_rules.push_back(*rule);
  }
  auto event = anchors.rules().match(read, of_rules);
  if (!event) return true;
  if (event->rank && ranks.size() < 2) ranks.insert(*event->rank);
  event->source = options.name;
  event->line = number;
  event->repeats = skipped;
  const bool named = event->subject.kind != CulpritKind::none;  // with a number, perhaps
  return keeper.add(std::move(*event)) && !named;
}

// Of the first and last line that has one.
void LogScan::State::stamps() {
  const auto stamp_of = [this](std::string_view line) -> std::optional<EventTime> {
    const LogLine read = envelope.read(line.substr(0, limits::kEvidenceChars));
    if (read.time.at || read.time.since_boot) return read.time;
    return std::nullopt;
  };
  for (const std::string_view line : split(head, '\n')) {
    if (const auto time = stamp_of(line)) {
      source.first = *time;
      break;
    }
  }
  const auto last = split(tail, '\n');
  for (auto line = last.rbegin(); line != last.rend(); ++line) {
    if (const auto time = stamp_of(*line)) {
      source.last = *time;
      break;
    }
  }
}

// A kernel log of which every line names one host is that host's.
void LogScan::State::name_host(std::vector<LogEvent>& kernel_events) {
  if (!source.host.empty() || kernel_events.empty()) return;
  const std::string& host = kernel_events.front().host;
  const bool one = std::all_of(kernel_events.begin(), kernel_events.end(),
                               [&host](const LogEvent& event) { return event.host == host; });
  if (one) source.host = host;
}

void LogScan::State::add_witnesses(LogReading& reading, ScannedLog& out,
                                   std::vector<LogEvent> ruled) {
  std::map<std::uint64_t, std::vector<LogEvent*>> by_line;
  for (LogEvent& event : ruled) by_line[event.line.value_or(0)].push_back(&event);
  std::set<const LogEvent*> dropped;
  for (const LogWitness& witness : reading.witnesses) {
    LogEvent event = log_event_of(witness);
    const auto found = by_line.find(event.line.value_or(0));
    const bool known = found != by_line.end();
    if (known && rules_know_more(event)) {
      for (LogEvent* rule : found->second) complete(*rule, LogEvent(event));
      continue;
    }
    if (known) dropped.insert(found->second.begin(), found->second.end());
    out.events.push_back(std::move(event));
  }
  for (LogEvent& event : ruled) {
    const bool context = event.role == EventRole::context;
    if (context || !dropped.contains(&event)) out.events.push_back(std::move(event));
  }
}

LogScan::LogScan(const LogAnchors& anchors, Options options)
    : state_(std::make_unique<State>(anchors, std::move(options))) {}
LogScan::~LogScan() = default;

void LogScan::feed(std::string_view bytes) {
  if (!bytes.empty()) state_->bytes(bytes);
}

ScannedLog LogScan::finish() {
  State& s = *state_;
  s.lines.finish([&s](std::string_view text, std::uint64_t number, auto literals) {
    return s.line(text, number, literals);
  });
  s.unfold_all();
  s.progress.finish();
  s.stamps();
  ScannedLog out;
  KernelReading kernel = s.kernel.finish();
  for (const KernelEvent& event : kernel.events) {
    out.events.push_back(log_event_of(event, s.options.name));
  }
  s.name_host(out.events);
  const std::uint64_t not_kept = kernel.not_kept + s.keeper.not_kept();
  LogReading ranks = s.watchdog.finish();
  s.add_witnesses(ranks, out, s.keeper.take());
  std::stable_sort(out.events.begin(), out.events.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; });
  s.stamp_from_above(out.events);
  const bool one_rank =
      s.source.rank &&
      (s.ranks.empty() || (s.ranks.size() == 1 && *s.ranks.begin() == *s.source.rank));
  for (LogEvent& event : out.events) {
    if (event.host.empty()) event.host = s.source.host;
    if (one_rank && !event.rank) event.rank = s.source.rank;
  }
  out.processes = std::move(ranks.processes);
  out.known = !out.events.empty() || shows_training(s.head) || shows_training(s.tail) ||
              s.source.first.since_boot || is_kernel_line(s.head);
  s.source.lines = s.lines.lines();
  out.source = std::move(s.source);
  const auto note = [&](std::string text) {
    out.notes.push_back(s.options.name + ": " + std::move(text));
  };
  if (s.lines.cut() > 0) {
    note(fmt::format("of {} lines only the first {} KiB were read", s.lines.cut(),
                     limits::kLineBytes / 1024));
  }
  if (not_kept > 0) note(fmt::format("{} more events had no room", not_kept));
  return out;
}

bool looks_like_text(std::string_view head) {
  head = head.substr(0, 64 * 1024);
  if (Utf16Decoder::begins(head) || Utf16Decoder::big_endian_without_mark(head)) return true;
  for (const std::string_view magic : {"\x7f"
                                       "ELF",
                                       "\x89PNG", "%PDF", "SQLite format"}) {
    if (head.starts_with(magic)) return false;
  }
  const auto strange = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != 0 && byte != 0x1b && (byte < 0x08 || byte > 0x0d);
  });
  const auto zeros = std::count(head.begin(), head.end(), '\0');
  const auto text = static_cast<std::ptrdiff_t>(head.size()) - zeros;
  // Programs and numbers have strange bytes everywhere; a hole of zeros in a log has none.
  return head.empty() || (text > 0 && strange * 50 <= text && (strange == 0 || zeros * 10 <= text));
}

}  // namespace muster
