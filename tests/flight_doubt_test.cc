#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/flight/verdict.h"
#include "core/flight/verdict_text.h"
#include "tests/support/flight_script.h"

// What happens to dumps between the recorder and us, and what looks like a fault and is none:
// nobody may be accused out of it. Beside each, where there is one, the fault that still shows.

namespace muster {
namespace {

using Kind = FlightVerdictKind;
using Way = FlightScript::Way;
using Dumps = std::vector<FlightDump>;

const FlightScript::Call kMetric = {CallSite::metrics, "nccl:all_reduce", {64}, {64}, "Float"};

std::string told(const FlightAnalysis& analysis) {
  std::string text;
  for (const FlightVerdict& v : analysis.verdicts) {
    text += fmt::format("{} {} {}: {}; ", flight_verdict_name(v.kind),
                        static_cast<int>(v.confidence), describe_ranks(v.culprits), v.why);
  }
  return text;
}

// Three steps of training; then a barrier that `late` does not come to.
Dumps late_for_barrier(std::size_t late) {
  FlightScript job(8);
  for (int step = 0; step < 3; ++step) {
    job.gathers(job.all(), 2);
    job.reductions(job.all(), 2);
    job.call(job.all(), kMetric);
    job.sync(job.all());
  }
  const RankList others = without(job.all(), late);
  job.stop(late, ActionKind::stuck);
  job.barrier(others, CallSite::checkpoint_before);
  job.sync(others);
  return job.run();
}

Dumps healthy_steps(std::size_t ranks) {
  FlightScript job(ranks);
  for (int step = 0; step < 3; ++step) {
    job.gathers(job.all(), 2);
    job.reductions(job.all(), 2);
    job.call(job.all(), kMetric);
    job.sync(job.all());
  }
  return job.run();
}

Dumps with_old_barriers(Dumps dumps, std::size_t ranks) {
  for (std::size_t i = 0; i < ranks; ++i) {
    dumps[i].version = "2.3";
    for (FlightSignature& s : dumps[i].signatures) {
      if (s.name == "nccl:all_reduce_barrier") s.name = "nccl:all_reduce";
    }
  }
  return dumps;
}

Dumps without_types(Dumps dumps, std::size_t ranks) {
  for (std::size_t i = 0; i < ranks; ++i) {
    dumps[i].version = "1.4";
    for (FlightSignature& s : dumps[i].signatures) {
      s.input_dtypes.clear();
      s.output_dtypes.clear();
    }
  }
  return dumps;
}

Dumps shifted(Dumps dumps, std::size_t rank, std::int64_t by) {
  for (FlightEntry& e : dumps[rank].entries) e.seq += by;
  for (FlightGroup& g : dumps[rank].groups) {
    g.last_enqueued = g.last_completed = std::nullopt;
  }
  return dumps;
}

// As shifted(), of rings that have forgotten where they began.
Dumps shifted_rings(Dumps dumps, std::size_t rank, std::int64_t by) {
  for (FlightDump& dump : dumps) dump.entries.erase(dump.entries.begin());
  return shifted(std::move(dumps), rank, by);
}

Dumps without_times(Dumps dumps) {
  for (FlightDump& dump : dumps) {
    dump.written_at.reset();
    for (FlightEntry& e : dump.entries) {
      e.created_ns = e.completed_seen_ns = FlightEntry::kAbsent;
      e.duration_ms = -1;
    }
  }
  return dumps;
}

// The file of `rank` was written when it had just issued its last but `n`.
Dumps written_earlier(Dumps dumps, std::size_t rank, std::size_t n) {
  FlightDump& dump = dumps[rank];
  dump.entries.resize(dump.entries.size() - n);
  FlightEntry& last = dump.entries.back();
  last.state = FlightState::scheduled;
  last.completed_seen_ns = FlightEntry::kAbsent;
  last.retired = false;
  dump.written_at = wall_from_ns(last.created_ns + 1'000'000);
  for (FlightGroup& g : dump.groups) {
    g.last_enqueued = g.last_completed = std::nullopt;
  }
  return dumps;
}

// Written when the oldest wait had lasted for three of its ten minutes.
Dumps young(Dumps dumps) {
  for (FlightDump& dump : dumps) {
    dump.written_at = wall_from_ns(dump.entries.back().created_ns + 180'000'000'000);
  }
  return dumps;
}

// Ranks 6 and 7 wait in a group of their own, the others in that of all; rank 5 waits in nothing.
Dumps one_waits_elsewhere() {
  FlightScript job(8);
  const std::size_t pair = job.group("1", "pair", {5, 6, 7});
  job.gathers(job.all(), 2);
  job.sync(job.all());
  FlightScript::Call call = kMetric;
  call.group = pair;
  job.stop(5, ActionKind::stuck);
  job.call({6, 7}, call);
  job.call(ranks_between(0, 4), kMetric);
  return job.run();
}

// Each sends to and receives from all others, in one batch.
Dumps exchange(std::size_t ranks) {
  FlightScript job(ranks);
  for (const std::size_t rank : job.all()) {
    for (const std::size_t peer : without(job.all(), rank)) {
      job.message(rank, Way::send, peer, 0, true);
      job.message(rank, Way::receive, peer, 0, true);
    }
    job.close_batch(rank, 0);
    job.sync({rank});
  }
  return job.run();
}

Dumps nothing_done(Dumps dumps) {
  for (FlightDump& dump : dumps) {
    for (FlightEntry& e : dump.entries) {
      e.state = FlightState::scheduled;
      e.completed_seen_ns = FlightEntry::kAbsent;
      e.retired = false;
    }
    dump.written_at = wall_from_ns(dump.entries.back().created_ns + 600'000'000'000);
    for (FlightGroup& g : dump.groups) g.last_completed = -1;
  }
  return dumps;
}

Dumps unfinished_only(Dumps dumps) {
  for (FlightDump& dump : dumps) {
    dump.entries.back().state = FlightState::scheduled;
    std::erase_if(dump.entries,
                  [](const FlightEntry& e) { return e.state == FlightState::completed; });
  }
  return dumps;
}

// Two groups in opposite order, and behind them one batch of both directions.
Dumps crossed_groups_before_a_batch() {
  FlightScript job(2);
  const std::size_t a = job.group("1", "a", {0, 1}), b = job.group("2", "b", {0, 1});
  for (const std::size_t rank : {0U, 1U}) {
    for (const std::size_t group : {rank == 0 ? a : b, rank == 0 ? b : a}) {
      FlightScript::Call call = kMetric;
      call.group = group;
      job.call({rank}, call);
    }
    job.message(rank, Way::send, 1 - rank, 0, true);
    job.message(rank, Way::receive, 1 - rank, 0, true);
    job.close_batch(rank, 0);
  }
  return job.run();
}

Dumps cut(Dumps dumps, std::size_t rank, std::size_t n) {
  dumps[rank].entries.resize(dumps[rank].entries.size() - n);
  dumps[rank].cut_at = 1000;
  return dumps;
}

Dumps lacking(Dumps dumps, const RankList& ranks) {
  std::erase_if(dumps, [&](const FlightDump& dump) {
    return std::find(ranks.begin(), ranks.end(), static_cast<std::size_t>(*dump.rank)) !=
           ranks.end();
  });
  return dumps;
}

// Each step ends with a metric and a save; in the last one rank 3 leaves the metric out.
Dumps skipped_before_a_save() {
  FlightScript job(8);
  for (int step = 0; step < 3; ++step) {
    job.gathers(job.all(), 2);
    job.reductions(job.all(), 2);
    job.call(step == 2 ? without(job.all(), 3) : job.all(), kMetric);
    job.barrier(job.all(), CallSite::checkpoint_before);
    job.sync(job.all());
  }
  return job.run();
}

// The same job; in the last step rank 3 has no data and goes to save at once.
Dumps left_before_a_save() {
  FlightScript job(8);
  for (int step = 0; step < 3; ++step) {
    const RankList ranks = step == 2 ? without(job.all(), 3) : job.all();
    job.gathers(ranks, 2);
    job.reductions(ranks, 2);
    job.call(ranks, kMetric);
    if (step != 1) job.barrier(job.all(), CallSite::checkpoint_before);
    job.sync(job.all());
  }
  return job.run();
}

struct DoubtRow {
  const char* name;
  std::function<Dumps()> dumps;
};

class Doubt : public testing::TestWithParam<DoubtRow> {};

TEST_P(Doubt, NamesNobodyForSure) {
  const Dumps dumps = GetParam().dumps();
  const FlightAnalysis analysis = analyze_flight(dumps, {});
  for (const FlightVerdict& v : analysis.verdicts) {
    EXPECT_TRUE(v.culprits.empty() || v.confidence == Confidence::low) << told(analysis);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Doubt,
    testing::Values(
        DoubtRow{"healthy_barriers_of_two_formats",
                 [] {
                   FlightScript job(4);
                   job.gathers(job.all(), 2);
                   job.barrier(job.all(), CallSite::checkpoint_before);
                   job.sync(job.all());
                   return with_old_barriers(job.run(), 2);
                 }},
        DoubtRow{"healthy_types_of_two_formats", [] { return without_types(healthy_steps(4), 2); }},
        DoubtRow{"healthy_numbers_ahead", [] { return shifted_rings(healthy_steps(8), 5, 2); }},
        DoubtRow{"healthy_numbers_behind", [] { return shifted_rings(healthy_steps(8), 5, -2); }},
        DoubtRow{"waiting_numbers_ahead", [] { return shifted(late_for_barrier(2), 5, 2); }},
        DoubtRow{"waiting_numbers_ahead_by_one", [] { return shifted(late_for_barrier(2), 5, 1); }},
        DoubtRow{"waiting_numbers_behind", [] { return shifted(late_for_barrier(2), 5, -1); }},
        DoubtRow{"no_times", [] { return without_times(late_for_barrier(5)); }},
        DoubtRow{"one_file_from_before",
                 [] { return written_earlier(nothing_done(healthy_steps(1)), 0, 0); }},
        DoubtRow{"one_file_from_before_others_stuck",
                 [] { return written_earlier(late_for_barrier(5), 3, 4); }},
        DoubtRow{"exchange_that_does_not_move", [] { return nothing_done(exchange(4)); }},
        DoubtRow{"finished_batches_among_the_unfinished",
                 [] { return unfinished_only(exchange(4)); }},
        DoubtRow{"cut_inside_a_batch", [] { return cut(nothing_done(exchange(3)), 1, 3); }},
        DoubtRow{"dumps_of_a_host_missing", [] { return lacking(late_for_barrier(5), {4, 5}); }},
        DoubtRow{"several_dumps_missing_before_the_time_is_out",
                 [] { return lacking(young(late_for_barrier(5)), {1, 5}); }},
        DoubtRow{"several_dumps_missing_and_one_wait_elsewhere",
                 [] { return lacking(one_waits_elsewhere(), {1, 5}); }}),
    [](const auto& row) { return std::string(row.param.name); });

struct StillRow {
  const char* name;
  std::function<Dumps()> dumps;
  Kind kind;
  std::vector<std::int32_t> culprits;
};

class StillShows : public testing::TestWithParam<StillRow> {};

TEST_P(StillShows, NamesTheTrueOnes) {
  const Dumps dumps = GetParam().dumps();
  const FlightAnalysis analysis = analyze_flight(dumps, {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts.front().kind, GetParam().kind) << told(analysis);
  EXPECT_EQ(analysis.verdicts.front().culprits, GetParam().culprits) << told(analysis);
  EXPECT_GE(analysis.verdicts.front().confidence, Confidence::medium) << told(analysis);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, StillShows,
    testing::Values(StillRow{"late_for_a_barrier_of_two_formats",
                             [] { return with_old_barriers(late_for_barrier(5), 4); },
                             Kind::behind,
                             {5}},
                    StillRow{"late_with_types_of_two_formats",
                             [] { return without_types(late_for_barrier(5), 4); },
                             Kind::behind,
                             {5}},
                    StillRow{"one_pair_of_an_exchange",
                             [] { return nothing_done(exchange(2)); },
                             Kind::fabric_p2p,
                             {0, 1}},
                    StillRow{
                        "skipped_before_a_save", skipped_before_a_save, Kind::out_of_order, {3}},
                    StillRow{"left_before_a_save", left_before_a_save, Kind::ahead_left_loop, {3}},
                    StillRow{"several_dumps_missing_of_hosts_with_others",
                             [] { return lacking(late_for_barrier(5), {1, 5}); },
                             Kind::no_dump,
                             {1, 5}},
                    StillRow{"one_dump_missing",
                             [] { return lacking(late_for_barrier(5), {5}); },
                             Kind::no_dump,
                             {5}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Doubt, JudgesTheNewestOfSeveralRunsAndSaysSoOnce) {
  Dumps dumps;
  for (const int hours : {0, 5, 2}) {
    for (FlightDump& dump : hours == 5 ? late_for_barrier(5) : late_for_barrier(2)) {
      dump.source = fmt::format("run{}/{}", hours, dump.source);
      for (FlightEntry& e : dump.entries) {
        e.created_ns += hours * 3'600'000'000'000;
        if (e.completed_seen_ns != FlightEntry::kAbsent) {
          e.completed_seen_ns += hours * 3'600'000'000'000;
        }
      }
      *dump.written_at += std::chrono::hours(hours);
      dumps.push_back(std::move(dump));
    }
  }
  const FlightAnalysis analysis = analyze_flight(dumps, {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts.front().culprits, std::vector<std::int32_t>{5}) << told(analysis);
  EXPECT_EQ(analysis.verdicts.front().confidence, Confidence::high);
  ASSERT_EQ(analysis.notes.size(), 1U);
  EXPECT_EQ(analysis.notes.front(),
            "dumps of several runs: the newest is judged, 16 of earlier ones are left out (run0, "
            "run2)");
}

RankWitness killed(std::int32_t rank, std::chrono::hours before, WallTime since) {
  RankWitness w;
  w.kind = WitnessKind::host_oom_killed;
  w.rank = rank;
  w.at = since - before;
  w.text = "Killed process 4711";
  return w;
}

// Two dumps are missing; a log says that one of them was killed.
TEST(Doubt, AFailureOfAnEarlierAttemptNarrowsNothing) {
  const Dumps all = late_for_barrier(5);
  const WallTime since = wall_from_ns(all[0].entries.back().created_ns);
  const Dumps dumps = lacking(all, {1, 5});
  const auto named = [&](std::chrono::hours before) {
    const RankWitness witnesses[] = {killed(5, before, since)};
    return analyze_flight(dumps, witnesses).verdicts.front().culprits;
  };
  EXPECT_EQ(named(std::chrono::hours(0)), (std::vector<std::int32_t>{5}));
  EXPECT_EQ(named(std::chrono::hours(30)), (std::vector<std::int32_t>{1, 5}));
}

struct MissingRow {
  const char* name;
  WitnessKind kind;
  std::int32_t rank;
  std::int64_t seq_off;  // from the call in which the others wait
  std::vector<std::int32_t> culprits;
  Confidence confidence;
};

// Dumps of ranks 4 and 5 are missing, as those of a host may be; 5 is what the others wait for.
TEST(Doubt, WhatLogsSayOfRanksWithoutADump) {
  const Confidence low = Confidence::low, medium = Confidence::medium;
  const MissingRow rows[] = {
      {"waited_in_another_call", WitnessKind::collective_timeout, 4, -3, {4, 5}, low},
      {"an_old_number", WitnessKind::last_enqueued, 4, 0, {4, 5}, low},
      {"of_a_rank_that_is_here", WitnessKind::ras_missing, 3, 0, {4, 5}, low},
      {"waited_too", WitnessKind::collective_timeout, 4, 0, {5}, medium},
      {"not_there_by_RAS", WitnessKind::ras_missing, 5, 0, {5}, medium},
      {"left", WitnessKind::left_script, 5, 0, {5}, medium},
  };
  const Dumps dumps = lacking(late_for_barrier(5), {4, 5});
  const auto before = analyze_flight(dumps, {}).verdicts.front();
  ASSERT_TRUE(before.seq);
  for (const MissingRow& row : rows) {
    RankWitness witness;
    witness.kind = row.kind;
    witness.rank = row.rank;
    witness.group = "default_pg";
    witness.seq = *before.seq + row.seq_off;
    witness.at = *before.waiting_since + std::chrono::minutes(10);
    const FlightAnalysis analysis = analyze_flight(dumps, {&witness, 1});
    EXPECT_EQ(analysis.verdicts.front().culprits, row.culprits) << row.name << told(analysis);
    EXPECT_EQ(analysis.verdicts.front().confidence, row.confidence) << row.name << told(analysis);
  }
}

TEST(Doubt, WhereAllWithoutADumpWaitedTooNobodyIsNamed) {
  const Dumps dumps = lacking(late_for_barrier(5), {4, 5});
  const auto before = analyze_flight(dumps, {}).verdicts.front();
  std::vector<RankWitness> witnesses(2);
  for (std::size_t i = 0; i < 2; ++i) {
    witnesses[i].kind = WitnessKind::collective_timeout;
    witnesses[i].rank = static_cast<std::int32_t>(4 + i);
    witnesses[i].group = "0";
    witnesses[i].seq = before.seq;
  }
  const FlightAnalysis analysis = analyze_flight(dumps, witnesses);
  EXPECT_EQ(analysis.verdicts.front().kind, Kind::undecided) << told(analysis);
  EXPECT_TRUE(analysis.verdicts.front().culprits.empty()) << told(analysis);
}

TEST(Doubt, LogsThatWereGivenAreNotAskedFor) {
  const Dumps dumps = lacking(late_for_barrier(5), {4, 5});
  EXPECT_NE(told(analyze_flight(dumps, {})).find("logs"), std::string::npos);
  EXPECT_EQ(told(analyze_flight(dumps, {}, {.logs_given = true})).find("logs"), std::string::npos);
}

TEST(Doubt, OneBatchIsPostedAtOnce) {
  const Dumps dumps = crossed_groups_before_a_batch();
  const FlightAnalysis analysis = analyze_flight(dumps, {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(told(analysis).find("both send first"), std::string::npos) << told(analysis);
}

}  // namespace
}  // namespace muster
