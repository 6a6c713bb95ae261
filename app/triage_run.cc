#include "app/triage_run.h"

namespace muster {
namespace {

// Rows and logs straight into one Triage.
class TriageTarget final : public RowTarget {
 public:
  explicit TriageTarget(Triage& triage) : triage_(triage) {}
  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view default_host) override {
    triage_.row(row, at, source, default_host);
  }
  void note(const TelemetryNote& note, std::string_view source,
            std::string_view default_host) override {
    triage_.note(note, source, default_host);
  }
  void begin_log(std::string_view source) override { triage_.set_progress_source(source); }
  ProgressSink& log() override { return triage_; }

 private:
  Triage& triage_;
};

}  // namespace

Result<TriageAnswer> triage_once(const TriageRequest& request, Files& files, Clock& clock) {
  Triage triage(request.triage_options);
  TriageTarget target(triage);
  auto summary = read_sources(request.sources, request.source_options, files, clock, target);
  if (!summary) return summary.error();
  const WallTime now = triage.newest().value_or(clock.wall());
  TriageAnswer answer{triage.report(now), triage.view(now)};
  for (Blind& blind : summary->blind) answer.report.blind.push_back(std::move(blind));
  for (std::string& note : summary->notes) answer.report.notes.push_back(std::move(note));
  if (!answer.view.bands_source.empty()) {
    answer.report.notes.push_back("power bands: " + answer.view.bands_source);
  }
  return answer;
}

Result<Calibration> calibrate_once(const TriageRequest& request, const std::string& name,
                                   Files& files, Clock& clock) {
  Triage triage(request.triage_options);
  TriageTarget target(triage);
  const auto summary = read_sources(request.sources, request.source_options, files, clock, target);
  if (!summary) return summary.error();
  if (!summary->blind.empty()) {
    const Blind& blind = summary->blind.front();
    return make_error(Errc::invalid_input, "calibrating: " + blind.source + ": " + blind.reason);
  }
  return triage.calibrate(name);
}

}  // namespace muster
