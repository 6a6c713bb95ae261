#include "core/progress/progress_log_event.h"

#include <fmt/core.h>

#include <utility>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/progress/line_head.h"
#include "core/progress/number.h"

namespace muster {
namespace {

using progress::is_word;

// Of the lines that may tell a step, so many are remembered: beside a step line there are others
// that only speak of steps.
constexpr std::size_t kStepLines = 4;

EventTime time_of(const std::optional<WallTime>& at, bool zone, bool date) {
  return {.at = at, .has_zone = zone, .has_date = date, .since_boot = std::nullopt};
}

// "rank 0: Evaluating", "(rank=3)", "on the main process": rank 0, as the launchers define it.
std::optional<std::int32_t> rank_in(std::string_view text) {
  const std::string low = to_lower(text.substr(0, limits::kEvidenceChars));
  for (std::size_t at = low.find("rank"); at != std::string::npos; at = low.find("rank", at + 1)) {
    const std::string_view before = std::string_view(low).substr(0, at);
    // "local rank 3" and "node_rank: 1" count on one host, or hosts.
    const bool of_host = before.ends_with("local ") || before.ends_with("local-") ||
                         before.ends_with("node ") || before.ends_with("node-") ||
                         before.ends_with("group ") || before.ends_with("group-");
    if (of_host || (at > 0 && is_word(low[at - 1]))) continue;
    std::string_view rest = std::string_view(low).substr(at + 4);
    if (rest.starts_with(' ') || rest.starts_with('=') || rest.starts_with('_')) {
      rest.remove_prefix(1);
    }
    const auto rank = progress::take_count(rest);
    if (rank && *rank >= 0 && *rank <= (1 << 24)) return static_cast<std::int32_t>(*rank);
  }
  const bool main = low.find("main process") != std::string::npos;
  return main ? std::optional<std::int32_t>(0) : std::nullopt;
}

struct Count {
  std::int64_t done, of;
};

// "6,215/14,900", "7-of-30", "3 of 12", where not more is done than there is.
std::optional<Count> count_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.' ||
                                  text[i - 1] == '/' || text[i - 1] == ',');
    if (!is_digit(text[i]) || inside) continue;
    std::string_view rest = text.substr(i);
    const auto done = progress::take_count(rest);
    if (!done) continue;
    for (const std::string_view mark : {"/", " / ", "-of-", " of ", " out of "}) {
      if (!rest.starts_with(mark)) continue;
      std::string_view behind = rest.substr(mark.size());
      const auto of = progress::take_count(behind);
      const bool date = behind.starts_with('/');
      if (of && !date && *done >= 0 && *done <= *of && *of > 1) return Count{*done, *of};
    }
  }
  return std::nullopt;
}

std::string_view name_of(ProgressKind kind) {
  switch (kind) {
    case ProgressKind::save_begin:
      return "progress:save_begin";
    case ProgressKind::save_end:
      return "progress:save_end";
    case ProgressKind::eval_begin:
      return "progress:eval_begin";
    case ProgressKind::eval_end:
      return "progress:eval_end";
    case ProgressKind::finished:
      return "progress:finished";
    case ProgressKind::restarted:
      return "progress:restarted";
    default:
      return "";
  }
}

}  // namespace

// What the decoder says of one line.
class ProgressEvents::Sink final : public ProgressSink {
 public:
  explicit Sink(std::string_view text) : text_(text) {}

  void step(const StepRecord& record) override { last = record; }
  void event(const ProgressEvent& event) override {
    const std::string_view name = name_of(event.kind);
    if (name.empty()) return;
    known = true;
    LogEvent out;
    out.rule = std::string(name);
    out.time = out.last = time_of(event.at, event.at_has_zone, event.at_has_date);
    out.rank = rank_in(text_);
    if (event.step) out.words.emplace_back("step", fmt::format("{}", *event.step));
    if (event.duration) add_seconds(out, *event.duration);
    add_count(out);
    events.push_back(std::move(out));
  }

  // Work of one rank that counts, or tells how long a part took.
  void other_work(const progress::LineHead& head) {
    const bool part = text_.find("tate dict") != std::string_view::npos ||
                      text_.find("tate_dict") != std::string_view::npos;
    const auto took = progress::find_duration(head.body, progress::WhichDuration::last);
    LogEvent out;
    add_count(out);
    if (part && took) add_seconds(out, *took);
    if (out.words.empty()) return;
    out.rule = "progress:long_work";
    out.rank = head.rank ? std::optional<std::int32_t>(*head.rank) : rank_in(text_);
    if (head.time) {
      out.time = time_of(head.time->at, head.time->has_zone, head.time->has_date);
      out.last = out.time;
    }
    events.push_back(std::move(out));
  }

  std::vector<LogEvent> events;
  std::optional<StepRecord> last;
  bool known = false;

 private:
  static void add_seconds(LogEvent& out, Duration duration) {
    out.words.emplace_back("seconds", fmt::format("{:.6g}", duration_to_seconds(duration)));
  }
  void add_count(LogEvent& out) const {
    const auto count = count_in(text_);
    if (!count) return;
    out.words.emplace_back("done", fmt::format("{}", count->done));
    out.words.emplace_back("of", fmt::format("{}", count->of));
  }

  std::string_view text_;
};

ProgressEvents::ProgressEvents(std::string source, Keep keep)
    : source_(std::move(source)), keep_(std::move(keep)) {}

void ProgressEvents::line(std::string_view text, std::uint64_t number) {
  Sink sink(text);
  decoder_.feed(text, sink);
  decoder_.feed("\n", sink);
  if (sink.last) step_line(text, number);
  if (!sink.last && !sink.known) sink.other_work(progress::parse_line_head(text));
  for (LogEvent& event : sink.events) {
    if (event.rule == "progress:restarted") tell_last_step();
    if (!event.rank) {
      const auto head = progress::parse_line_head(text);
      if (head.rank) event.rank = *head.rank;
    }
    event.text = std::string(whole_characters(trim(text), limits::kEvidenceChars));
    event.source = source_;
    event.line = number;
    keep_(std::move(event));
  }
}

void ProgressEvents::step_line(std::string_view text, std::uint64_t number) {
  if (steps_.size() == kStepLines) {  // its memory is used again
    steps_.push_back(std::move(steps_.front()));
    steps_.pop_front();
  } else {
    steps_.emplace_back();
  }
  steps_.back().text = whole_characters(text, limits::kEvidenceChars);
  steps_.back().number = number;
}

void ProgressEvents::tell_last_step() {
  for (auto line = steps_.rbegin(); line != steps_.rend(); ++line) {
    Sink sink(line->text);
    ProgressDecoder decoder;
    decoder.feed(line->text, sink);
    decoder.finish(sink);
    if (!sink.last) continue;
    const StepRecord& record = *sink.last;
    LogEvent event;
    event.rule = "progress:last_step";
    event.time = event.last = time_of(record.at, record.at_has_zone, record.at_has_date);
    if (record.rank) event.rank = *record.rank;
    event.words.emplace_back("step", fmt::format("{}", record.step));
    if (record.target_step) {
      event.words.emplace_back("target_step", fmt::format("{}", *record.target_step));
    }
    if (record.step_s) event.words.emplace_back("seconds", fmt::format("{:.6g}", *record.step_s));
    event.text = std::string(trim(line->text));
    event.source = source_;
    event.line = line->number;
    keep_(std::move(event));
    break;
  }
  steps_.clear();
}

void ProgressEvents::finish() {
  tell_last_step();
}

}  // namespace muster
