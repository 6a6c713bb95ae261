#include "app/triage_run.h"

#include "app/triage_target.h"

namespace muster {
Result<TriageAnswer> triage_once(const TriageRequest& request, Files& files, Clock& clock) {
  Triage triage(request.triage_options);
  TriageTarget target(triage);
  auto summary = read_sources(request.sources, request.source_options, files, clock, target);
  if (!summary) return summary.error();
  if (summary->undated == summary->telemetry && summary->undated > 0) triage.set_times_known(false);
  const WallTime now = triage.newest().value_or(clock.wall());
  TriageAnswer answer{triage.report(now), triage.view(now)};
  for (Blind& blind : summary->blind) answer.report.blind.push_back(std::move(blind));
  for (std::string& note : summary->notes) answer.report.notes.push_back(std::move(note));
  if (!answer.view.bands_source.empty()) {
    answer.report.notes.push_back("power bands: " + answer.view.bands_source);
  }
  return answer;
}

Result<Learned> calibrate_once(const TriageRequest& request, const std::string& name, Files& files,
                               Clock& clock) {
  TriageOptions options = request.triage_options;
  options.learn = true;
  Triage triage(options);
  TriageTarget target(triage);
  const auto summary = read_sources(request.sources, request.source_options, files, clock, target);
  if (!summary) return summary.error();
  if (!summary->blind.empty()) {
    const Blind& blind = summary->blind.front();
    return make_error(Errc::invalid_input, "calibrating: " + blind.source + ": " + blind.reason);
  }
  auto calibration = triage.calibrate(name);
  if (!calibration) return calibration.error();
  return Learned{std::move(*calibration), triage.doubts()};
}

}  // namespace muster
