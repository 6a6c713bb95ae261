#include "app/live_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/judged_time.h"
#include "app/live_input.h"
#include "app/triage_target.h"

namespace muster {
namespace {

struct Watched {
  std::unique_ptr<LiveInput> input;
  std::optional<Error> failure;
};

class LiveRun {
 public:
  LiveRun(const TriageRequest& request, const LiveOptions& options, Files& files, Clock& clock)
      : request_(request),
        options_(options),
        files_(files),
        clock_(clock),
        triage_(request.triage_options),
        target_(triage_) {}

  Status open() {
    TriageRequest once = request_;
    once.sources.clear();
    std::optional<Error> last;
    for (const std::string& text : request_.sources) {
      const SourceSpec spec = parse_source(text, files_);
      if (!is_live(spec) && !options_.follow) {
        once.sources.push_back(text);
      } else if (!is_live(spec)) {
        add(make_tail(spec, false, request_.source_options, files_, clock_));
      } else if (auto source = open_live(spec); source) {
        add(make_polled(std::move(*source), spec.host, clock_));
      } else {
        last = source.error();
        fixed_.blind.push_back({text, source.error().context, true});
      }
    }
    if (options_.follow) {
      for (const std::string& log : request_.source_options.step_logs) {
        add(make_tail({log, "", log}, true, request_.source_options, files_, clock_));
      }
      once.source_options.step_logs.clear();
    }
    if (watched_.empty() && once.sources.empty() && last) return *last;
    if (once.sources.empty() && once.source_options.step_logs.empty()) return {};
    auto read = read_sources(once.sources, once.source_options, files_, clock_, target_);
    if (!read) {
      if (watched_.empty()) return read.error();
      fixed_.blind.push_back({"files", read.error().context, true});
      return {};
    }
    for (Blind& blind : read->blind) fixed_.blind.push_back(std::move(blind));
    for (std::string& note : read->notes) fixed_.notes.push_back(std::move(note));
    return {};
  }

  // One dead source must not take the time of those behind it: each gets its share.
  TriageAnswer round(MonoTime deadline) {
    const Duration share =
        std::max<Duration>((deadline - clock_.mono()) /
                               static_cast<std::int64_t>(std::max<std::size_t>(watched_.size(), 1)),
                           std::chrono::milliseconds(200));
    for (Watched& w : watched_) {
      const Status polled = w.input->poll(clock_.mono() + share, target_);
      w.failure = polled ? std::nullopt : std::optional(polled.error());
    }
    const WallTime now = judged_.at(triage_.newest(), clock_.wall());
    TriageAnswer answer{triage_.report(now), triage_.view(now)};
    for (const Blind& blind : fixed_.blind) answer.report.blind.push_back(blind);
    for (const std::string& note : fixed_.notes) answer.report.notes.push_back(note);
    for (const Watched& w : watched_) {
      if (w.failure) answer.report.blind.push_back({w.input->name(), w.failure->context, true});
    }
    return answer;
  }

 private:
  void add(std::unique_ptr<LiveInput> input) { watched_.push_back({std::move(input), {}}); }

  const TriageRequest& request_;
  const LiveOptions& options_;
  Files& files_;
  Clock& clock_;
  Triage triage_;
  JudgedTime judged_;
  TriageTarget target_;
  std::vector<Watched> watched_;
  SourceSummary fixed_;
};

}  // namespace

bool has_live_source(const TriageRequest& request, Files& files) {
  return std::any_of(request.sources.begin(), request.sources.end(),
                     [&](const std::string& text) { return is_live(parse_source(text, files)); });
}

Result<TriageAnswer> triage_live(const TriageRequest& request, const LiveOptions& options,
                                 Files& files, Clock& clock, std::stop_token stop,
                                 const std::function<bool(const TriageAnswer&)>& each) {
  LiveRun run(request, options, files, clock);
  if (const Status opened = run.open(); !opened) return opened.error();
  const MonoTime start = clock.mono();
  for (MonoTime due = start;; due += options.interval) {
    // A round that ran late does not make the next ones hurry.
    due = std::max(due, clock.mono() - options.interval);
    TriageAnswer answer =
        run.round(due + std::max<Duration>(options.interval, std::chrono::milliseconds(500)));
    const bool over = options.length && clock.mono() - start >= *options.length;
    if (!each(answer) || over) return answer;
    const MonoTime next = due + options.interval;
    if (!(options.rest ? options.rest(next) : clock.sleep_until(next, stop))) return answer;
  }
}

std::string answer_digest(const TriageAnswer& answer) {
  std::string out = fmt::format("{}/{}", static_cast<int>(answer.view.phase),
                                static_cast<int>(answer.view.shape));
  for (const Finding& f : answer.report.findings) {
    out += fmt::format("|{} {} {}", static_cast<int>(f.severity), static_cast<int>(f.confidence),
                       static_cast<int>(f.cause));
    for (const Culprit& c : f.culprits) out += " " + c.id;
  }
  for (const Blind& b : answer.report.blind) out += "|?" + b.source;
  return out;
}

}  // namespace muster
