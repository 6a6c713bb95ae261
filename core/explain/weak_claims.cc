#include "core/explain/weak_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "core/explain/job_record.h"

namespace muster {
namespace {

// The scheduler or a signal ended the job: what is printed then is cleaning up. A record of another
// job ended none of this one's.
bool was_ended(const Scene& scene) {
  for (const SiteFact& fact : scene.input().facts) {
    const auto* job = std::get_if<JobRecord>(&fact.value);
    if (job == nullptr || belongs(scene, *job) == Belongs::no) continue;
    const std::string state = state_word(*job);
    if (state.starts_with("cancel") || state == "timeout" || state == "preempted" ||
        state == "completed") {
      return true;
    }
  }
  return !scene.with_cause(Cause::external_stop).empty();
}

void clean_up(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> ends;
  std::set<std::string> others, reasons;
  std::set<std::string> gpus;
  for (const std::size_t i : scene.sorted()) {
    const LogEvent& e = scene.event(i);
    const std::string code(e.word("code"));
    if (e.rule == "xid" && code != "45") others.insert(code);
    if (e.cause != Cause::benign_cleanup_xid) continue;
    ends.push_back(i);
    gpus.insert(scene.hardware_of(i).id);
    if (!e.word("caused_by").empty()) reasons.insert(std::string(e.word("caused_by")));
  }
  std::erase_if(claims, [](const Claim& c) { return c.cause == Cause::benign_cleanup_xid; });
  const bool fault = std::any_of(claims.begin(), claims.end(), [](const Claim& c) {
    return is_gpu_fault(c.cause) || c.cause == Cause::app_memory_fault;
  });
  if (ends.empty() || fault || !others.empty()) return;
  const bool ended = was_ended(scene);
  Claim claim = claim_of(scene, Cause::benign_cleanup_xid, ends);
  claim.join = "clean_up";
  claim.culprits.clear();
  claim.confidence = ended ? Confidence::high : Confidence::medium;
  claim.what = fmt::format("the channels of {} GPU{} were cleaned up when the program was ended{}",
                           gpus.size(), gpus.size() == 1 ? "" : "s",
                           ended ? "" : "; no other Xid stands in the log");
  if (!reasons.empty()) {
    claim.become(Cause::evidence_missing, "clean_up");
    claim.confidence = Confidence::low;
    claim.what = fmt::format("Xid 45 names Xid {} as its reason, and the log does not hold it",
                             *reasons.begin());
    claim.actions = {Action::collect_evidence};
    claim.next = "read the kernel log of the minutes before";
  }
  claims.push_back(std::move(claim));
}

void noise(const Scene& scene, std::vector<Claim>& claims) {
  std::map<Cause, std::vector<std::size_t>> by_cause;
  for (const std::size_t i : scene.sorted()) {
    const LogEvent& e = scene.event(i);
    const Severity severity = e.severity.value_or(cause_row(e.cause).severity);
    const bool alone = scene.role(i) == EventRole::confirmation && e.cause != Cause::undetermined &&
                       cause_row(e.cause).severity <= Severity::warning;
    if (scene.role(i) != EventRole::benign && !alone) continue;
    if (severity > Severity::warning || e.cause == Cause::benign_cleanup_xid) continue;
    // These two are weighed with the facts by their joins.
    if (e.cause == Cause::nvswitch_not_set_up || e.cause == Cause::storage_pause_recovered)
      continue;
    by_cause[e.cause].push_back(i);
  }
  for (auto& [cause, events] : by_cause) {
    const bool told =
        std::any_of(claims.begin(), claims.end(), [&](const Claim& c) { return c.cause == cause; });
    if (told) continue;
    const bool benign = scene.role(events.front()) == EventRole::benign;
    const std::size_t lines = events.size();
    Claim claim =
        claim_of(scene, benign && cause == Cause::undetermined ? Cause::harmless_message : cause,
                 std::move(events));
    if (claim.severity <= Severity::info) claim.culprits.clear();
    if (!benign) claim.cap(Confidence::medium);
    if (lines > 1) claim.what += fmt::format(" ({} such lines)", lines);
    claim.join = "noise";
    claims.push_back(std::move(claim));
  }
}

// Errors of transfers alone: most hosts that complain name the one whose process or link went.
void blamed_peer(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::set<std::string>> complainers;
  std::vector<std::size_t> errors;
  for (const std::size_t i : scene.with_role(EventRole::cascade)) {
    const std::string_view peer = scene.event(i).word("peer");
    if (peer.empty()) continue;
    errors.push_back(i);
    const std::string host = scene.identity().host_of_peer(peer);
    if (is_loopback(peer)) {  // each has another one by that name
      complainers[""].insert(std::to_string(i));
      continue;
    }
    complainers[host.empty() ? address_of(peer) : host].insert(
        scene.host(i) + "/" + std::to_string(scene.event(i).pid.value_or(0)));
  }
  if (errors.empty()) return;
  Claim claim = claim_of(scene, Cause::undetermined, errors);
  claim.severity = Severity::critical;
  claim.confidence = Confidence::low;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.what = "connections to other ranks broke; why is not in these logs";
  if (complainers.size() == 1 && !complainers.contains("")) {
    const std::string& peer = complainers.begin()->first;
    claim.culprits = {{CulpritKind::host, peer}};
    claim.what = fmt::format("all errors name {}, whose own log is not here", peer);
  }
  claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim.next = "read the log of the peers that are named and the counters of their ports";
  claim.join = "blamed_peer";
  claims.push_back(std::move(claim));
}

// A rank whose C++ library threw while others only lost their connections. That it saw what did
// not fit makes it no culprit: it may be the one that was sent too much.
void threw_alone(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> throwers;
  std::set<std::int32_t> ranks;
  for (const std::size_t i : scene.with_role(EventRole::teardown)) {
    if (!scene.rank(i) || !scene.says(i, {"terminate called after throwing"})) continue;
    throwers.push_back(i);
    ranks.insert(*scene.rank(i));
  }
  const auto lost = scene.with_role(EventRole::cascade);
  if (ranks.size() != 1 || lost.empty()) return;
  if (std::any_of(lost.begin(), lost.end(),
                  [&](std::size_t i) { return scene.rank(i) == *ranks.begin(); })) {
    return;
  }
  const LogEvent& e = scene.event(throwers.front());
  Claim claim = claim_of(scene, Cause::undetermined, throwers);
  claim.severity = Severity::critical;
  claim.confidence = Confidence::low;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.what = fmt::format(
      "rank {} ended itself by an error of its library, the others lost their connection to it",
      *ranks.begin());
  claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim.next = fmt::format(
      "read {}{}; where sizes do not fit, it or a neighbour calls another collective "
      "(muster trace)",
      e.source, e.line ? fmt::format(":{}", *e.line) : "");
  claim.join = "threw_alone";
  claims.push_back(std::move(claim));
}

// The last end of training, where no attempt began behind it: its word, or the step that was
// planned as the last.
std::optional<std::size_t> end_of_training(const Scene& scene) {
  std::optional<std::size_t> end;
  for (const std::size_t i : scene.sorted()) {
    const LogEvent& e = scene.event(i);
    const bool last_step = e.rule == "progress:last_step" && !e.word("step").empty() &&
                           e.word("step") == e.word("target_step");
    if (e.rule == "progress:finished" || last_step) end = i;
    if (e.rule == "progress:restarted" && end && scene.clock().before(*end, i)) end.reset();
  }
  return end;
}

// Connections that broke and processes that ended while nobody tells of a failure, in a run that
// came to its end: that end is what they follow from, or it got over them.
bool after_end(const Scene& scene, std::vector<Claim>& claims) {
  const auto end = end_of_training(scene);
  if (!end) return false;
  std::vector<std::size_t> events;
  for (const std::size_t i : scene.sorted()) {
    const EventRole role = scene.role(i);
    if (role == EventRole::cascade || role == EventRole::teardown) events.push_back(i);
  }
  if (events.empty()) return false;
  const bool earlier = scene.clock().before(events.back(), *end);
  Claim claim = claim_of(scene, earlier ? Cause::undetermined : Cause::timeout_after_completion,
                         std::move(events));
  claim.severity = Severity::info;
  claim.confidence = Confidence::medium;
  claim.culprits.clear();
  claim.events.push_back(*end);
  claim.what = earlier ? "connections broke or processes ended, and training came to its end behind"
                       : "training came to its end; connections that broke or processes that ended "
                         "are no loss of it";
  claim.actions = {earlier ? Action::watch : Action::keep_result};
  claim.next = "nothing; let all ranks leave the process group together";
  claim.join = "after_end";
  claims.push_back(std::move(claim));
  return true;
}

struct SignalRow {
  std::string_view signal, meaning, next;
};
constexpr SignalRow kSignals[] = {
    {"9", "a process was killed (signal 9)",
     "look for an OOM kill in the kernel log of its host, then at the scheduler's"},
    {"7", "a process got a bus error (signal 7)", "look at df /dev/shm and the kernel log there"},
    {"11", "a process crashed (signal 11)", "look for its core dump and the kernel log"},
    {"4", "a process ran an instruction that its processor does not have (signal 4)",
     "compare the build with the processor"},
    {"8", "a process divided by zero (signal 8)", "look for its core dump"},
    {"6", "a process gave up by itself (signal 6)", "read the last lines of its own log"},
};

void ended_by_signal(const Scene& scene, std::vector<Claim>& claims) {
  for (const std::size_t i : scene.with_role(EventRole::teardown)) {
    const std::string_view signal = scene.event(i).word("signal");
    const auto* row = std::find_if(std::begin(kSignals), std::end(kSignals),
                                   [&](const SignalRow& r) { return r.signal == signal; });
    if (row == std::end(kSignals)) continue;
    Claim claim = claim_of(scene, Cause::undetermined, {i});
    claim.severity = Severity::critical;
    claim.confidence = Confidence::low;
    if (scene.rank(i)) claim.culprits = {{CulpritKind::rank, std::to_string(*scene.rank(i))}};
    claim.what = row->meaning;
    claim.next = row->next;
    claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
    claim.join = "ended_by_signal";
    claims.push_back(std::move(claim));
    return;
  }
}

// Only the ends of processes or shouts of those that lost another, and nobody who says why.
void only_ends(const Scene& scene, std::vector<Claim>& claims) {
  const auto ends = scene.with_role(EventRole::teardown);
  const auto shouts = scene.with_role(EventRole::cascade);
  if (ends.empty() && shouts.empty()) return;
  const bool failed = !shouts.empty();
  Claim claim = claim_of(scene, failed ? Cause::undetermined : Cause::evidence_missing,
                         failed ? shouts : ends);
  claim.severity = failed ? Severity::critical : Severity::info;
  claim.confidence = Confidence::low;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.what = failed ? "these lines only follow from the end of another process, which is not in "
                        "these logs"
                      : "these lines only tell that processes ended; what ended them is not in "
                        "these logs";
  claim.actions = {Action::collect_evidence};
  claim.next = "read the logs of all ranks and the kernel logs of their hosts";
  claim.join = "only_ends";
  claims.push_back(std::move(claim));
}

}  // namespace

void add_weak_claims(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  clean_up(scene, claims);
  noise(scene, claims);
  const auto stands = [&] {
    return std::any_of(claims.begin(), claims.end(), [](const Claim& c) {
      return !c.follows && (c.severity >= Severity::warning || c.cause == Cause::external_stop ||
                            layer_of(c.cause) == Layer::wait);
    });
  };
  if (!stands() && waits.events.empty() && after_end(scene, claims)) return;
  if (!stands() && waits.events.empty()) threw_alone(scene, claims);
  if (!stands()) blamed_peer(scene, claims);
  if (!stands() && waits.events.empty()) ended_by_signal(scene, claims);
  if (!stands() && claims.empty()) only_ends(scene, claims);
}

}  // namespace muster
