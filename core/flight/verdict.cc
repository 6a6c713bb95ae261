#include "core/flight/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/flight/fleet.h"
#include "core/flight/frames.h"
#include "core/flight/judge.h"
#include "core/flight/silent_mismatch.h"
#include "core/flight/straggler.h"
#include "core/flight/verdict_text.h"
#include "core/flight/wait_graph.h"

namespace muster {
namespace {

FlightCoverage coverage_of(const FlightFleet& fleet) {
  FlightCoverage coverage;
  std::set<std::string> versions;
  std::vector<std::int64_t> lengths;
  coverage.missing = fleet.missing();
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
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    coverage.history = Duration(*middle);
  }
  return coverage;
}

// Whether the file was written while the rank was still at work: less time after its last sign of
// life than twice its longest pause between two calls, or than a save takes where it saves. Only
// told where the file's time is known.
bool written_at_work(const FlightRank& rank) {
  constexpr std::int64_t kLeastNs = 2'000'000'000;
  constexpr std::int64_t kSaveNs = 120'000'000'000;  // a save or an evaluation may well take this
  const FlightDump& dump = rank.dump();
  if (!dump.written_at || !rank.last_sign_ns()) return false;
  std::int64_t pause = kLeastNs / 2, before = FlightEntry::kAbsent;
  const bool saves =
      !dump.entries.empty() && outside_the_step(dump, dump.stacks[dump.entries.back().stack]);
  for (std::size_t i = rank.first_entry(); i < dump.entries.size(); ++i) {
    const std::int64_t now = dump.entries[i].created_ns;
    if (rank.status(static_cast<std::uint32_t>(i)) == FlightStatus::timed_out) return false;
    if (before != FlightEntry::kAbsent && now != FlightEntry::kAbsent) {
      pause = std::max(pause, now - before);
    }
    before = now;
  }
  const std::int64_t silent = wall_to_ns(*dump.written_at) - *rank.last_sign_ns();
  return silent >= 0 && silent < std::max(saves ? kSaveNs : kLeastNs, 2 * pause);
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
  return std::all_of(ranks.begin(), ranks.end(), written_at_work) ||
         static_cast<std::size_t>(fresh) * 2 >= ranks.size();
}

bool nothing_was_issued(const FlightFleet& fleet) {
  return std::all_of(fleet.ranks().begin(), fleet.ranks().end(), [](const FlightRank& rank) {
    return rank.dump().entries.empty() && !rank.dump().cut_at;
  });
}

FlightVerdict never_started(const FlightFleet& fleet) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::never_started;
  verdict.confidence = Confidence::high;
  verdict.summary =
      fmt::format("none of {} ranks issued a single collective", fleet.ranks().size());
  verdict.why = "the cause lies outside communication: storage, imports, compilation, start-up";
  return verdict;
}

// Nobody waits, and dumps are missing: those ranks may have died and ended the others by error.
FlightVerdict only_missing(const FlightFleet& fleet, std::span<const RankWitness> witnesses) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::no_dump;
  verdict.culprits = fleet.missing();
  verdict.summary = fmt::format("{} left no dump; nobody else waits for anything",
                                describe_ranks(verdict.culprits));
  verdict.why = "the others may have ended by an error of theirs; their logs would tell";
  for (const RankWitness& witness : witnesses) {
    if (!std::binary_search(verdict.culprits.begin(), verdict.culprits.end(), witness.rank))
      continue;
    verdict.witnesses.push_back(witness);
    verdict.confidence = Confidence::medium;
  }
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
                              std::span<const RankWitness> witnesses) {
  FlightAnalysis analysis;
  std::vector<std::int32_t> heard_of;
  for (const RankWitness& witness : witnesses) heard_of.push_back(witness.rank);
  const FlightFleet fleet(dumps, heard_of);
  analysis.coverage = coverage_of(fleet);
  analysis.notes = fleet.notes();
  if (fleet.ranks().empty()) return analysis;
  if (nothing_was_issued(fleet)) {
    analysis.verdicts.push_back(never_started(fleet));
    return analysis;
  }
  const WaitGraph graph(fleet);
  if (was_at_work(fleet) && !graph.waiting().empty()) {
    analysis.notes.push_back(
        "the dumps were written while the ranks were at work: waits in them are no hang");
  } else {
    FlightJudge judge(fleet, graph);
    if (graph.waiting().empty() && !fleet.missing().empty()) {
      analysis.verdicts.push_back(only_missing(fleet, witnesses));
    }
    for (const Suspicion& suspicion : judge.judge()) {
      analysis.verdicts.push_back(put_into_words(suspicion, fleet, graph, witnesses));
    }
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
  return analysis;
}

}  // namespace muster
