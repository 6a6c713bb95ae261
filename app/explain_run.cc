#include "app/explain_run.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <utility>

#include "app/rule_check.h"
#include "core/comms/process_ranks.h"
#include "core/explain/explain.h"

namespace muster {
namespace {

// What the zones make of the first stamp of each host; they say nothing where all stamps have one.
void add_zones(const ExplainRequest& request, ExplainInput& input,
               std::vector<std::string>& notes) {
  std::set<std::string> done;
  for (const LogEvent& event : input.events) {
    if (!event.time.at || event.time.has_zone || !event.time.has_date) continue;
    const bool named = request.zones.contains(event.host);
    const std::string& host = named ? event.host : std::string();
    const auto zone = request.zones.find(host);
    if (zone == request.zones.end() || !done.insert(host).second) continue;
    input.zones.emplace_back(host, *event.time.at - zone->second.to_utc(*event.time.at));
    const std::string of = host.empty() ? "" : " of " + host;
    const std::string name = zone->second.name();
    notes.push_back(fmt::format("times{} without a zone are read as {}{}", of,
                                name.empty() ? "this machine's" : name,
                                named ? "" : " (--tz ZONE, --tz HOST=ZONE)"));
  }
}

// A line that names a process of the job is its rank's.
void place(std::vector<LogEvent>& events, const std::vector<RankProcess>& processes) {
  ProcessRanks ranks(processes);
  for (const LogEvent& event : events) {
    if (event.rank && event.pid) ranks.add(event.host, *event.pid, *event.rank);
  }
  for (LogEvent& event : events) {
    if (!event.rank && event.pid) event.rank = ranks.rank_of(event.host, *event.pid);
  }
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string coverage(const ExplainReading& reading) {
  std::uint64_t lines = 0;
  for (const ScannedLog& log : reading.logs) lines += log.source.lines;
  std::string out = fmt::format("{}, {}", counted(reading.logs.size(), "log", "logs"),
                                counted(lines, "line", "lines"));
  if (reading.documents > 0) {
    out += ", " + counted(reading.documents, "document of the site", "documents of the site");
  }
  return out;
}

}  // namespace

Result<Report> explain_once(const ExplainRequest& request, Files& files) {
  const auto matcher = RuleMatcher::make(with_builtin_rules(request.rules));
  if (!matcher) return matcher.error();
  const LogAnchors anchors(*matcher);
  auto reading = read_explain_inputs(request.paths, anchors, files, request.on_progress);
  if (!reading) return reading.error();

  Report report;
  report.verb = "explain";
  report.blind = std::move(reading->blind);
  report.notes.push_back(coverage(*reading));
  ExplainInput input;
  std::vector<RankProcess> processes;
  for (ScannedLog& log : reading->logs) {
    std::move(log.processes.begin(), log.processes.end(), std::back_inserter(processes));
    std::move(log.events.begin(), log.events.end(), std::back_inserter(input.events));
    std::move(log.notes.begin(), log.notes.end(), std::back_inserter(report.notes));
    input.sources.push_back(std::move(log.source));
  }
  input.facts = std::move(reading->facts);
  place(input.events, processes);
  add_zones(request, input, report.notes);
  Explanation explanation = explain(input);
  report.findings = std::move(explanation.findings);
  std::move(explanation.notes.begin(), explanation.notes.end(), std::back_inserter(report.notes));
  std::move(reading->notes.begin(), reading->notes.end(), std::back_inserter(report.notes));
  if (reading->dumps > 0) {
    report.notes.push_back(
        counted(reading->dumps, "flight-recorder dump", "flight-recorder dumps") +
        " left out: ask muster trace");
  }
  return report;
}

}  // namespace muster
