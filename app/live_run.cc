#include "app/live_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/judged_time.h"
#include "app/live_set.h"
#include "app/triage_target.h"

namespace muster {
namespace {

TriageAnswer judge(Triage& triage, const LiveSet& sources, WallTime now, WallTime wall) {
  triage.set_times_known(!sources.undated());
  TriageAnswer answer{triage.report(now), triage.view(now)};
  if (const auto newest = triage.newest()) answer.view.behind = wall - *newest;
  for (Blind& blind : sources.blind()) answer.report.blind.push_back(std::move(blind));
  for (const std::string& note : sources.notes()) answer.report.notes.push_back(note);
  return answer;
}

}  // namespace

MonoTime round_deadline(MonoTime due, Duration interval, std::optional<MonoTime> end) {
  const MonoTime round = due + std::max(interval, kLeastRound);
  return end ? std::min(round, *end + kLeastRound) : round;
}

Result<TriageAnswer> triage_live(const TriageRequest& request, const LiveOptions& options,
                                 Files& files, Clock& clock, const std::stop_token& stop,
                                 const std::function<bool(const TriageAnswer&)>& each) {
  Triage triage(request.triage_options);
  TriageTarget target(triage);
  JudgedTime judged;
  LiveSet sources(request.sources, request.source_options, options.follow, files, clock, target);
  if (const Status opened = sources.open(); !opened) return opened.error();
  std::optional<MonoTime> end = request.source_options.end;
  if (options.length) end = clock.mono() + *options.length;
  for (MonoTime due = clock.mono();; due += options.interval) {
    // A round that ran late does not make the next ones hurry.
    due = std::max(due, clock.mono() - options.interval);
    sources.poll(round_deadline(due, options.interval, end));
    const WallTime wall = clock.wall();
    TriageAnswer answer = judge(triage, sources, judged.at(triage.newest(), wall), wall);
    const bool over = end && clock.mono() >= *end;
    if (!each(answer)) return answer;
    if (over) {
      const std::vector<Blind>& blind = answer.report.blind;
      const bool nothing = !triage.newest() && request.source_options.step_logs.empty();
      if (!options.follow && nothing && answer.report.findings.empty() && !blind.empty()) {
        // A source that failed says more than that nothing came.
        const auto told = std::find_if(blind.begin(), blind.end(), [&](const Blind& b) {
          return std::find(request.sources.begin(), request.sources.end(), b.source) !=
                 request.sources.end();
        });
        const Blind& why = told != blind.end() ? *told : blind[0];
        return make_error(Errc::unavailable, why.source + ": " + why.reason);
      }
      return answer;
    }
    const MonoTime next = end ? std::min(due + options.interval, *end) : due + options.interval;
    if (!(options.rest ? options.rest(next) : clock.sleep_until(next, stop))) return answer;
  }
}

std::string answer_digest(const TriageAnswer& answer, bool screen) {
  std::string out;
  if (screen) {
    out = fmt::format("{}/{}/{}", static_cast<int>(answer.view.phase),
                      static_cast<int>(answer.view.shape), answer.view.undated);
  }
  for (const Finding& f : answer.report.findings) {
    out += fmt::format("|{} {} {}", static_cast<int>(f.severity), static_cast<int>(f.confidence),
                       static_cast<int>(f.cause));
    for (const Culprit& c : f.culprits) out += " " + c.id;
  }
  for (const Blind& b : answer.report.blind) out += "|?" + b.source;
  return out;
}

}  // namespace muster
