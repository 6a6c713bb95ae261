#include "core/flight/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "base/median.h"
#include "base/timestamp.h"
#include "core/flight/call.h"
#include "core/flight/failure_age.h"
#include "core/flight/fleet.h"
#include "core/flight/frames.h"
#include "core/flight/judge.h"
#include "core/flight/silent_mismatch.h"
#include "core/flight/straggler.h"
#include "core/flight/timeline.h"
#include "core/flight/verdict_text.h"
#include "core/flight/wait_graph.h"

namespace muster {
namespace {

FlightCoverage coverage_of(const FlightFleet& fleet) {
  FlightCoverage coverage;
  std::set<std::string> versions;
  std::vector<std::int64_t> lengths;
  coverage.missing = fleet.missing();
  coverage.size_told = fleet.size_told();
  coverage.expected = fleet.ranks().size() + fleet.missing().size();
  for (const FlightRank& rank : fleet.ranks()) {
    const FlightDump& dump = rank.dump();
    versions.insert(dump.version);
    coverage.entries += dump.entries.size() - rank.first_entry();
    if (dump.cut_at) coverage.cut.push_back(rank.rank());
    if (rank.wrapped()) ++coverage.wrapped;
    std::int64_t first = FlightEntry::kAbsent;
    for (std::size_t i = rank.first_entry(); i < dump.entries.size(); ++i) {
      const FlightEntry& entry = dump.entries[i];
      coverage.timing =
          coverage.timing || entry.duration_ms >= 0 || entry.state == FlightState::started;
      if (first == FlightEntry::kAbsent) first = entry.created_ns;
    }
    if (first != FlightEntry::kAbsent && rank.last_sign_ns()) {
      lengths.push_back(*rank.last_sign_ns() - first);
    }
  }
  coverage.versions.assign(versions.begin(), versions.end());
  if (!lengths.empty()) {
    coverage.history = Duration(median_of(lengths));
  }
  return coverage;
}

std::optional<std::int64_t> age_of(const FlightRank& rank, std::int64_t at_ns) {
  std::int64_t age = 0;
  if (__builtin_sub_overflow(wall_to_ns(*rank.dump().written_at), at_ns, &age)) return {};
  return age;
}

// Whether the file was written while the rank was still at work: less time after its last sign of
// life than twice its longest pause between two calls, or than a save takes where anybody saves.
// Only told where the file's time is known.
bool written_at_work(const FlightRank& rank, bool saves) {
  constexpr std::int64_t kLeastNs = 2'000'000'000;
  constexpr std::int64_t kNsPerMs = 1'000'000;
  const FlightDump& dump = rank.dump();
  if (!dump.written_at || !rank.last_sign_ns()) return false;
  std::int64_t pause = 0;
  std::optional<std::int64_t> before;  // age of the entry before
  for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < dump.entries.size(); ++i) {
    const auto age = rank.age_ns(i);
    if (rank.status(i) == FlightStatus::timed_out) return false;
    if (!age) continue;
    const std::int64_t timeout_ms = rank.entry(i).timeout_ms;
    if (rank.unfinished(i) && timeout_ms > 0 && *age / kNsPerMs >= timeout_ms) return false;
    if (before) pause = std::max(pause, *before - std::max<std::int64_t>(*age, 0));
    before = std::max<std::int64_t>(*age, 0);
  }
  const auto silent = age_of(rank, *rank.last_sign_ns());
  const std::int64_t usual = std::max(kLeastNs, 2 * std::min(pause, limits::kFlightPauseNs / 2));
  return silent && *silent >= 0 && *silent < (saves ? limits::kFlightLongWaitNs : usual);
}

// Something has completed that the watchdog, which looks ten times a second, has not yet put away.
bool completed_just_now(const FlightRank& rank) {
  bool puts_away = false, fresh = false;
  for (std::size_t i = rank.first_entry(); i < rank.dump().entries.size(); ++i) {
    const FlightEntry& entry = rank.dump().entries[i];
    puts_away = puts_away || entry.retired;
    fresh = fresh || (entry.state == FlightState::completed && !entry.retired &&
                      rank.status(static_cast<std::uint32_t>(i)) == FlightStatus::done);
  }
  return puts_away && fresh;
}

// Waits in dumps of a job at work are no hang. One watchdog may be stuck itself: half must agree.
bool was_at_work(const FlightFleet& fleet) {
  const auto& ranks = fleet.ranks();
  const auto fresh = std::count_if(ranks.begin(), ranks.end(), completed_just_now);
  const bool saves = std::any_of(ranks.begin(), ranks.end(), [](const FlightRank& rank) {
    const FlightDump& dump = rank.dump();
    return !dump.entries.empty() && outside_the_step(dump, dump.stacks[dump.entries.back().stack]);
  });
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const FlightRank& rank) { return written_at_work(rank, saves); }) ||
         static_cast<std::size_t>(fresh) * 2 >= ranks.size();
}

