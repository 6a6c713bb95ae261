#include "core/flight/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/flight/frames.h"

namespace muster {
namespace {

// Share of the waiting ranks that an answer must explain to be sure.
constexpr double kExplainsEnough = 0.8;
// Sets of ranks that are tried as the way out of a ring.
constexpr std::size_t kRingTries = 8192;

using Ranks = std::vector<std::int32_t>;

Ranks merged(const Ranks& a, const Ranks& b) {
  Ranks all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

bool is_minority(const Ranks& part, std::size_t whole) {
  return part.size() * 2 < whole;
}
bool is_half_at_most(const Ranks& part, std::size_t whole) {
  return part.size() * 2 <= whole;
}

}  // namespace

FlightJudge::FlightJudge(const FlightFleet& fleet, const WaitGraph& graph,
                         std::span<const RankWitness> witnesses)
    : fleet_(fleet), graph_(graph), witnesses_(witnesses) {}

const CallHistory& FlightJudge::history() {
  if (!history_) history_ = std::make_unique<CallHistory>(fleet_);
  return *history_;
}

std::vector<std::int32_t> FlightJudge::explained_by(const std::vector<std::uint32_t>& roots) const {
  const std::vector<bool> reaches = graph_.reaching(roots);
  Ranks explained;
  for (const std::int32_t rank : graph_.waiting()) {
    const auto& waits = graph_.waits_of(rank);
    if (std::any_of(waits.begin(), waits.end(), [&](std::uint32_t n) { return reaches[n]; })) {
      explained.push_back(rank);
    }
  }
  return explained;
}

bool FlightJudge::forgotten(const WaitNode& node) const {
  const auto lost = [&](std::int32_t rank) {
    const FlightRank* own = fleet_.find(rank);
    const FlightLane* lane = own == nullptr ? nullptr : own->lane(node.group);
    return lane != nullptr && own->forgot_unfinished(*lane);
  };
  if (node.waiting.empty()) return false;
  if (node.kind == WaitKind::message) {
    return std::any_of(node.waiting.begin(), node.waiting.end(), lost);
  }
  // One member that still knows that the number before was done vouches for all.
  return std::all_of(node.waiting.begin(), node.waiting.end(), lost);
}

void FlightJudge::give_up(Suspicion& suspicion) {
  suspicion.kind = FlightVerdictKind::undecided;
  suspicion.confidence = Confidence::low;
  suspicion.culprits.clear();
  suspicion.why =
      "the rings are too short: they have forgotten what came first; TORCH_FR_BUFFER_SIZE=20000 "
      "would tell";
}

// Sure answers become less so where they leave ranks unexplained or dumps are missing.
void FlightJudge::weigh(Suspicion& suspicion) const {
  suspicion.explained = explained_by(suspicion.roots).size();
  const double share = graph_.waiting().empty() ? 0
                                                : static_cast<double>(suspicion.explained) /
                                                      static_cast<double>(graph_.waiting().size());
  if (suspicion.confidence != Confidence::high) return;
  const bool blind = !fleet_.missing().empty();
  if (share < kExplainsEnough || blind) suspicion.confidence = Confidence::medium;
}

std::vector<Suspicion> FlightJudge::judge() {
  std::vector<Suspicion> found;
  find_disagreements(found);
  find_idle_ranks(found);
  find_complete_calls(found);
  find_stuck_messages(found);
  find_missing_dumps(found);
  for (Suspicion& suspicion : found) weigh(suspicion);
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
    const Ranks with = merged(explained, explained_by(suspicion.roots));
    if (with.size() == explained.size()) continue;
    explained = with;
    answer.push_back(std::move(suspicion));
  }
  Ranks left;
  std::set_difference(graph_.waiting().begin(), graph_.waiting().end(), explained.begin(),
                      explained.end(), std::back_inserter(left));
  if (!left.empty()) {
    if (auto ring = judge_ring(left)) answer.push_back(std::move(*ring));
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

// Which party is the odd one where no majority tells: by what groups of the same kind did at the
// same number; else by what the ranks did before, which is a hint: all may have been due to change.
FlightJudge::Odd FlightJudge::odd_party(const WaitNode& node) {
  std::vector<std::size_t> votes(node.parties.size(), 0);
  for (std::uint32_t g = 0; g < fleet_.groups().size(); ++g) {
    if (g == node.group || !history().same_class(g, node.group)) continue;
    for (const std::int32_t member : fleet_.groups()[g].ranks) {
      const FlightRank* rank = fleet_.find(member);
      const auto entry = rank == nullptr ? std::nullopt : rank->find(g, node.seq);
      for (std::size_t p = 0; entry && p < votes.size(); ++p) {
        if (rank->key(*entry) == node.parties[p].key) ++votes[p];
      }
    }
  }
  if (const auto odd = only_zero(votes); odd && votes[1 - *odd] >= 2) {
    return {odd, Confidence::medium,
            "no majority in the group; groups of its kind called the other thing at this number"};
  }
  for (std::size_t p = 0; p < node.parties.size(); ++p) {
    const Ranks& ranks = node.parties[p].ranks;
    votes[p] = std::any_of(ranks.begin(), ranks.end(),
                           [&](std::int32_t rank) { return history().novelty(rank) > 0; })
                   ? 0
                   : 1;
  }
  if (const auto odd = only_zero(votes)) {
    return {odd, Confidence::low,
            "no majority; its order of calls was never seen before, that of the others always"};
  }
  for (std::size_t p = 0; p < node.parties.size(); ++p) {
    const std::size_t times = history().times(node.parties[p].key);
    votes[p] = times > node.parties[p].ranks.size() ? times : 0;
  }
  return {only_zero(votes), Confidence::low,
          "no majority in the group; this call was never made before, the other one often"};
}

// One call too many: after it the rank makes the call that the others make now.
bool FlightJudge::others_call_comes_next(const WaitNode& node, const FlightRank& rank) const {
  const FlightLane* lane = rank.lane(node.group);
  const auto entry = rank.find(node.group, node.seq);
  if (lane == nullptr || !entry) return false;
  const auto next = std::upper_bound(lane->collectives.begin(), lane->collectives.end(), *entry);
  if (next == lane->collectives.end()) return false;
  const std::uint64_t own = rank.key(*entry), then = rank.key(*next);
  return own != then && std::any_of(node.parties.begin(), node.parties.end(),
                                    [&](const CallParty& party) { return party.key == then; });
}

// Without frames a call that differs from all others in size or type only is no call of its own.
bool FlightJudge::is_of_its_own(const WaitNode& node, const CallParty& party,
                                std::size_t member) const {
  const FlightRank& rank = *fleet_.find(party.ranks[member]);
  if (!rank.stack(party.entry[member]).empty()) return true;
  return std::all_of(node.parties.begin(), node.parties.end(), [&](const CallParty& other) {
    const FlightRank& there = *fleet_.find(other.ranks.front());
    return other.key == party.key ||
           call_difference(rank.signature(party.entry[member]),
                           there.signature(other.entry.front())) == "operation";
  });
}

FlightVerdictKind FlightJudge::kind_of_odd(const WaitNode& node, const Ranks& ranks) {
  bool odd_outside = false, others_outside = false, extra = false;
  for (const CallParty& party : node.parties) {
    for (std::size_t i = 0; i < party.ranks.size(); ++i) {
      const FlightRank& rank = *fleet_.find(party.ranks[i]);
      const bool outside = outside_the_step(rank.dump(), rank.stack(party.entry[i]));
      const bool odd = std::binary_search(ranks.begin(), ranks.end(), party.ranks[i]);
      (odd ? odd_outside : others_outside) |= outside;
      extra = extra || (odd && (node.parties.size() == 1 || others_call_comes_next(node, rank)) &&
                        !history().seen_elsewhere(rank, party.entry[i], ranks) &&
                        is_of_its_own(node, party, i));
    }
  }
  if (odd_outside && !others_outside) return FlightVerdictKind::ahead_left_loop;
  return extra ? FlightVerdictKind::extra_op : FlightVerdictKind::mismatch;
}

Suspicion FlightJudge::judge_disagreement(std::uint32_t index) {
  const WaitNode& node = graph_.nodes()[index];
  Suspicion suspicion;
  suspicion.roots = {index};
  std::size_t present = 0;
  for (const CallParty& party : node.parties) present += party.ranks.size();
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
      return history().times(party.key) <= party.ranks.size();
    };
    if (new_to_all(node.parties[0]) && node.parties.size() == 2 && !new_to_all(node.parties[1])) {
      suspicion.confidence = Confidence::medium;
      suspicion.why += ", which nobody ever made before; the rest call the usual";
    }
  } else {
    const Odd odd = odd_party(node);
    if (!odd.party) {
      suspicion.why =
          "no majority: the step counts of both sides, or their logs, would tell which one left "
          "the common order";
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
  suspicion.kind = kind_of_odd(node, suspicion.culprits);
  return suspicion;
}

// ---- ranks that hold others up and wait for nothing --------------------------------------------

// Others completed what this rank never issued: its dump was written before theirs.
bool FlightJudge::older_than_its_peers(std::int32_t rank) const {
  const FlightRank& own = *fleet_.find(rank);
  for (const FlightLane& lane : own.lanes()) {
    if (lane.collectives.empty()) continue;
    const std::int64_t last = own.entry(lane.collectives.back()).seq;
    for (const std::int32_t member : fleet_.groups()[lane.group].ranks) {
      const FlightRank* peer = member == rank ? nullptr : fleet_.find(member);
      const FlightLane* theirs = peer == nullptr ? nullptr : peer->lane(lane.group);
      if (theirs == nullptr) continue;
      for (const std::uint32_t entry : theirs->collectives) {
        if (peer->entry(entry).seq <= last) continue;
        if (peer->status(entry) == FlightStatus::timed_out) return false;
        if (peer->status(entry) == FlightStatus::done &&
            is_synchronising(peer->call(entry).family)) {
          return true;
        }
      }
    }
  }
  return false;
}

bool FlightJudge::somebody_is(FlightStatus status) const {
  return std::any_of(fleet_.ranks().begin(), fleet_.ranks().end(), [&](const FlightRank& rank) {
    for (std::size_t i = rank.first_entry(); i < rank.dump().entries.size(); ++i) {
      if (rank.status(static_cast<std::uint32_t>(i)) == status) return true;
    }
    return false;
  });
}

bool FlightJudge::somebody_overdue() const {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  constexpr std::int64_t kCopyMs = 900'000;
  if (somebody_is(FlightStatus::timed_out)) return true;
  if (std::any_of(witnesses_.begin(), witnesses_.end(), [](const RankWitness& witness) {
        return witness.kind == WitnessKind::collective_timeout;
      })) {
    return true;
  }
  return std::any_of(fleet_.ranks().begin(), fleet_.ranks().end(), [](const FlightRank& rank) {
    for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < rank.dump().entries.size();
         ++i) {
      const std::int64_t timeout_ms = rank.entry(i).timeout_ms;
      const auto age_ns = rank.age_ns(i);
      if (!rank.unfinished(i) || timeout_ms <= 0 || !age_ns) continue;
      // The watchdog writes the dump when the time is out, or somebody a little before. Much later
      // is the time of a copy, and tells nothing.
      const std::int64_t age_ms = *age_ns / kNsPerMs;
      const std::int64_t late_ms = 2 * timeout_ms + kCopyMs;
      if (age_ms >= timeout_ms - timeout_ms / 10 && age_ms <= late_ms) return true;
    }
    return false;
  });
}

std::optional<std::int64_t> FlightJudge::longest_wait_ns() const {
  std::optional<std::int64_t> longest;
  for (const FlightRank& rank : fleet_.ranks()) {
    for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < rank.dump().entries.size();
         ++i) {
      const auto age = rank.unfinished(i) ? rank.age_ns(i) : std::nullopt;
      if (age && (!longest || *age > *longest)) longest = age;
    }
  }
  return longest;
}

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
  if (!is_minority(in.ranks, fleet_.groups()[node.group].ranks.size())) return false;
  return !history().seen_elsewhere(*fleet_.find(in.ranks.front()), in.entry.front(), in.ranks);
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
    const bool sure = somebody_overdue();
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
    stale = stale || older_than_its_peers(row.rank);
  }
  std::sort(suspicion.culprits.begin(), suspicion.culprits.end());
  suspicion.kind = never_in_group ? FlightVerdictKind::comm_init : FlightVerdictKind::behind;
  const bool sure = !forgetful && somebody_overdue();
  suspicion.confidence = sure ? Confidence::high : Confidence::medium;
  suspicion.why = "waits in no collective, and the others wait for it";
  // One moment of a job at work looks the same: most have not come yet. A time-out would tell.
  const bool half = suspicion.culprits.size() * 2 >= fleet_.ranks().size();
  const bool most = suspicion.culprits.size() * 2 > fleet_.ranks().size();
  if (most || (half && !somebody_overdue())) {
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "most ranks wait in nothing: a job at work looks the same, and so does one in which the "
        "few "
        "have more to do; a second set of dumps, or the logs, would tell";
  }
  // Shorter than a save or an evaluation takes; the same bound as for waits seen by power.
  constexpr std::int64_t kLongWaitNs = 120'000'000'000;
  const auto wait = longest_wait_ns();
  if (wait && *wait < kLongWaitNs) {
    suspicion.confidence = Confidence::low;
    suspicion.why = "the others had waited for less than two minutes when the dumps were written";
  }
  if (somebody_is(FlightStatus::given_up)) {
    suspicion.confidence = Confidence::low;
    suspicion.why =
        "the others ended by an error after it stopped, or its dump is older than theirs; its log "
        "would tell";
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

namespace {

// The record is written before the call and the status raised after it.
bool inside_launch(const FlightRank& rank, const FlightLane& lane, std::uint32_t entry) {
  return lane.last_enqueued && lane.collectives.back() == entry &&
         *lane.last_enqueued < rank.entry(entry).seq;
}

}  // namespace

// ---- everybody is in, and it does not end ------------------------------------------------------

void FlightJudge::find_complete_calls(std::vector<Suspicion>& out) {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    const bool complete = node.kind == WaitKind::collective && node.parties.size() == 1 &&
                          node.hard.empty() && node.soft.empty();
    if (complete) out.push_back(judge_complete_call(i));
  }
}

