#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/flight/back_ends.h"
#include "core/flight/dump_choice.h"
#include "core/flight/verdict.h"
#include "core/flight/verdict_text.h"
#include "tests/support/flight_script.h"

// Which dumps are judged together: copies, several recorders of a process, and jobs that lie in one
// folder.

namespace muster {
namespace {

using Kind = FlightVerdictKind;
using Dumps = std::vector<FlightDump>;

const FlightScript::Call kMetric = {CallSite::metrics, "nccl:all_reduce", {64}, {64}, "Float"};

std::string told(const FlightAnalysis& analysis) {
  std::string text;
  for (const FlightVerdict& v : analysis.verdicts) {
    text += fmt::format("{} {} {}: {}; ", flight_verdict_name(v.kind),
                        static_cast<int>(v.confidence), describe_ranks(v.culprits), v.why);
  }
  for (const std::string& note : analysis.notes) text += "[" + note + "]";
  return text;
}

// Steps of training; then a barrier that `late` does not come to.
Dumps late_for_barrier(std::size_t late, std::size_t ranks = 8, int steps = 3) {
  FlightScript job(ranks);
  for (int step = 0; step < steps; ++step) {
    for (const std::size_t rank : job.all()) job.cpu(rank, 500);
    job.gathers(job.all(), 2);
    job.reductions(job.all(), 2);
    job.call(job.all(), kMetric);
    job.sync(job.all());
  }
  job.stop(late, ActionKind::stuck);
  job.barrier(without(job.all(), late), CallSite::checkpoint_before);
  return job.run();
}

void shift(FlightDump& dump, std::int64_t by_ns) {
  for (FlightEntry& e : dump.entries) {
    e.created_ns += by_ns;
    if (e.completed_seen_ns != FlightEntry::kAbsent) e.completed_seen_ns += by_ns;
  }
  if (dump.written_at) *dump.written_at += Duration(by_ns);
}

Dumps in_folder(const std::string& folder, Dumps dumps, std::int64_t by_ns = 0) {
  for (FlightDump& dump : dumps) {
    dump.source = folder + "/" + dump.source;
    shift(dump, by_ns);
  }
  return dumps;
}

Dumps joined(Dumps a, const Dumps& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dumps only(Dumps dumps, const RankList& ranks) {
  std::erase_if(dumps, [&](const FlightDump& dump) {
    return std::find(ranks.begin(), ranks.end(), static_cast<std::size_t>(*dump.rank)) ==
           ranks.end();
  });
  return dumps;
}

// What Gloo's recorder would have written: nothing of ends but "retired".
void make_gloo(FlightDump& dump) {
  for (FlightSignature& s : dump.signatures) {
    s.name = "gloo:" + s.name.substr(s.name.find(':') + 1);
  }
  for (FlightEntry& e : dump.entries) {
    e.retired = e.state == FlightState::completed;
    e.state = FlightState::scheduled;
    e.completed_seen_ns = FlightEntry::kAbsent;
    e.duration_ms = -1;
  }
  for (FlightGroup& g : dump.groups) g.last_enqueued = g.last_completed = std::nullopt;
}

// A job that speaks through both back ends in one group. In the last step rank 3 leaves out the
// call on the GPUs, and waits in that of the other back end; the others wait for it on the GPUs.
Dumps both_back_ends() {
  FlightScript job(8);
  const std::size_t cpu = job.group("0", "default_pg", job.all());
  const FlightScript::Call word = {
      CallSite::checkpoint_before, "gloo:all_reduce", {1}, {1}, "Float", cpu};
  for (int step = 0; step < 4; ++step) {
    for (const std::size_t rank : job.all()) job.cpu(rank, 500);
    job.gathers(job.all(), 2);
    job.reductions(job.all(), 2);
    job.call(step == 3 ? without(job.all(), 3) : job.all(), kMetric);
    job.sync(job.all());
    job.call(job.all(), word);
    job.sync(job.all());
  }
  return job.run();
}

bool is_gloo(const FlightDump& dump, const FlightEntry& e) {
  return dump.signatures[e.signature].name.starts_with("gloo:");
}

// As two recorders write it: a file for each back end, of which each counts its records itself.
Dumps two_recorders(const Dumps& dumps) {
  Dumps out;
  for (const FlightDump& dump : dumps) {
    for (const bool gloo : {false, true}) {
      FlightDump part = dump;
      std::erase_if(part.entries, [&](const FlightEntry& e) { return is_gloo(dump, e) != gloo; });
      std::int64_t id = 0;
      for (FlightEntry& e : part.entries) e.record_id = id++;
      if (gloo) make_gloo(part);
      part.source = (gloo ? "gloo_" : "nccl_") + dump.source;
      out.push_back(std::move(part));
    }
  }
  return out;
}

// One recorder for both, with the groups of one name as one.
Dumps one_recorder(Dumps dumps) {
  for (FlightDump& dump : dumps) {
    for (FlightEntry& e : dump.entries) {
      if (!is_gloo(dump, e)) continue;
      e.group = 0;
      e.retired = e.state == FlightState::completed;
      e.state = FlightState::scheduled;
    }
  }
  return dumps;
}

Dumps gloo_of(Dumps dumps, const RankList& ranks) {
  for (const std::size_t rank : ranks) make_gloo(dumps[rank]);
  return dumps;
}

struct Row {
  const char* name;
  std::function<Dumps()> dumps;
  const char* said;                    // a piece of the answer
  std::vector<std::int32_t> culprits;  // none: nobody for sure
};

constexpr std::int64_t kMinuteNs = 60'000'000'000;

std::vector<Row> rows_of_jobs() {
  return {
      {"two_jobs_at_once",
       [] {
         return joined(in_folder("a", late_for_barrier(5)),
                       in_folder("b", late_for_barrier(2, 8, 2), kMinuteNs / 300));
       },
       "two processes that ran at one time",
       {}},
      {"two_jobs_that_began_at_one_moment",
       [] {
         return joined(in_folder("a", late_for_barrier(5, 8, 4)), in_folder("b", both_back_ends()));
       },
       "two processes that ran at one time",
       {}},
      {"two_jobs_of_other_sizes_without_a_rank_in_common",
       [] {
         return joined(only(late_for_barrier(5), {4, 5, 6, 7}),
                       only(late_for_barrier(1, 4), {0, 1, 2, 3}));
       },
       "the group of all ranks has",
       {}},
      {"two_jobs_of_one_size_without_a_rank_in_common",
       [] {
         return joined(only(late_for_barrier(5), {0, 1, 2, 3, 4}),
                       in_folder("b", only(late_for_barrier(5), {5, 6, 7}), 20 * kMinuteNs));
       },
       "after another had seen its end",
       {}},
      {"a_job_that_began_after_the_last_call_of_another",
       [] {
         return joined(in_folder("a", late_for_barrier(5)),
                       in_folder("b", late_for_barrier(2, 8, 2), kMinuteNs));
       },
       "the newest is judged, 8 of earlier ones are left out (a)",
       {2}},
  };
}

std::vector<Row> rows_of_back_ends() {
  return {
      {"half_of_the_dumps_by_another_back_end",
       [] { return gloo_of(late_for_barrier(5), {0, 1, 2, 3}); },
       "several back ends (gloo, nccl)",
       {}},
      {"the_culprit_by_another_back_end",
       [] { return gloo_of(late_for_barrier(5), {5}); },
       "several back ends (gloo, nccl)",
       {}},
      {"an_innocent_by_another_back_end",
       [] { return gloo_of(late_for_barrier(5), {2}); },
       "8 dumps tell nothing of one",
       {5}},
      {"two_recorders", [] { return two_recorders(both_back_ends()); }, "several back ends", {3}},
      {"one_recorder", [] { return one_recorder(both_back_ends()); }, "several back ends", {3}},
      {"a_recorder_that_saw_nothing",
       [] {
         Dumps dumps = late_for_barrier(5);
         for (std::size_t i = 0; i < 8; ++i) {
           dumps.push_back(dumps[i]);
           dumps.back().entries.clear();
         }
         return dumps;
       },
       "behind",
       {5}},
      {"nccl2_beside_nccl",
       [] {
         Dumps dumps = late_for_barrier(5);
         for (FlightSignature& s : dumps[2].signatures) s.name.insert(4, "2");
         return dumps;
       },
       "behind",
       {5}},
  };
}

std::vector<Row> rows_of_copies() {
  return {
      {"a_copy",
       [] {
         Dumps dumps = late_for_barrier(5);
         dumps.push_back(dumps[5]);
         dumps.back().source = "rank_5 (2)";
         return dumps;
       },
       "1 file is a copy of another dump that is here, counted once (rank_5 (2))",
       {5}},
      {"an_older_copy",
       [] {
         Dumps dumps = late_for_barrier(5);
         dumps.push_back(dumps[2]);
         dumps.back().source = "rank_2 (2)";
         dumps.back().entries.resize(dumps[2].entries.size() - 5);
         return dumps;
       },
       "1 dump left out, of ranks with two: the newer counts, of equal ones the one with stacks "
       "(rank_2 (2))",
       {5}},
      {"a_copy_that_is_cut",
       [] {
         Dumps dumps = late_for_barrier(5);
         dumps.insert(dumps.begin(), dumps[2]);
         dumps.front().source = "rank_2 (2)";
         dumps.front().cut_at = 1000;
         return dumps;
       },
       "(rank_2 (2))",
       {5}},
      {"smaller_after_a_restart",
       [] {
         return joined(in_folder("a", only(late_for_barrier(5), {4, 5, 6, 7})),
                       in_folder("b", late_for_barrier(1, 4), 15 * kMinuteNs));
       },
       "4 of earlier ones are left out",
       {1}},
  };
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Dumps dumps = row.dumps();
    const FlightAnalysis analysis = analyze_flight(dumps, {});
    ASSERT_FALSE(analysis.verdicts.empty()) << row.name;
    EXPECT_NE(told(analysis).find(row.said), std::string::npos)
        << row.name << ": " << told(analysis);
    for (const FlightVerdict& v : analysis.verdicts) {
      if (v.culprits != row.culprits) {
        EXPECT_TRUE(v.culprits.empty() || v.confidence == Confidence::low)
            << row.name << ": " << told(analysis);
      }
    }
    if (row.culprits.empty()) continue;
    EXPECT_EQ(analysis.verdicts.front().culprits, row.culprits) << row.name << told(analysis);
    EXPECT_GE(analysis.verdicts.front().confidence, Confidence::medium)
        << row.name << ": " << told(analysis);
  }
}

TEST(FlightChoice, NeverMixesJobs) {
  check(rows_of_jobs());
}

TEST(FlightChoice, NeverAccusesAcrossBackEnds) {
  check(rows_of_back_ends());
}

TEST(FlightChoice, CountsCopiesOnce) {
  check(rows_of_copies());
}

// The join keeps all records in their order, and says of lost and left-out ones what the parts
// said.
TEST(FlightChoice, JoinsRecordersInTheOrderOfTime) {
  Dumps parts = two_recorders(both_back_ends());
  for (const bool lost : {false, true}) {
    if (lost) parts[1].entries.erase(parts[1].entries.begin());
    if (lost) parts[0].entries.erase(parts[0].entries.begin() + 4);
    const FlightDump* two[] = {&parts[0], &parts[1]};
    const FlightDump whole = join_back_ends(two);
    ASSERT_EQ(whole.entries.size(), parts[0].entries.size() + parts[1].entries.size());
    std::size_t gaps = 0, gloo = 0;
    for (std::size_t i = 0; i < whole.entries.size(); ++i) {
      gloo += is_gloo(whole, whole.entries[i]) ? 1 : 0;
      if (i == 0) continue;
      EXPECT_LE(whole.entries[i - 1].created_ns, whole.entries[i].created_ns);
      gaps += whole.entries[i].record_id - whole.entries[i - 1].record_id > 1 ? 1 : 0;
    }
    EXPECT_EQ(gloo, parts[1].entries.size());
    EXPECT_EQ(whole.entries.front().record_id, lost ? 1 : 0);
    EXPECT_EQ(gaps, lost ? 1U : 0U);
  }
}

}  // namespace
}  // namespace muster
