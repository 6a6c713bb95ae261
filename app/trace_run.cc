#include "app/trace_run.h"

#include <fmt/core.h>

#include "core/flight/flight_report.h"
#include "core/flight/recorder_settings.h"
#include "core/flight/timeline.h"
#include "core/flight/verdict.h"

namespace muster {
namespace {

// Logs alone do not tell who was where.
void answer_without_dumps(const TraceInput& input, TraceAnswer& answer,
                          const std::string& torch_version) {
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::high;
  finding.cause = Cause::evidence_missing;
  finding.summary =
      fmt::format("no flight-recorder dump among what was read ({} logs)", input.logs);
  finding.actions = {Action::collect_evidence};
  finding.next =
      "Collect the dumps from every host (their default place is ~/.cache/torch/), or set the "
      "variables below for the next run; muster explain reads the logs.";
  answer.report.findings.push_back(std::move(finding));
  answer.report.blind.push_back({"flight recorder", "no dump was found", true});
  answer.settings = recorder_settings(torch_version);
}

}  // namespace

Result<TraceAnswer> trace_once(const TraceRequest& request, Files& files) {
  auto input = read_trace_inputs(request.paths, request.input, files);
  if (!input) return input.error();
  TraceAnswer answer;
  answer.report.verb = "trace";
  answer.report.blind = std::move(input->blind);
  if (input->dumps.empty()) {
    answer_without_dumps(*input, answer, request.torch_version);
  } else {
    const FlightAnalysis analysis = analyze_flight(input->dumps, input->witnesses);
    answer.report.findings = flight_findings(analysis, input->hosts);
    answer.report.notes = coverage_notes(analysis);
    if (request.timeline && !analysis.verdicts.empty()) {
      answer.timeline = flight_timeline(input->dumps, analysis.verdicts.front());
    }
  }
  answer.report.notes.insert(answer.report.notes.end(), input->notes.begin(), input->notes.end());
  return answer;
}

}  // namespace muster
