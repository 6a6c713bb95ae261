#include "core/flight/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/limits.h"
#include "core/flight/odd_call.h"
#include "core/flight/ring_judge.h"
#include "core/flight/stuck_messages.h"

namespace muster {
namespace {

using Ranks = std::vector<std::int32_t>;

bool is_half_at_most(const Ranks& part, std::size_t whole) {
  return part.size() * 2 <= whole;
}

}  // namespace

std::vector<Suspicion> FlightJudge::judge() {
  std::vector<Suspicion> found;
  find_disagreements(found);
  find_idle_ranks(found);
  find_complete_calls(found);
  for (Suspicion& suspicion : stuck_messages(evidence_)) found.push_back(std::move(suspicion));
  find_missing_dumps(found);
  for (Suspicion& suspicion : found) evidence_.weigh(suspicion);
  // What says nothing of who comes after everything that does.
  const auto before = [](const Suspicion& a, const Suspicion& b) {
    const bool a_open = a.kind == FlightVerdictKind::undecided;
    const bool b_open = b.kind == FlightVerdictKind::undecided;
    return a_open != b_open ? b_open : a.explained > b.explained;
  };
  std::stable_sort(found.begin(), found.end(), before);
  std::vector<Suspicion> answer;
  Ranks explained;
  for (Suspicion& suspicion : found) {
    const Ranks with = merged(explained, evidence_.explained_by(suspicion.roots));
    if (with.size() == explained.size()) continue;
    explained = with;
    answer.push_back(std::move(suspicion));
  }
  Ranks left;
  std::set_difference(graph_.waiting().begin(), graph_.waiting().end(), explained.begin(),
                      explained.end(), std::back_inserter(left));
  if (!left.empty()) {
    if (auto ring = RingJudge(evidence_).judge(left)) answer.push_back(std::move(*ring));
  }
  std::stable_sort(answer.begin(), answer.end(), before);
  return answer;
}

// ---- a collective in which not all call the same -----------------------------------------------

void FlightJudge::find_disagreements(std::vector<Suspicion>& out) {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (node.kind != WaitKind::collective || node.parties.size() < 2) continue;
    Suspicion suspicion = judge_disagreement(i);
    const auto same = std::find_if(out.begin(), out.end(), [&](const Suspicion& other) {
      return other.kind == suspicion.kind && other.culprits == suspicion.culprits &&
             !suspicion.culprits.empty();
    });
    if (same == out.end()) {
      out.push_back(std::move(suspicion));
    } else {
      same->roots.push_back(i);
    }
  }
}

namespace {

// The place of the only zero among two.
std::optional<std::size_t> only_zero(const std::vector<std::size_t>& votes) {
  if (votes.size() != 2 || (votes[0] == 0) == (votes[1] == 0)) return {};
  return votes[0] == 0 ? 0 : 1;
}

}  // namespace

// What the members of all groups of the node's kind called at its number; its own are among them.
const FlightJudge::Votes& FlightJudge::votes_of_class(const WaitNode& node) {
  const CallHistory& history = evidence_.history();
  const std::uint64_t kind = history.class_of_group(node.group);
  const auto [place, added] = votes_.emplace(std::pair(kind, node.seq), Votes());
  if (!added) return place->second;
  for (std::uint32_t g = 0; g < fleet_.groups().size(); ++g) {
    if (history.class_of_group(g) != kind) continue;
    for (const std::int32_t member : fleet_.groups()[g].ranks) {
      const FlightRank* rank = fleet_.find(member);
      const auto entry = rank == nullptr ? std::nullopt : rank->find(g, node.seq);
      if (entry) ++place->second[rank->key(*entry)];
    }
  }
  return place->second;
}