bool FlightJudge::others_went_on(const WaitNode& node) const {
  for (const std::int32_t member : fleet_.groups()[node.group].ranks) {
    const FlightRank* rank = fleet_.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(node.group);
    if (lane == nullptr || rank->retirement_is_end()) continue;
    const bool further =
        std::any_of(lane->collectives.begin(), lane->collectives.end(), [&](std::uint32_t entry) {
          return rank->entry(entry).seq > node.seq && rank->status(entry) == FlightStatus::done &&
                 is_synchronising(rank->call(entry).family);
        });
    if (further) return true;
  }
  return false;
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
    by_retirement = by_retirement || rank.retirement_is_end();
    const FlightLane* lane = rank.lane(node.group);
    told = told && lane->last_enqueued.has_value();
    if (inside_launch(rank, *lane, party.entry[i])) in_launch.push_back(rank.rank());
    const FlightStatus status = rank.status(party.entry[i]);
    if (status == FlightStatus::pending && rank.times()) queued.push_back(rank.rank());
    if (status == FlightStatus::running) running.push_back(rank.rank());
  }
  if (forgotten(node)) {
    give_up(suspicion);
  } else if (!node.unknown.empty()) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.why = fmt::format(
        "{} ranks may or may not have come: their rings no longer hold it or their files are cut; "
        "a "
        "larger TORCH_FR_BUFFER_SIZE would tell",
        node.unknown.size());
  } else if (told && !in_launch.empty() &&
             (is_minority(in_launch, party.ranks.size()) || party.ranks.size() == 2) &&
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
  } else if (others_went_on(node)) {
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

void FlightJudge::find_stuck_messages(std::vector<Suspicion>& out) {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (node.kind != WaitKind::message || !node.sent || !node.received) continue;
    if (!node.soft.empty()) continue;
    Suspicion suspicion;
    suspicion.roots = {i};
    suspicion.culprits = {std::min(node.from, node.to), std::max(node.from, node.to)};
    const FlightSignature& sent = fleet_.find(node.from)->signature(*node.sent);
    const FlightSignature& received = fleet_.find(node.to)->signature(*node.received);
    const auto amount = [](const FlightSignature& s) {
      const CallTotals totals = call_totals(s);
      return std::max(totals.in, totals.out);
    };
    const bool same = amount(sent) == amount(received);
    suspicion.kind = same ? FlightVerdictKind::fabric_p2p : FlightVerdictKind::p2p_size_mismatch;
    suspicion.confidence = same ? Confidence::medium : Confidence::high;
    suspicion.why = same ? "both ends are posted with the same size and nothing moves"
                         : "both ends are posted with different sizes";
    if (forgotten(node)) give_up(suspicion);
    out.push_back(std::move(suspicion));
  }
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
  const bool few = is_minority(suspicion.culprits, all);
  suspicion.kind = few ? FlightVerdictKind::no_dump : FlightVerdictKind::undecided;
  suspicion.confidence = few ? Confidence::medium : Confidence::low;
  suspicion.why = few ? "dead, unreachable, or in tear-down: it left no dump"
                      : "most dumps are missing: collect them from all hosts";
  if (!few) suspicion.culprits.clear();
  out.push_back(std::move(suspicion));
}

