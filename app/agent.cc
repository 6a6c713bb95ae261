#include "app/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/telemetry/exposition.h"

namespace muster {
namespace {

constexpr Duration kRemembered = std::chrono::hours(1);
constexpr Duration kCommitEvery = std::chrono::seconds(5);
constexpr Duration kLongestRead = std::chrono::seconds(5);

std::string label(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text, 256)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string labels(const SeriesKey& key) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, label(value));
  };
  if (key.kind != SeriesKind::gpu) add("kind", series_kind_name(key.kind));
  add("host", key.host);
  if (key.index) add("gpu", std::to_string(*key.index));
  if (key.rank) add("rank", std::to_string(*key.rank));
  add("uuid", key.uuid);
  add("pci", key.pci);
  add("device", key.device);
  return out;
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

class Tee final : public TelemetrySink {
 public:
  Tee(AgentPages& pages, History* history, WallTime at)
      : pages_(pages), history_(history), at_(at) {}
  void row(const TelemetryRow& row) override {
    const WallTime at = row.at.value_or(at_);
    pages_.row(row, at);
    if (history_ != nullptr) history_->add(row, at);
  }
  void note(const TelemetryNote& note) override {
    if (note.kind == NoteKind::reader_stuck) ++stuck;
    if (text.empty()) text = note.text;
  }
  int stuck = 0;
  std::string text;

 private:
  AgentPages& pages_;
  History* history_;
  WallTime at_;
};

// Says a problem when it begins, and not at every tick while it lasts.
class Reporter {
 public:
  explicit Reporter(const std::function<void(std::string_view)>& report) : report_(report) {}
  void now(const std::string& problem) {
    if (problem != last_ && !problem.empty() && report_) report_(problem);
    last_ = problem;
  }

 private:
  const std::function<void(std::string_view)>& report_;
  std::string last_;
};

}  // namespace

void AgentPages::row(const TelemetryRow& row, WallTime at) {
  const std::string name = labels(row.key);
  const bool has_value = std::any_of(row.readings.begin(), row.readings.end(),
                                     [](const auto& r) { return r.reading.has_value(); });
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  if (has_value) {
    any_ = true;
    newest_value_ = now;
  }
  if (newest_.size() >= limits::kSeries && !newest_.contains(name)) return;
  newest_.insert_or_assign(name, Newest{OwnedRow(row, at), now});
  std::erase_if(newest_, [now](const auto& n) { return now - n.second.seen > kRemembered; });
}

void AgentPages::stuck_readers(int count) {
  const std::lock_guard lock(mutex_);
  stuck_ = count;
}

HttpReply AgentPages::answer(std::string_view path) const {
  if (path == "/metrics") return metrics();
  if (path == "/healthz") return health();
  return {404, "text/plain; charset=utf-8", "try /metrics or /healthz\n"};
}

HttpReply AgentPages::metrics() const {
  const SelfUsage usage = usage_();
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  std::vector<TelemetryRow> rows;
  for (const auto& [name, newest] : newest_) {
    if (now - newest.seen <= fresh_) rows.push_back(newest.row.view());
  }
  std::string out = render_exposition(rows);
  if (!newest_.empty()) {
    head(out, "muster_agent_sample_age_seconds", "gauge", "age of the newest sample of a series");
    for (const auto& [name, newest] : newest_) {
      out += fmt::format("muster_agent_sample_age_seconds{{{}}} {:.3f}\n", name,
                         duration_to_seconds(now - newest.seen));
    }
  }
  head(out, "muster_agent_reader_stuck", "gauge", "readers that did not return in time");
  out += fmt::format("muster_agent_reader_stuck {}\n", stuck_);
  if (usage.cpu_seconds >= 0) {
    head(out, "muster_agent_cpu_seconds_total", "counter", "processor time of the agent");
    out += fmt::format("muster_agent_cpu_seconds_total {:.6f}\n", usage.cpu_seconds);
  }
  if (usage.resident_bytes >= 0) {
    head(out, "muster_agent_resident_bytes", "gauge", "resident memory of the agent");
    out += fmt::format("muster_agent_resident_bytes {}\n", usage.resident_bytes);
  }
  return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(out)};
}

HttpReply AgentPages::health() const {
  const std::lock_guard lock(mutex_);
  const Duration age = clock_.mono() - newest_value_;
  const bool good = any_ && age <= fresh_;
  const std::string text =
      any_ ? fmt::format("newest sample: {:.1f} s ago\n", duration_to_seconds(age))
           : "no sample yet\n";
  return {good ? 200 : 503, "text/plain; charset=utf-8", text};
}

void run_agent(const AgentOptions& options, TelemetrySource& source, Clock& clock,
               AgentPages& pages, const std::stop_token& stop) {
  Reporter source_report(options.report), history_report(options.report);
  const auto commit = [&] {
    if (options.history == nullptr) return;
    const Status status = options.history->commit(clock.wall());
    history_report.now(status ? "" : "history: " + status.error().context);
  };
  MonoTime next = clock.mono(), commit_at = next + kCommitEvery;
  do {
    Tee tee(pages, options.history, clock.wall());
    const Status status = source.read(clock.mono() + std::min(options.interval, kLongestRead), tee);
    pages.stuck_readers(tee.stuck);
    source_report.now(status ? tee.text : source.name() + ": " + status.error().context);
    const MonoTime now = clock.mono();
    if (now >= commit_at) {
      commit();
      commit_at = now + kCommitEvery;
    }
    next += options.interval;
    if (next < now) next = now;
  } while (clock.sleep_until(next, stop));
  commit();
}

}  // namespace muster