// Which party is the odd one where no majority tells: by what groups of the same kind did at the
// same number; else by what the ranks did before, which is a hint: all may have been due to change.
FlightJudge::Odd FlightJudge::odd_party(const WaitNode& node) {
  std::vector<std::size_t> votes;
  const Votes& cast = votes_of_class(node);
  for (const CallParty& party : node.parties) {
    const auto at = cast.find(party.key);
    const std::size_t all = at == cast.end() ? 0 : at->second;
    votes.push_back(all - std::min(all, party.ranks.size()));
  }
  if (const auto odd = only_zero(votes); odd && votes[1 - *odd] >= 2) {
    return {odd, Confidence::medium,
            "no majority in the group; groups of its kind called the other thing at this number"};
  }
  for (std::size_t p = 0; p < node.parties.size(); ++p) {
    const Ranks& ranks = node.parties[p].ranks;
    votes[p] = std::any_of(ranks.begin(), ranks.end(),
                           [&](std::int32_t rank) { return evidence_.history().novelty(rank) > 0; })
                   ? 0
                   : 1;
  }
  if (const auto odd = only_zero(votes)) {
    return {odd, Confidence::low,
            "no majority; its order of calls was never seen before, that of the others always"};
  }
  for (std::size_t p = 0; p < node.parties.size(); ++p) {
    const std::size_t times = evidence_.history().times(node.parties[p].key);
    votes[p] = times > node.parties[p].ranks.size() ? times : 0;
  }
  return {only_zero(votes), Confidence::low,
          "no majority in the group; this call was never made before, the other one often"};
}

Suspicion FlightJudge::judge_disagreement(std::uint32_t index) {
  const WaitNode& node = graph_.nodes()[index];
  Suspicion suspicion;
  suspicion.roots = {index};
  std::size_t present = 0;
  for (const CallParty& party : node.parties) present += party.ranks.size();
  if (evidence_.others_went_on(node)) {
    suspicion.why =
        "others completed what comes after it: these records are of different moments, or numbered "
        "from different starts; dumps of one moment would tell";
    return suspicion;
  }
  std::size_t norm = 0;
  // Most of those that are in, and of all who should be: three of eight may be the odd ones.
  const std::size_t members = fleet_.groups()[node.group].ranks.size() - node.no_dump.size();
  if (node.parties[0].ranks.size() * 2 > std::max(present, members)) {
    // Two against one may be one and its partner; three against one are not.
    suspicion.confidence =
        node.parties[0].ranks.size() * 4 >= present * 3 ? Confidence::high : Confidence::medium;
    suspicion.why =
        fmt::format("{} of {} ranks call the same", node.parties[0].ranks.size(), present);
    // Most may be the odd ones: all but one log something.
    const auto new_to_all = [&](const CallParty& party) {
      return evidence_.history().times(party.key) <= party.ranks.size();
    };
    if (new_to_all(node.parties[0]) && node.parties.size() == 2 && !new_to_all(node.parties[1])) {
      suspicion.confidence = Confidence::medium;
      suspicion.why += ", which nobody ever made before; the rest call the usual";
    }
  } else {
    const Odd odd = odd_party(node);
    if (!odd.party) {
      suspicion.why =
          evidence_.logs_given()
              ? "no majority: the step counts of both sides would tell which one left the common "
                "order"
              : "no majority: the step counts of both sides, or their logs, would tell which one "
                "left the common order";
      return suspicion;
    }
    norm = 1 - *odd.party;
    suspicion.confidence = odd.confidence;
    suspicion.why = odd.why;
  }
  // The oldest format numbers groups on each rank alone: what it calls one group may be two.
  const FleetGroup& group = fleet_.groups()[node.group];
  if (!group.members_told && group.description.empty()) suspicion.confidence = Confidence::low;
  for (std::size_t p = 0; p < node.parties.size(); ++p) {
    if (p != norm) suspicion.culprits = merged(suspicion.culprits, node.parties[p].ranks);
  }
  suspicion.kind = kind_of_odd(evidence_, node, suspicion.culprits);
  return suspicion;
}

// ---- ranks that hold others up and wait for nothing --------------------------------------------

// All who wait in it have completed other calls since: it stands beside the work, not in its way.
bool FlightJudge::goes_on_beside(const WaitNode& node) const {
  return !node.waiting.empty() &&
         std::all_of(node.waiting.begin(), node.waiting.end(), [&](std::int32_t r) {
           const FlightRank& rank = *fleet_.find(r);
           const auto entry = rank.find(node.group, node.seq);
           if (!entry || graph_.waits_of(r).size() != 1) return false;
           const auto last = static_cast<std::uint32_t>(rank.dump().entries.size() - 1);
           return last > *entry && rank.status(last) == FlightStatus::done;
         });
}