bool nothing_was_issued(const FlightFleet& fleet) {
  return std::all_of(fleet.ranks().begin(), fleet.ranks().end(), [](const FlightRank& rank) {
    // Dumps of the unfinished only are empty too; their status tells that something was issued.
    const bool issued =
        std::any_of(rank.lanes().begin(), rank.lanes().end(),
                    [](const FlightLane& lane) { return lane.last_enqueued.value_or(0) > 0; });
    return rank.dump().entries.empty() && !rank.dump().cut_at && !issued;
  });
}

// By how much two ranks disagree about when they did what they did together: one of them issued a
// call after the other had seen its end. Their clocks differ so much, or they are of two jobs.
Duration most_at_odds(const FlightFleet& fleet) {
  struct Done {
    const FlightRank* rank;
    const FlightLane* lane;
    std::int64_t seq;
  };
  std::int64_t most = 0;
  const auto odds = [&](const Done& late, const Done& early, std::int64_t seq) {
    const auto issued = late.rank->find(late.lane->group, seq);
    const auto ended = early.rank->find(early.lane->group, seq);
    if (!issued || !ended || early.rank->status(*ended) != FlightStatus::done) return;
    if (!is_synchronising(early.rank->call(*ended).family)) return;
    const std::int64_t from = late.rank->entry(*issued).created_ns;
    const std::int64_t end = early.rank->entry(*ended).completed_seen_ns;
    std::int64_t by = 0;
    if (from == FlightEntry::kAbsent || end == FlightEntry::kAbsent) return;
    if (!__builtin_sub_overflow(from, end, &by)) most = std::max(most, by);
  };
  std::vector<std::optional<Done>> first(fleet.groups().size());
  for (const FlightRank& rank : fleet.ranks()) {
    for (const FlightLane& lane : rank.lanes()) {
      std::optional<std::int64_t> seq;
      for (std::size_t i = lane.collectives.size(); i-- > 0 && !seq;) {
        const bool done = rank.status(lane.collectives[i]) == FlightStatus::done;
        if (done) seq = rank.entry(lane.collectives[i]).seq;
      }
      if (!seq) continue;
      const Done own{&rank, &lane, *seq};
      std::optional<Done>& other = first[lane.group];
      if (!other) other = own;
      const std::int64_t common = std::min(own.seq, other->seq);
      odds(own, *other, common);
      odds(*other, own, common);
    }
  }
  return Duration(most);
}

// Dumps of different hours are of different runs, or of different attempts: the clocks of hosts do
// not differ by so much. Nobody is accused out of such a mixture.
bool of_one_time(const FlightFleet& fleet) {
  std::optional<std::int64_t> first, last;
  for (const FlightRank& rank : fleet.ranks()) {
    const auto sign = rank.last_sign_ns();
    if (!sign) continue;
    first = std::min(first.value_or(*sign), *sign);
    last = std::max(last.value_or(*sign), *sign);
  }
  return !first || *last / 2 - *first / 2 < limits::kFlightApartNs / 2;
}

// Why nobody is named for sure; empty: nothing speaks against one moment of one run.
std::string times_apart(const FlightFleet& fleet) {
  if (!of_one_time(fleet)) {
    return "the dumps end more than half an hour apart: they are not of one moment of one run";
  }
  const Duration odds = most_at_odds(fleet);
  if (odds <= limits::kClockSkew) return "";
  return fmt::format(
      "a rank issued a call {} after another had seen its end: their clocks differ so much, or "
      "these are dumps of two jobs",
      format_duration(odds));
}

FlightVerdict of_two_jobs(const FlightFleet& fleet) {
  FlightVerdict verdict;
  verdict.summary = "dumps of two jobs lie here together";
  verdict.why = fleet.two_jobs() + "; the dumps of one job alone would tell";
  return verdict;
}

FlightVerdict never_started(const FlightFleet& fleet) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::never_started;
  verdict.summary = fmt::format("no record in the dumps of {} ranks", fleet.ranks().size());
  verdict.why =
      "nobody has issued anything yet (storage, imports, compilation, start-up), or only "
      "unfinished "
      "calls were asked for";
  return verdict;
}

// A wait of a moment is part of the work.
FlightVerdict written_too_early(std::size_t waiting) {
  FlightVerdict verdict;
  verdict.waiting = waiting;
  verdict.summary = "the dumps were written while the ranks were at work";
  verdict.why = "waits in them are no hang yet; a second set, a minute later, would tell";
  return verdict;
}

