#include "core/flight/flight_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "core/flight/failure_age.h"
#include "core/flight/verdict_text.h"

namespace muster {
namespace {

// Evidence lines that are left for what logs say.
constexpr std::size_t kWitnessLines = 6;

struct Advice {
  Cause cause;
  Severity severity;
  std::vector<Action> actions;
  std::string_view next;
};

// What each kind of verdict means for the person who has to act.
Advice advice_of(FlightVerdictKind kind) {
  using enum FlightVerdictKind;
  const Severity critical = Severity::critical;
  const std::vector<Action> stuck = {Action::collect_evidence, Action::restart_from_checkpoint};
  const std::vector<Action> code = {Action::fix_code, Action::restart_from_checkpoint};
  switch (kind) {
    case behind:
      return {Cause::rank_behind, critical, stuck,
              "Take the Python stack there (py-spy dump --pid PID) and the log; then restart."};
    case in_launch:
      return {Cause::rank_behind, critical, stuck,
              "Take the native stack there (gdb -p PID -batch -ex 'thread apply all bt'): "
              "connection set-up, graph capture or the driver; look for an Xid on the host."};
    case comm_init:
      return {Cause::rank_behind, critical, stuck,
              "The communicator of this group was not made there: take the Python stack, and look "
              "whether every rank creates the groups in the same order."};
    case no_dump:
      return {Cause::rank_behind, critical, stuck,
              "Look at the log there and at the kernel log of the host: killed, out of memory, "
              "lost GPU, or already in destroy_process_group."};
    case mismatch:
    case extra_op:
    case out_of_order:
    case p2p_size_mismatch:
      return {
          Cause::collective_mismatch, critical, code,
          "Make the call sites above run on all ranks of the group alike, in the same order and "
          "with the same shapes; then restart."};
    case ahead_left_loop:
      return {Cause::uneven_steps,
              critical,
              {Action::equalize_steps, Action::restart_from_checkpoint},
              "Take the minimum of the step counts over all ranks before the loop and stop there "
              "(Join does not cover FSDP); then restart from the last complete checkpoint."};
    case deadlock_cycle:
      return {Cause::collective_hang, critical, code,
              "Issue the groups in the same order on all ranks; post messages of both directions "
              "together (batch_isend_irecv)."};
    case fabric_all:
    case fabric_partial:
    case fabric_p2p:
      return {Cause::collective_hang, critical, stuck,
              "Not a fault of the program: compare NCCL RAS, Xid lines and the error counters of "
              "the links of these hosts (muster trace --ras FILE)."};
    case silent_mismatch:
      return {Cause::collective_mismatch, Severity::critical, code,
              "Results since then are suspect: make the calls agree, and go back to a checkpoint "
              "from before."};
    case straggler:
      return {Cause::rank_straggler,
              Severity::warning,
              {Action::watch, Action::collect_evidence},
              "Look at the GPU of that rank (muster triage) and at its input pipeline."};
    case never_started:
      return {Cause::undetermined,
              critical,
              {Action::collect_evidence},
              "Take Python stacks of a few ranks: storage, imports or compilation hold them."};
    case undecided:
      break;
  }
  return {Cause::undetermined,
          critical,
          {Action::collect_evidence},
          "Take the measurement named above, or py-spy stacks of all ranks."};
}

// The cause that the culprit's own log names. Kinds that only say that it is away keep the verdict.
std::optional<Cause> cause_of(WitnessKind kind) {
  switch (kind) {
    case WitnessKind::exception:
    case WitnessKind::crashed:
      return Cause::rank_exception;
    case WitnessKind::gpu_oom:
      return Cause::gpu_oom;
    case WitnessKind::host_oom_killed:
      return Cause::host_oom_killed;
    case WitnessKind::killed:
      return Cause::external_stop;
    case WitnessKind::cuda_error:
      return Cause::app_memory_fault;
    case WitnessKind::gpu_lost:
      return Cause::gpu_fell_off_bus;
    case WitnessKind::watchdog_stuck:
      return Cause::watchdog_stuck;
    default:
      return {};
  }
}

bool may_have_a_logged_cause(FlightVerdictKind kind) {
  return kind == FlightVerdictKind::behind || kind == FlightVerdictKind::no_dump ||
         kind == FlightVerdictKind::comm_init || kind == FlightVerdictKind::in_launch;
}

// The first failure of a culprit, by the order of its log; not one of an earlier attempt.
const RankWitness* first_failure(const FlightVerdict& verdict) {
  if (!may_have_a_logged_cause(verdict.kind)) return nullptr;
  const auto at =
      std::find_if(verdict.witnesses.begin(), verdict.witnesses.end(), [&](const RankWitness& w) {
        return cause_of(w.kind).has_value() &&
               failure_age(w, verdict.waiting_since) != FailureAge::stale;
      });
  return at == verdict.witnesses.end() ? nullptr : &*at;
}

std::vector<Action> actions_for(Cause cause) {
  switch (cause) {
    case Cause::rank_exception:
      return {Action::fix_code, Action::fix_data, Action::restart_from_checkpoint};
    case Cause::gpu_oom:
    case Cause::host_oom_killed:
      return {Action::reduce_memory, Action::restart_from_checkpoint};
    case Cause::external_stop:
      return {Action::find_sender, Action::restart_from_checkpoint};
    case Cause::gpu_fell_off_bus:
      return {Action::drain_host, Action::restart_from_checkpoint};
    default:
      return {Action::collect_evidence, Action::restart_from_checkpoint};
  }
}

bool is_fabric(FlightVerdictKind kind) {
  return kind == FlightVerdictKind::fabric_all || kind == FlightVerdictKind::fabric_partial ||
         kind == FlightVerdictKind::fabric_p2p;
}

// Where nobody is named, the fault lies between the hosts of all who wait.
std::string host_suffix(const FlightVerdict& verdict,
                        const std::map<std::int32_t, std::string>& hosts) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  const auto see = [&](const std::vector<std::int32_t>& ranks) {
    for (const std::int32_t rank : ranks) {
      const auto at = hosts.find(rank);
      if (at != hosts.end() && seen.insert(at->second).second) names.push_back(at->second);
    }
  };
  see(verdict.culprits);
  if (verdict.culprits.empty() && is_fabric(verdict.kind)) {
    for (const FlightSide& side : verdict.sides) see(side.ranks);
  }
  if (names.empty()) return "";
  std::string text;
  for (const std::string& name : names) {
    if (text.size() > 80) return fmt::format(" (hosts {} ... {} in all)", text, names.size());
    text += (text.empty() ? "" : ", ") + name;
  }
  return fmt::format(" (host{} {})", names.size() == 1 ? "" : "s", text);
}

std::string side_text(const FlightSide& side) {
  std::string text = describe_ranks(side.ranks) + ": " + side.call;
  if (side.seq) text += fmt::format(" #{}", *side.seq);
  if (!side.frame.empty()) text += ", " + side.frame;
  if (!side.about.empty()) text += " (" + side.about + ")";
  return text.substr(0, limits::kEvidenceChars);
}

std::string witness_text(const RankWitness& witness, const FlightVerdict& verdict) {
  std::string text = witness.text.substr(0, limits::kEvidenceChars);
  if (failure_age(witness, verdict.waiting_since) == FailureAge::fresh) return text;
  const Duration lead = lead_of(witness, verdict.waiting_since);
  return fmt::format("{:.0f} h before the wait: {}", duration_to_seconds(lead) / 3600, text);
}

void add_evidence(const FlightVerdict& verdict, Finding& finding) {
  const std::size_t room =
      limits::kEvidenceLines - std::min(kWitnessLines, verdict.witnesses.size());
  for (const FlightSide& side : verdict.sides) {
    if (finding.evidence.size() + 1 == room && &side != &verdict.sides.back()) {
      const std::size_t left = verdict.sides.size() - finding.evidence.size();
      finding.evidence.push_back({"", {}, fmt::format("and {} more of such sides", left)});
      break;
    }
    finding.evidence.push_back({side.source, {}, side_text(side)});
  }
  for (const RankWitness& witness : verdict.witnesses) {
    if (finding.evidence.size() >= limits::kEvidenceLines) return;
    finding.evidence.push_back({witness.source, witness.line, witness_text(witness, verdict)});
  }
}

std::vector<Culprit> culprits_of(const FlightVerdict& verdict) {
  std::vector<Culprit> culprits;
  for (const std::int32_t rank : verdict.culprits) {
    if (culprits.size() == limits::kCulpritsNamed) break;
    culprits.push_back({CulpritKind::rank, std::to_string(rank)});
  }
  const bool nobody = verdict.kind == FlightVerdictKind::never_started;
  if (culprits.empty() && !nobody) culprits.push_back({CulpritKind::unknown, ""});
  return culprits;
}

std::string summary_of(const FlightVerdict& verdict,
                       const std::map<std::int32_t, std::string>& hosts) {
  std::string text = verdict.summary + host_suffix(verdict, hosts);
  if (!verdict.why.empty()) text += ": " + verdict.why;
  if (verdict.culprits.size() > limits::kCulpritsNamed) {
    text += fmt::format("; {} more than the {} that are named one by one",
                        verdict.culprits.size() - limits::kCulpritsNamed, limits::kCulpritsNamed);
  }
  return text;
}

void take_logged_cause(const RankWitness& failure, const FlightVerdict& verdict, Finding& finding) {
  finding.cause = *cause_of(failure.kind);
  finding.severity = cause_row(finding.cause).severity;
  finding.actions = actions_for(finding.cause);
  const bool one = verdict.culprits.size() == 1;
  finding.next =
      fmt::format("{} the cause: mend that, then restart; the waits of the others follow.",
                  one ? "Its log names" : "Their logs name");
  if (failure_age(failure, verdict.waiting_since) != FailureAge::fresh) {
    finding.confidence = std::min(finding.confidence, Confidence::medium);
    finding.next =
        "The log names a failure, by its clock long before the wait: of an earlier attempt, or in "
        "another zone than UTC. Look which.";
  }
}

Finding finding_of(const FlightVerdict& verdict, const std::map<std::int32_t, std::string>& hosts,
                   bool logs_given) {
  const Advice advice = advice_of(verdict.kind);
  Finding finding;
  finding.severity = advice.severity;
  finding.confidence = verdict.confidence;
  finding.cause = advice.cause;
  finding.actions = advice.actions;
  finding.next = advice.next;
  finding.culprits = culprits_of(verdict);
  finding.since = verdict.waiting_since;
  finding.summary = summary_of(verdict, hosts);
  add_evidence(verdict, finding);
  if (const RankWitness* failure = first_failure(verdict)) {
    take_logged_cause(*failure, verdict, finding);
  }
  if (finding.confidence == Confidence::low && finding.severity >= Severity::warning) {
    finding.actions = {Action::collect_evidence};
    finding.next = "Not enough to act on: take a second set of dumps a minute later, of all hosts";
    finding.next += logs_given ? "." : ", or give the logs of the ranks as well.";
  }
  return finding;
}

// One finding that counts those that are not told: as sure and as grave as the worst of them, so
// that the exit status stays what it is.
Finding rest_of(std::span<const FlightVerdict> rest) {
  Finding finding;
  std::set<std::int32_t> ranks;
  for (const FlightVerdict& verdict : rest) {
    finding.severity = std::max(finding.severity, advice_of(verdict.kind).severity);
    finding.confidence = std::max(finding.confidence, verdict.confidence);
    ranks.insert(verdict.culprits.begin(), verdict.culprits.end());
  }
  finding.cause = Cause::undetermined;
  finding.culprits = {{CulpritKind::unknown, ""}};
  finding.actions = {Action::collect_evidence};
  finding.summary = fmt::format("{} more findings are left out", rest.size());
  if (!ranks.empty()) finding.summary += ", of " + describe_ranks({ranks.begin(), ranks.end()});
  finding.next = "Mend what is named above and look again.";
  return finding;
}

}  // namespace