bool FlightJudge::waits_for_a_root(const WaitNode& node) const {
  const CallParty& party = node.parties.front();
  const FlightRank& first = *fleet_.find(party.ranks.front());
  const CallFamily family = first.call(party.entry.front()).family;
  return family == CallFamily::broadcast || family == CallFamily::scatter;
}

// A few are in a call that nobody else ever made: they may be the odd ones, or the first to come.
bool FlightJudge::is_strange(const WaitNode& node) {
  if (node.kind != WaitKind::collective || node.parties.size() != 1) return false;
  const CallParty& in = node.parties.front();
  if (!is_minority(in.ranks.size(), fleet_.groups()[node.group].ranks.size())) return false;
  return !evidence_.history().seen_elsewhere(*fleet_.find(in.ranks.front()), in.entry.front(),
                                             in.ranks);
}

std::vector<FlightJudge::IdleRank> FlightJudge::idle_ranks() {
  std::map<std::uint32_t, IdleRank> idle;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    const bool strange = is_strange(node);
    for (const WaitEdge& edge : node.hard) {
      if (graph_.nodes()[edge.to].kind != WaitKind::idle_rank) continue;
      IdleRank& row = idle[edge.to];
      row.node = edge.to;
      row.rank = edge.carrier;
      const FlightLane* lane = fleet_.find(edge.carrier)->lane(node.group);
      // A dump of the unfinished only holds nothing of what is done.
      const bool empty = fleet_.find(edge.carrier)->dump().entries.empty();
      const bool never = lane == nullptr || (lane->collectives.empty() && lane->messages.empty() &&
                                             lane->last_enqueued.value_or(0) <= 0 && !empty);
      row.never_in_group = row.never_in_group && never;
      if (node.kind != WaitKind::collective) continue;
      if (goes_on_beside(node)) continue;
      row.by_collective = true;
      row.only_one_way = row.only_one_way && waits_for_a_root(node);
      row.only_strange = row.only_strange && strange;
      row.forgetful = row.forgetful || fleet_.find(edge.carrier)->presence(node.group, node.seq) ==
                                           Presence::unknown;
    }
  }
  std::vector<IdleRank> rows;
  for (const auto& [node, row] : idle) rows.push_back(row);
  return rows;
}

void FlightJudge::find_idle_ranks(std::vector<Suspicion>& out) {
  std::vector<IdleRank> plain, strange, messages;
  for (const IdleRank& row : idle_ranks()) {
    const bool weak = !row.by_collective || row.only_one_way;
    (weak ? messages : row.only_strange ? strange : plain).push_back(row);
  }
  if (!plain.empty()) out.push_back(judge_idle(plain));
  if (!messages.empty()) {
    out.push_back(judge_idle(messages));
    // A receive may stand open by design, workers may wait for a word of their root.
    const bool sure = evidence_.somebody_overdue();
    out.back().confidence =
        std::min(out.back().confidence, sure ? Confidence::medium : Confidence::low);
  }
  if (!strange.empty()) {
    out.push_back(judge_strange());
  }
}

Suspicion FlightJudge::judge_strange() {
  Suspicion suspicion;
  suspicion.kind = FlightVerdictKind::extra_op;
  suspicion.why =
      "nobody else ever made this call: these ranks are odd, or the others late; stacks of one of "
      "each would tell";
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!is_strange(graph_.nodes()[i])) continue;
    suspicion.roots.push_back(i);
    suspicion.culprits = merged(suspicion.culprits, graph_.nodes()[i].parties.front().ranks);
  }
  return suspicion;
}

