#include "app/explain_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/rule_check.h"
#include "core/comms/process_ranks.h"
#include "core/explain/explain.h"

namespace muster {
namespace {

void note_zone(const std::string& host, const TimeZone& zone, std::vector<std::string>& notes) {
  const std::string of = host.empty() ? "" : " of " + host;
  notes.push_back(fmt::format("times{} without a zone are read as {}{}", of,
                              zone.name().empty() ? "this machine's" : zone.name(),
                              host.empty() ? " (--tz ZONE, --tz HOST=ZONE)" : ""));
}

// What the zones make of the stamps of each host; they say nothing where all stamps have one.
void add_zones(const ExplainRequest& request, ExplainInput& input,
               std::vector<std::string>& notes) {
  std::map<std::string, std::set<WallTime>> stamps;
  std::vector<std::string> seen;
  for (const LogEvent& event : input.events) {
    if (!event.time.at || event.time.has_zone || !event.time.has_date) continue;
    const std::string host = request.zones.contains(event.host) ? event.host : "";
    if (!request.zones.contains(host)) continue;
    const auto [it, added] = stamps.try_emplace(host);
    if (added) seen.push_back(host);
    it->second.insert(*event.time.at);
  }
  for (const std::string& host : seen) {
    const TimeZone& zone = request.zones.at(host);
    const bool guessed = host.empty() && request.zone_guessed;
    std::optional<Duration> before;
    for (const WallTime at : stamps.at(host)) {
      const Duration ahead = at - zone.to_utc(at);
      if (before == ahead) continue;
      // A guess is one offset: a change of the clock shows in the log itself.
      if (before && guessed) break;
      input.zones.push_back({.host = host, .ahead = ahead, .from = at, .told = !guessed});
      before = ahead;
    }
    note_zone(host, zone, notes);
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
  std::string out;
  if (!reading.logs.empty()) {
    out = fmt::format("{}, {}", counted(reading.logs.size(), "log", "logs"),
                      counted(lines, "line", "lines"));
  }
  if (reading.documents > 0) {
    out += (out.empty() ? "" : ", ") + counted(reading.documents, "listing", "listings") +
           " (df, sacct, ...)";
  }
  return out;
}

// Logs of which nothing was understood are no sign of health, unless others are.
void add_strange(const ExplainReading& reading, Report& report) {
  constexpr std::size_t kNamed = 8;
  bool known = reading.documents > 0 || !report.findings.empty();
  for (const ScannedLog& log : reading.logs) known = known || (log.known && log.other.empty());
  for (const ScannedLog& log : reading.logs) {
    const std::string& name = log.source.name;
    if (known) {
      if (!log.other.empty()) report.notes.push_back(name + ": " + log.other);
    } else if (report.blind.size() < kNamed) {
      std::string why = log.other;
      if (why.empty() && log.source.lines == 0) why = "it is empty";
      if (why.empty()) why = "no line known here";
      report.blind.push_back({name, std::move(why), true});
    }
  }
  // Packed nothing: an archive without members.
  if (!known && reading.logs.empty() && reading.dumps == 0 && report.blind.empty()) {
    report.blind.push_back({"input", "nothing in it to judge", true});
  }
  if (reading.dumps == 0 && known) return;
  const std::string dumps = counted(reading.dumps, "flight-recorder dump", "flight-recorder dumps");
  if (known) report.notes.push_back(dumps + " left out: ask muster trace");
  if (known) return;
  if (reading.dumps > 0) report.blind.push_back({dumps, "ask muster trace", true});
  for (Blind& blind : report.blind) blind.hides_critical = true;
}

// A run whose logs just end may have been copied while it ran, or hang.
void add_open_end(const ExplainInput& input, Report& report) {
  const bool told = std::any_of(report.findings.begin(), report.findings.end(),
                                [](const Finding& f) { return f.severity > Severity::info; });
  if (told) return;
  std::string last;
  for (const LogEvent& event : input.events) {
    if (event.rule == "progress:finished") return;
    if (event.rule != "progress:last_step") continue;
    last = event.word("step");
    if (last == event.word("target_step")) return;
  }
  if (last.empty()) return;
  report.notes.push_back(
      fmt::format("the logs end at step {} without an end of the run: whether it goes on or hangs "
                  "is not known",
                  last));
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
  if (std::string read = coverage(*reading); !read.empty()) {
    report.notes.push_back(std::move(read));
  }
  ExplainInput input;
  std::vector<RankProcess> processes;
  for (ScannedLog& log : reading->logs) {
    std::move(log.processes.begin(), log.processes.end(), std::back_inserter(processes));
    std::move(log.events.begin(), log.events.end(), std::back_inserter(input.events));
    std::move(log.notes.begin(), log.notes.end(), std::back_inserter(report.notes));
    input.sources.push_back(log.source);
  }
  input.facts = std::move(reading->facts);
  place(input.events, processes);
  add_zones(request, input, report.notes);
  Explanation explanation = explain(input);
  report.findings = std::move(explanation.findings);
  std::move(explanation.notes.begin(), explanation.notes.end(), std::back_inserter(report.notes));
  std::move(reading->notes.begin(), reading->notes.end(), std::back_inserter(report.notes));
  add_strange(*reading, report);
  add_open_end(input, report);
  return report;
}

}  // namespace muster