// ---- rings -------------------------------------------------------------------------------------

// Sets of ranks, smallest first, without whose own waits no ring is left: whoever waits together in
// one place, or carries one edge.
std::vector<Ranks> FlightJudge::ring_breakers(const Ranks& unexplained) const {
  std::set<std::pair<std::size_t, Ranks>> tries;
  const std::vector<bool> ring = graph_.on_rings();
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (!ring[i] || node.waiting.empty()) continue;
    Ranks waiting = node.waiting;
    std::sort(waiting.begin(), waiting.end());
    for (const std::int32_t rank : waiting) tries.insert({1, {rank}});
    tries.insert({waiting.size(), waiting});
  }
  std::vector<Ranks> found;
  std::size_t tried = 0, least = unexplained.size();
  for (const auto& [size, ranks] : tries) {
    if (size > least || ++tried > kRingTries) break;
    if (!graph_.breaks_all_rings(ranks)) continue;
    least = size;
    found.push_back(ranks);
  }
  return found;
}

// Two ranks that both send first and receive, if at all, after that.
std::optional<Ranks> FlightJudge::crossed_sends(const std::vector<bool>& ring) const {
  std::map<std::pair<std::int32_t, std::int32_t>, const WaitNode*> sends;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (!ring[i] || node.kind != WaitKind::message || !node.sent) continue;
    sends.emplace(std::pair(node.from, node.to), &node);
  }
  const auto first = [](const WaitNode& send, const WaitNode& back) {
    return !back.received || *send.sent < *back.received;
  };
  for (const auto& [route, there] : sends) {
    const auto back = sends.find({route.second, route.first});
    if (back == sends.end() || !first(*there, *back->second) || !first(*back->second, *there)) {
      continue;
    }
    return Ranks{std::min(route.first, route.second), std::max(route.first, route.second)};
  }
  return {};
}