Suspicion FlightJudge::judge_idle(const std::vector<IdleRank>& idle) {
  Suspicion suspicion;
  bool never_in_group = true, stale = false, forgetful = false;
  for (const IdleRank& row : idle) {
    suspicion.roots.push_back(row.node);
    suspicion.culprits.push_back(row.rank);
    never_in_group = never_in_group && row.never_in_group;
    forgetful = forgetful || row.forgetful;
    stale = stale || evidence_.older_than_its_peers(row.rank);
  }
  std::sort(suspicion.culprits.begin(), suspicion.culprits.end());
  suspicion.kind = never_in_group ? FlightVerdictKind::comm_init : FlightVerdictKind::behind;
  const bool sure = !forgetful && evidence_.somebody_overdue();
  suspicion.confidence = sure ? Confidence::high : Confidence::medium;
  suspicion.why = "waits in no collective, and the others wait for it";
  // One moment of a job at work looks the same: most have not come yet. A time-out would tell.
  const bool many = suspicion.culprits.size() * 4 > fleet_.ranks().size();
  const bool most = suspicion.culprits.size() * 2 > fleet_.ranks().size();
  if (most || (many && !evidence_.somebody_overdue())) {
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "many ranks wait in nothing: a job at work looks the same, and so does one in which "
        "the few have more to do; a second set of dumps";
    suspicion.why += evidence_.logs_given() ? " would tell" : ", or the logs, would tell";
  }
  const auto wait = evidence_.longest_wait_ns();
  if (wait && *wait < limits::kFlightLongWaitNs) {
    suspicion.confidence = Confidence::low;
    suspicion.why = "the others had waited for less than two minutes when the dumps were written";
  }
  if (evidence_.somebody_is(FlightStatus::given_up)) {
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "the others ended by an error after it stopped, or its dump is older than theirs";
    if (!evidence_.logs_given()) suspicion.why += "; its log would tell";
  }
  if (stale) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "others completed what this rank had not issued: its dump was written before theirs; dumps "
        "of one moment would tell";
    suspicion.culprits.clear();
  }
  return suspicion;
}

// ---- everybody is in, and it does not end ------------------------------------------------------

void FlightJudge::find_complete_calls(std::vector<Suspicion>& out) {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    const bool complete = node.kind == WaitKind::collective && node.parties.size() == 1 &&
                          node.hard.empty() && node.soft.empty();
    if (complete) out.push_back(judge_complete_call(i));
  }
}

bool FlightJudge::members_may_be_missing(const WaitNode& node) const {
  return !fleet_.groups()[node.group].members_told;
}

Suspicion FlightJudge::judge_complete_call(std::uint32_t index) {
  const WaitNode& node = graph_.nodes()[index];
  const CallParty& party = node.parties.front();
  Suspicion suspicion;
  suspicion.roots = {index};
  suspicion.kind = FlightVerdictKind::fabric_all;
  suspicion.confidence = Confidence::high;
  Ranks in_launch, queued, running;
  bool told = true, by_retirement = false;
  for (std::size_t i = 0; i < party.ranks.size(); ++i) {
    const FlightRank& rank = *fleet_.find(party.ranks[i]);
    const FlightLane* lane = rank.lane(node.group);
    by_retirement = by_retirement || lane->ends_by_retirement;
    told = told && lane->last_enqueued.has_value();
    if (inside_launch(rank, *lane, party.entry[i])) in_launch.push_back(rank.rank());
    const FlightStatus status = rank.status(party.entry[i]);
    if (status == FlightStatus::pending && rank.times()) queued.push_back(rank.rank());
    if (status == FlightStatus::running) running.push_back(rank.rank());
  }
  if (evidence_.forgotten(node)) {
    give_up(suspicion);
  } else if (!node.unknown.empty()) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.why = fmt::format(
        "{} ranks may or may not have come: their rings no longer hold it, their files are cut, or "
        "written by the recorder of another back end; {} would tell",
        node.unknown.size(),
        fleet_.hides() ? "dumps of all back ends" : "a larger TORCH_FR_BUFFER_SIZE");
  } else if (told && !in_launch.empty() &&
             (is_minority(in_launch.size(), party.ranks.size()) || party.ranks.size() == 2) &&
             in_launch.size() < party.ranks.size()) {
    suspicion.kind = FlightVerdictKind::in_launch;
    suspicion.culprits = in_launch;
    suspicion.why = "its thread has written the record and has not come back from the call";
  } else if (members_may_be_missing(node)) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "all whose dumps are here are in it, and these dumps do not tell who else should be: those "
        "of all hosts would tell";
  } else if (evidence_.others_went_on(node)) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "others went on after it: the dumps of those that wait are older; dumps of one moment "
        "would "
        "tell";
  } else if (node.finished > 0 && !by_retirement) {
    suspicion.kind = FlightVerdictKind::fabric_partial;
    suspicion.confidence = Confidence::medium;
    if (is_half_at_most(node.waiting, party.ranks.size())) suspicion.culprits = node.waiting;
    suspicion.why = fmt::format("{} of {} ranks got out", node.finished, party.ranks.size());
  } else if (!queued.empty() && queued.size() <= running.size()) {
    suspicion.culprits = queued;
    suspicion.confidence = Confidence::medium;
    suspicion.why = "the others run it on the GPU, these have it queued behind earlier work";
  } else {
    // Without the status a rank that never came back from the call looks like the others.
    if (!told) suspicion.confidence = Confidence::medium;
    suspicion.why = "all members are in with the same call, and nobody got out";
  }
  return suspicion;
}