// Nobody waits, and dumps are missing: those ranks may have died and ended the others by error.
FlightVerdict only_missing(const FlightFleet& fleet, std::span<const RankWitness> witnesses,
                           bool logs_given) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::no_dump;
  verdict.why = logs_given ? "the others may have ended by an error of theirs"
                           : "the others may have ended by an error of theirs; their logs would "
                             "tell";
  const std::vector<std::int32_t>& missing = fleet.missing();
  std::optional<WallTime> last_sign;
  for (const FlightRank& rank : fleet.ranks()) {
    if (!rank.last_sign_ns()) continue;
    const WallTime sign = wall_from_ns(*rank.last_sign_ns());
    last_sign = std::max(last_sign.value_or(sign), sign);
  }
  for (const RankWitness& witness : witnesses) {
    const bool theirs = std::binary_search(missing.begin(), missing.end(), witness.rank);
    if (!theirs || !tells_a_cause(witness.kind)) continue;
    if (failure_age(witness, last_sign) == FailureAge::stale) continue;
    verdict.witnesses.push_back(witness);
    verdict.culprits.push_back(witness.rank);
    verdict.confidence = Confidence::medium;
  }
  std::sort(verdict.culprits.begin(), verdict.culprits.end());
  verdict.culprits.erase(std::unique(verdict.culprits.begin(), verdict.culprits.end()),
                         verdict.culprits.end());
  if (verdict.culprits.empty()) verdict.culprits = missing;
  verdict.summary = fmt::format("{} left no dump; nobody else waits for anything",
                                describe_ranks(verdict.culprits));
  return verdict;
}

}  // namespace

std::string_view flight_verdict_name(FlightVerdictKind kind) {
  constexpr std::string_view kNames[] = {
      "behind",          "in_launch",  "comm_init",         "no_dump",        "mismatch",
      "ahead_left_loop", "extra_op",   "out_of_order",      "deadlock_cycle", "fabric_all",
      "fabric_partial",  "fabric_p2p", "p2p_size_mismatch", "never_started",  "silent_mismatch",
      "straggler",       "undecided"};
  return kNames[static_cast<int>(kind)];
}

FlightAnalysis analyze_flight(std::span<const FlightDump> dumps,
                              std::span<const RankWitness> witnesses, FlightAsked asked) {
  FlightAnalysis analysis;
  analysis.logs_given = asked.logs_given;
  std::vector<std::int32_t> heard_of;
  for (const RankWitness& witness : witnesses) heard_of.push_back(witness.rank);
  const FlightFleet fleet(dumps, heard_of);
  analysis.coverage = coverage_of(fleet);
  analysis.notes = fleet.notes();
  if (fleet.ranks().empty()) return analysis;
  if (!fleet.two_jobs().empty()) {
    analysis.verdicts.push_back(of_two_jobs(fleet));
    return analysis;
  }
  if (nothing_was_issued(fleet)) {
    analysis.verdicts.push_back(never_started(fleet));
    return analysis;
  }
  const WaitGraph graph(fleet);
  if (was_at_work(fleet) && !graph.waiting().empty()) {
    analysis.verdicts.push_back(written_too_early(graph.waiting().size()));
  } else {
    const FlightEvidence evidence(fleet, graph, witnesses, asked.logs_given);
    FlightJudge judge(evidence);
    if (graph.waiting().empty() && !fleet.missing().empty()) {
      analysis.verdicts.push_back(only_missing(fleet, witnesses, asked.logs_given));
    }
    for (const Suspicion& suspicion : judge.judge()) {
      analysis.verdicts.push_back(put_into_words(suspicion, fleet, graph, witnesses));
    }
  }
  const std::string apart = times_apart(fleet);
  if (!apart.empty()) {
    for (FlightVerdict& verdict : analysis.verdicts) verdict.confidence = Confidence::low;
    analysis.notes.push_back(apart);
  }
  if (auto silent = find_silent_mismatch(fleet)) {
    // Garbage that went through says more than a wait for which nobody is named.
    const bool nobody = analysis.verdicts.empty() || analysis.verdicts.front().culprits.empty() ||
                        analysis.verdicts.front().confidence == Confidence::low;
    analysis.verdicts.insert(nobody ? analysis.verdicts.begin() : analysis.verdicts.end(),
                             std::move(*silent));
  }
  if (analysis.verdicts.empty()) {
    if (auto straggler = find_straggler(fleet)) analysis.verdicts.push_back(std::move(*straggler));
  }
  if (asked.timeline && !analysis.verdicts.empty()) {
    analysis.timeline = flight_timeline(fleet, analysis.verdicts.front());
  }
  return analysis;
}

}  // namespace muster