// Of several ways out of the ring, those with ranks that never made such an order of calls before.
void FlightJudge::keep_the_novel(std::vector<Ranks>& breakers) {
  std::vector<Ranks> novel;
  for (const Ranks& ranks : breakers) {
    if (std::any_of(ranks.begin(), ranks.end(),
                    [&](std::int32_t rank) { return history().novelty(rank) > 0; })) {
      novel.push_back(ranks);
    }
  }
  if (!novel.empty()) breakers = novel;
}

// The ring with its shown node in front: one where the culprits themselves wait.
std::vector<std::uint32_t> FlightJudge::ring_roots(const std::vector<bool>& ring,
                                                   const Ranks& culprits) const {
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!ring[i]) continue;
    const auto& waiting = graph_.nodes()[i].waiting;
    const bool theirs = !culprits.empty() && std::find(waiting.begin(), waiting.end(),
                                                       culprits.front()) != waiting.end();
    roots.insert(theirs ? roots.begin() : roots.end(), i);
  }
  return roots;
}

// Each of these ranks has one call from which it has not come back.
bool FlightJudge::all_inside_launch(const Ranks& ranks) const {
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t r) {
    const FlightRank& rank = *fleet_.find(r);
    return std::any_of(rank.lanes().begin(), rank.lanes().end(), [&](const FlightLane& lane) {
      return !lane.collectives.empty() && inside_launch(rank, lane, lane.collectives.back());
    });
  });
}