std::vector<Finding> flight_findings(const FlightAnalysis& analysis,
                                     const std::map<std::int32_t, std::string>& hosts) {
  std::vector<Finding> findings;
  const std::span<const FlightVerdict> verdicts = analysis.verdicts;
  const std::size_t told = std::min(verdicts.size(), limits::kFindingsNamed);
  for (const FlightVerdict& verdict : verdicts.first(told)) {
    findings.push_back(finding_of(verdict, hosts, analysis.logs_given));
  }
  if (verdicts.size() > told) findings.push_back(rest_of(verdicts.subspan(told)));
  return findings;
}

std::vector<std::string> coverage_notes(const FlightAnalysis& analysis) {
  const FlightCoverage& c = analysis.coverage;
  std::vector<std::string> notes;
  if (c.expected == 0) return analysis.notes;
  std::string versions;
  for (const std::string& version : c.versions) {
    versions += (versions.empty() ? "" : ", ") + (version.empty() ? "before 1.0" : version);
  }
  std::string line =
      fmt::format("{} of {} dumps (format {}), {} cut, {} records", c.expected - c.missing.size(),
                  c.expected, versions, c.cut.size(), c.entries);
  if (c.history) line += fmt::format(", {:.1f} s of history", duration_to_seconds(*c.history));
  if (c.wrapped > 0) line += fmt::format(", {} rings had turned over", c.wrapped);
  line += c.timing ? ", timing on" : ", timing off: \"scheduled\" may run";
  notes.push_back(std::move(line));
  if (!c.missing.empty()) notes.push_back("no dump of " + describe_ranks(c.missing));
  if (!c.cut.empty()) notes.push_back("cut: dump of " + describe_ranks(c.cut));
  notes.insert(notes.end(), analysis.notes.begin(), analysis.notes.end());
  return notes;
}

}  // namespace muster