namespace {

// Whether these ranks may be all of some hosts, whose dumps were not collected: hosts hold ranks in
// a row, as many each as divides where they begin. Hosts of one rank are not thought of.
bool may_be_whole_hosts(const Ranks& missing) {
  std::int32_t step = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const bool begins = i == 0 || missing[i] != missing[i - 1] + 1;
    const bool ends = i + 1 == missing.size() || missing[i + 1] != missing[i] + 1;
    if (begins) step = std::gcd(step, missing[i]);
    if (ends) step = std::gcd(step, missing[i] + 1);
  }
  return step != 1;
}

}  // namespace

// Everybody else waits, in one and the same call, for these and nobody else; and somebody has
// waited until the time was out, when every recorder that still runs writes its dump.
bool FlightJudge::all_wait_for(const Ranks& missing) const {
  if (missing != fleet_.missing() || may_be_whole_hosts(missing)) return false;
  const auto node =
      std::find_if(graph_.nodes().begin(), graph_.nodes().end(), [&](const WaitNode& n) {
        return n.kind == WaitKind::collective && n.no_dump == missing && n.absent.empty() &&
               n.unknown.empty() && n.parties.size() == 1 && n.finished == 0 &&
               n.waiting.size() == fleet_.ranks().size();
      });
  return node != graph_.nodes().end() && fleet_.groups()[node->group].members_told &&
         !evidence_.forgotten(*node) && evidence_.somebody_overdue();
}

void FlightJudge::find_missing_dumps(std::vector<Suspicion>& out) {
  Suspicion suspicion;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (graph_.nodes()[i].kind != WaitKind::rank_without_dump) continue;
    suspicion.roots.push_back(i);
    suspicion.culprits.push_back(graph_.nodes()[i].rank);
  }
  if (suspicion.roots.empty()) return;
  std::sort(suspicion.culprits.begin(), suspicion.culprits.end());
  const std::size_t all = fleet_.ranks().size() + fleet_.missing().size();
  const bool few = is_minority(suspicion.culprits.size(), all);
  suspicion.kind = few ? FlightVerdictKind::no_dump : FlightVerdictKind::undecided;
  // One that is missing has died, more often than not; several were as likely not collected.
  const bool one = suspicion.culprits.size() == 1 && fleet_.missing().size() == 1;
  const bool decided = one || (few && all_wait_for(suspicion.culprits));
  suspicion.confidence = decided ? Confidence::medium : Confidence::low;
  suspicion.why = !few  ? "most dumps are missing: collect them from all hosts"
                  : one ? "dead, unreachable, or in tear-down: it left no dump"
                  : decided
                      ? "all others wait in one call until the time is out, and only these left "
                        "no dump: dead or in tear-down"
                      : "dead, in tear-down, or not collected: their dumps";
  if (few && !decided) {
    suspicion.why += evidence_.logs_given() ? " would tell" : ", or their logs, would tell";
  }
  if (!few) suspicion.culprits.clear();
  out.push_back(std::move(suspicion));
}

}  // namespace muster
