#include "app/trace_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/flight/call.h"
#include "core/flight/flight_report.h"
#include "core/flight/recorder_settings.h"
#include "core/flight/verdict.h"

namespace muster {
namespace {

// Files that are named one by one where many have something to say.
constexpr std::size_t kFilesNamed = 5;

// Logs alone do not tell who was where.
void answer_without_dumps(const TraceInput& input, Report& report,
                          const std::string& torch_version) {
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::high;
  finding.cause = Cause::evidence_missing;
  finding.summary = fmt::format("no flight-recorder dump among what was read ({} log{})",
                                input.logs, input.logs == 1 ? "" : "s");
  finding.actions = {Action::collect_evidence};
  const std::string settings = recorder_settings(torch_version);
  if (settings.empty()) {
    finding.next = "PyTorch before 2.2 has no flight recorder: its logs are what is left.";
  } else {
    finding.next = fmt::format(
        "Collect the dumps from every host (their default place is ~/.cache/torch/); muster "
        "explain reads the logs. For the next run: {}",
        settings);
  }
  report.findings.push_back(std::move(finding));
  report.blind.push_back({"flight recorder", "no dump was found", true});
}

void add_ranks_unknown(const std::vector<FlightDump>& dumps, Report& report) {
  std::size_t unknown = 0;
  for (const FlightDump& dump : dumps) {
    if (dump.rank || ++unknown > kFilesNamed) continue;
    report.blind.push_back({dump.source, "the rank of this dump is not known: left out", true});
  }
  if (unknown > kFilesNamed) {
    report.blind.push_back({fmt::format("{} more dumps", unknown - kFilesNamed),
                            "their ranks are not known: left out", true});
  }
}

// Of such a back end no wait can be seen, nor that there is none.
void add_ends_unknown(const std::vector<FlightDump>& dumps, Report& report) {
  std::set<std::string_view> libraries;
  std::size_t blind = 0;
  for (const FlightDump& dump : dumps) {
    bool here = false;
    for (const FlightSignature& signature : dump.signatures) {
      const std::string_view library = parse_call(signature.name).library;
      if (!completion_is_unknown(library)) continue;
      libraries.insert(library);
      here = true;
    }
    blind += here ? 1 : 0;
  }
  if (libraries.empty()) return;
  std::string names;
  for (const std::string_view library : libraries) {
    names += (names.empty() ? "" : ", ") + std::string(library);
  }
  report.blind.push_back(
      {fmt::format("{} of {} dumps", blind, dumps.size()),
       fmt::format("no word on which calls ended ({}): waits in them cannot be seen", names),
       true});
}

// What has no number in its group cannot be matched with what others called.
void add_unnumbered(const std::vector<FlightDump>& dumps, Report& report) {
  std::size_t open = 0, files = 0;
  for (const FlightDump& dump : dumps) {
    const auto here =
        std::count_if(dump.entries.begin(), dump.entries.end(), [](const FlightEntry& entry) {
          return entry.seq == FlightEntry::kAbsent && !entry.is_p2p && !entry.retired &&
                 entry.state != FlightState::completed;
        });
    open += static_cast<std::size_t>(here);
    files += here > 0 ? 1 : 0;
  }
  if (open == 0) return;
  report.blind.push_back(
      {fmt::format("{} of {} dumps", files, dumps.size()),
       fmt::format("records without a number that have not ended ({}): who waits there is not seen",
                   open),
       true});
}

// A rank that died without a dump looks like none where nobody tells how many there are.
void add_size_unknown(const FlightAnalysis& analysis, const TraceInput& input, Report& report) {
  if (!analysis.verdicts.empty()) return;
  for (const auto& [rank, host] : input.hosts) {
    const bool here = std::any_of(input.dumps.begin(), input.dumps.end(),
                                  [r = rank](const FlightDump& d) { return d.rank == r; });
    if (here) continue;
    report.blind.push_back({fmt::format("rank {} ({})", rank, host),
                            "nobody waits in these dumps, and this rank left none", true});
    return;
  }
  if (analysis.coverage.size_told || input.logs > 0 || !input.hosts.empty()) return;
  report.blind.push_back({"ranks of the job",
                          "nobody waits in these dumps; whether a rank left none is not known: "
                          "give logs or --hosts",
                          true});
}

void add_dump_notes(const std::vector<FlightDump>& dumps, std::vector<std::string>& notes) {
  std::size_t files = 0;
  for (const FlightDump& dump : dumps) {
    if (dump.notes.empty() || ++files > kFilesNamed) continue;
    std::string line = dump.source + ": ";
    for (std::size_t i = 0; i < dump.notes.size(); ++i) line += (i > 0 ? "; " : "") + dump.notes[i];
    notes.push_back(std::move(line));
  }
  if (files > kFilesNamed) {
    notes.push_back(fmt::format("{} more dumps were not read as a whole", files - kFilesNamed));
  }
}

}  // namespace

Result<TraceAnswer> trace_once(const TraceRequest& request, Files& files) {
  auto input = read_trace_inputs(request.paths, request.input, files);
  if (!input) return input.error();
  TraceAnswer answer;
  Report& report = answer.report;
  report.verb = "trace";
  report.blind = std::move(input->blind);
  if (input->dumps.empty()) {
    answer_without_dumps(*input, report, request.torch_version);
  } else {
    FlightAnalysis analysis =
        analyze_flight(input->dumps, input->witnesses,
                       {.logs_given = input->logs > 0, .timeline = request.timeline});
    report.findings = flight_findings(analysis, input->hosts);
    report.notes = coverage_notes(analysis);
    add_ranks_unknown(input->dumps, report);
    add_ends_unknown(input->dumps, report);
    add_unnumbered(input->dumps, report);
    add_size_unknown(analysis, *input, report);
    add_dump_notes(input->dumps, report.notes);
    answer.timeline = std::move(analysis.timeline);
  }
  report.notes.insert(report.notes.end(), input->notes.begin(), input->notes.end());
  return answer;
}

}  // namespace muster