std::optional<Suspicion> FlightJudge::judge_ring(const Ranks& unexplained) {
  const std::vector<bool> ring = graph_.on_rings();
  Suspicion suspicion;
  bool lost = false;
  for (std::uint32_t i = 0; i < ring.size(); ++i) {
    lost = lost || (ring[i] && forgotten(graph_.nodes()[i]));
  }
  if (const auto crossed = lost ? std::nullopt : crossed_sends(ring)) {
    suspicion.kind = FlightVerdictKind::deadlock_cycle;
    suspicion.confidence = Confidence::medium;
    suspicion.culprits = *crossed;
    suspicion.roots = ring_roots(ring, *crossed);
    suspicion.why = "both send first and neither receives";
    weigh(suspicion);
    return suspicion;
  }
  std::vector<Ranks> breakers = ring_breakers(unexplained);
  suspicion.why = "all waits go through it, and end without it";
  if (breakers.size() > 1) {
    keep_the_novel(breakers);
    suspicion.why = "its order of calls was never seen before, that of the others always";
  }
  for (const Ranks& ranks : breakers) suspicion.culprits = merged(suspicion.culprits, ranks);
  suspicion.roots = ring_roots(ring, suspicion.culprits);
  if (suspicion.roots.empty()) return {};
  if (breakers.size() == 1 && is_minority(suspicion.culprits, fleet_.ranks().size())) {
    const WaitNode& node = graph_.nodes()[suspicion.roots.front()];
    const bool known = node.kind == WaitKind::collective;
    suspicion.kind =
        known ? kind_of_odd(node, suspicion.culprits) : FlightVerdictKind::out_of_order;
    if (suspicion.kind == FlightVerdictKind::mismatch) {
      suspicion.kind = FlightVerdictKind::out_of_order;
    }
    // One rank may be the only way out by chance of a small ring; its own past must agree.
    const bool novel = std::any_of(suspicion.culprits.begin(), suspicion.culprits.end(),
                                   [&](std::int32_t r) { return history().novelty(r) > 0; });
    suspicion.confidence = novel ? Confidence::medium : Confidence::low;
    if (lost && !novel) give_up(suspicion);
    if (all_inside_launch(suspicion.culprits)) suspicion.kind = FlightVerdictKind::in_launch;
  } else if (lost) {
    give_up(suspicion);
  } else {
    suspicion.kind = FlightVerdictKind::deadlock_cycle;
    suspicion.confidence = suspicion.culprits.size() == 2 ? Confidence::medium : Confidence::low;
    suspicion.why = "each waits for the other; nothing tells which of them left the common order";
  }
  weigh(suspicion);
  return suspicion;
}

}  // namespace muster
