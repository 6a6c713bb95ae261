#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/flight/fleet.h"
#include "core/flight/flight_report.h"
#include "core/flight/messages.h"
#include "core/flight/recorder_settings.h"
#include "core/flight/timeline.h"
#include "core/flight/verdict.h"
#include "core/flight/wait_graph.h"

// Jobs that are large, long or odd: what is said stays short, and the work stays linear.

namespace muster {
namespace {

constexpr std::int64_t kStartNs = 1'780'000'000'000'000'000;

// Dumps of ranks that issue calls one after another.
class Job {
 public:
  explicit Job(std::int32_t ranks) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    for (std::int32_t r = 0; r < ranks; ++r) {
      FlightDump dump;
      dump.source = fmt::format("trace_rank_{}", r);
      dump.rank = r;
      dump.version = "2.10";
      dump.stacks.emplace_back();
      dumps.push_back(std::move(dump));
    }
    group("0", "default_pg", all);
  }

  void group(const std::string& name, const std::string& description,
             const std::vector<std::int32_t>& ranks) {
    for (const std::int32_t r : ranks) {
      FlightGroup group;
      group.name = name;
      group.description = description;
      group.ranks = ranks;
      dumps[static_cast<std::size_t>(r)].groups.push_back(group);
    }
  }

  FlightEntry& call(std::int32_t rank, const std::string& op, bool done, std::int64_t seq,
                    std::int64_t p2p_seq = 0, std::uint32_t group = 0, std::int64_t size = 8) {
    FlightDump& dump = dumps[static_cast<std::size_t>(rank)];
    FlightEntry entry;
    entry.record_id = static_cast<std::int64_t>(dump.entries.size());
    entry.seq = seq;
    entry.p2p_seq = p2p_seq;
    entry.created_ns = kStartNs + entry.record_id * 10'000'000;
    entry.timeout_ms = 600'000;
    entry.group = group;
    entry.signature = static_cast<std::uint32_t>(dump.signatures.size());
    dump.signatures.push_back({"nccl:" + op, {{size}}, {{size}}, {"Float"}, {"Float"}});
    entry.state = done ? FlightState::completed : FlightState::scheduled;
    if (done) entry.completed_seen_ns = entry.created_ns + 5'000'000;
    entry.retired = done;
    entry.is_p2p = op.starts_with("send") || op.starts_with("recv") || p2p_seq > 0;
    dump.entries.push_back(entry);
    return dump.entries.back();
  }

  std::vector<FlightDump> dumps;
};

// ---- messages ----------------------------------------------------------------------------------

// Every rank posted so many sends to each other rank, and nobody a receive.
Job all_send(std::int32_t ranks, int times) {
  Job job(ranks);
  for (std::int32_t r = 0; r < ranks; ++r) {
    std::int64_t number = 1;
    for (int k = 0; k < times; ++k) {
      for (std::int32_t to = 0; to < ranks; ++to) {
        if (to != r) job.call(r, fmt::format("send {}->{}", r, to), false, 0, number++);
      }
    }
  }
  return job;
}

TEST(WaitsOfMessages, AreAsManyAsRanksNotAsPairs) {
  constexpr std::size_t kFollowed = 64;
  for (const std::int32_t ranks : {16, 48}) {
    const Job job = all_send(ranks, 20);
    const FlightFleet fleet(job.dumps);
    const WaitGraph graph(fleet);
    std::size_t edges = 0;
    for (const WaitNode& node : graph.nodes()) edges += node.hard.size() + node.soft.size();
    const auto bound = static_cast<std::size_t>(ranks) * kFollowed;
    EXPECT_LE(graph.nodes().size(), 2 * bound);
    EXPECT_LE(edges, 4 * bound);
    EXPECT_EQ(graph.waiting().size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(unfinished_messages(fleet, 3).size(), static_cast<std::size_t>(ranks) * 3);
  }
}

TEST(WaitsOfMessages, OfTooManyThoseAreKeptWhosePartnerIsMissing) {
  // Rank 0 exchanges with 99 others in one batch; only the last of them has not come.
  Job job(101);
  for (const std::int32_t other : {0, 1}) {
    for (std::int32_t peer = 1; peer <= 100; ++peer) {
      const std::int32_t r = other == 0 ? 0 : peer;
      if (r == 100) continue;
      job.call(r, fmt::format("send {}->{}", r, r == 0 ? peer : 0), false, 0, 1);
      job.call(r, fmt::format("recv {}<-{}", r, r == 0 ? peer : 0), false, 0, 1);
    }
  }
  const FlightAnalysis analysis = analyze_flight(job.dumps, {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts.front().culprits, std::vector<std::int32_t>{100});
  for (const FlightVerdict& verdict : analysis.verdicts) {
    EXPECT_NE(verdict.kind, FlightVerdictKind::fabric_p2p) << verdict.summary;
  }
}

struct BatchRow {
  const char* name;
  std::int64_t first, second;  // p2p numbers of the send and the receive of a rank; 0: not told
  FlightVerdictKind kind;
};

class BothPosted : public testing::TestWithParam<BatchRow> {};

// Send and receive of one batch do not wait for each other; of two calls the later does.
TEST_P(BothPosted, IsReadByWhetherItIsOneBatch) {
  Job job(2);
  for (const std::int32_t r : {0, 1}) {
    job.call(r, fmt::format("send {}->{}", r, 1 - r), false, 0, GetParam().first);
    job.call(r, fmt::format("recv {}<-{}", r, 1 - r), false, 0, GetParam().second);
  }
  const FlightAnalysis analysis = analyze_flight(job.dumps, {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts.front().kind, GetParam().kind) << analysis.verdicts.front().summary;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BothPosted,
    testing::Values(BatchRow{"not_told", 0, 0, FlightVerdictKind::deadlock_cycle},
                    BatchRow{"one_after_the_other", 1, 2, FlightVerdictKind::deadlock_cycle},
                    BatchRow{"one_batch", 3, 3, FlightVerdictKind::fabric_p2p}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(WaitsOfMessages, BatchBehindAnUnfinishedCallWaitsForIt) {
  Job job(3);
  // Rank 2 has not come to the collective, behind which the batch of 0 and 1 is queued.
  for (const std::int32_t r : {0, 1}) {
    job.call(r, "all_reduce", false, 1);
    job.call(r, fmt::format("send {}->{}", r, 1 - r), false, 1, 1);
    job.call(r, fmt::format("recv {}<-{}", r, 1 - r), false, 1, 1);
  }
  const FlightAnalysis analysis = analyze_flight(job.dumps, {});
  ASSERT_EQ(analysis.verdicts.size(), 1U);
  EXPECT_EQ(analysis.verdicts.front().culprits, std::vector<std::int32_t>{2});
}

TEST(WaitsOfMessages, MessageToItselfIsLeftOut) {
  Job job(2);
  job.call(0, "send 0->0", false, 0, 1);
  job.call(0, "recv 0<-0", false, 0, 1);
  EXPECT_TRUE(unfinished_messages(FlightFleet(job.dumps), 8).empty());
}

TEST(FlightFleet, NamesAFewDumpsThatAreLeftOutAndCountsTheRest) {
  Job job(4106);
  for (std::size_t r = 0; r < 4106; ++r) {
    if (r % 2 == 0) job.dumps[r].rank.reset();
    if (r % 2 == 1) job.dumps[r].rank = 1;
  }
  const FlightFleet fleet(job.dumps);
  std::size_t left_out = 0;
  for (const std::string& note : fleet.notes()) left_out += note.find("left out") < note.size();
  EXPECT_EQ(left_out, 17U);  // 16 without a rank, and the count of the others
  EXPECT_EQ(fleet.notes().front().find("trace_rank_0: its name holds no rank"), 0U);
  EXPECT_EQ(fleet.notes()[16],
            "2052 files are copies of another dump that is here, counted once (trace_rank_3 and "
            "others)");
  EXPECT_NE(
      std::find(fleet.notes().begin(), fleet.notes().end(), "and 2037 more dumps are left out"),
      fleet.notes().end());
}

// ---- the report --------------------------------------------------------------------------------

FlightVerdict behind(std::int32_t rank) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::behind;
  verdict.confidence = Confidence::high;
  verdict.culprits = {rank};
  verdict.summary = fmt::format("rank {} has not come", rank);
  verdict.waiting_since = wall_from_ns(kStartNs);
  return verdict;
}

std::vector<Finding> findings_of(std::vector<FlightVerdict> verdicts,
                                 const std::map<std::int32_t, std::string>& hosts = {}) {
  FlightAnalysis analysis;
  analysis.verdicts = std::move(verdicts);
  return flight_findings(analysis, hosts);
}

TEST(FlightFindings, NameAFewCulpritsAndCountTheRest) {
  FlightVerdict verdict = behind(1);
  for (std::int32_t rank = 2; rank < 100'000; ++rank) verdict.culprits.push_back(rank);
  const Finding finding = findings_of({verdict}).front();
  EXPECT_EQ(finding.culprits.size(), 64U);
  EXPECT_NE(finding.summary.find("99935 more than the 64"), std::string::npos) << finding.summary;
  verdict.culprits.resize(64);
  const Finding few = findings_of({verdict}).front();
  EXPECT_EQ(few.culprits.size(), 64U);
  EXPECT_EQ(few.summary.find("more than"), std::string::npos);
}

TEST(FlightFindings, AreAFewAndOneThatCountsTheRest) {
  std::vector<FlightVerdict> verdicts;
  for (std::int32_t rank = 0; rank < 600; ++rank) verdicts.push_back(behind(rank));
  verdicts.front().confidence = Confidence::low;
  const auto findings = findings_of(verdicts);
  ASSERT_EQ(findings.size(), 9U);
  EXPECT_EQ(findings.back().summary, "592 more findings are left out, of ranks 8-599");
  EXPECT_EQ(findings.back().severity, Severity::critical);
  EXPECT_EQ(findings.back().confidence, Confidence::high);
  verdicts.resize(8);
  EXPECT_EQ(findings_of(verdicts).size(), 8U);
}

TEST(FlightFindings, ShowAFewSidesAndLeaveRoomForLogs) {
  FlightVerdict verdict = behind(3);
  for (std::int32_t rank = 0; rank < 600; ++rank) {
    FlightSide side;
    side.ranks = {rank};
    side.call = std::string(2000, 'x');
    verdict.sides.push_back(side);
  }
  RankWitness witness;
  witness.rank = 3;
  witness.text = "ValueError: bad sample";
  verdict.witnesses = {witness};
  const Finding finding = findings_of({verdict}).front();
  ASSERT_EQ(finding.evidence.size(), 16U);
  EXPECT_EQ(finding.evidence.back().text, "ValueError: bad sample");
  EXPECT_EQ(finding.evidence[14].text, "and 586 more of such sides");
  for (const Evidence& line : finding.evidence) EXPECT_LE(line.text.size(), 512U);
}

TEST(FlightFindings, NameTheHostsOfAllWhoWaitWhereNobodyIsNamed) {
  FlightVerdict verdict;
  verdict.kind = FlightVerdictKind::fabric_all;
  verdict.summary = "it does not end";
  FlightSide side;
  side.ranks = {0, 1, 2, 3};
  verdict.sides = {side};
  const std::map<std::int32_t, std::string> hosts = {{0, "n1"}, {1, "n1"}, {2, "n2"}, {9, "n9"}};
  EXPECT_EQ(findings_of({verdict}, hosts).front().summary, "it does not end (hosts n1, n2)");
  verdict.kind = FlightVerdictKind::undecided;
  EXPECT_EQ(findings_of({verdict}, hosts).front().summary, "it does not end");
}

struct FailureRow {
  const char* name;
  std::optional<double> hours;  // before the wait; nothing: no time
  Cause cause;
  Confidence confidence;
};

class LoggedFailure : public testing::TestWithParam<FailureRow> {};

TEST_P(LoggedFailure, IsTheCauseWhereItMayBe) {
  FlightVerdict verdict = behind(3);
  RankWitness witness;
  witness.kind = WitnessKind::gpu_oom;
  witness.rank = 3;
  witness.text = "CUDA out of memory.";
  if (GetParam().hours) {
    witness.at = wall_from_ns(kStartNs - static_cast<std::int64_t>(*GetParam().hours * 3600e9));
  }
  verdict.witnesses = {witness};
  const Finding finding = findings_of({verdict}).front();
  EXPECT_EQ(finding.cause, GetParam().cause);
  EXPECT_EQ(finding.confidence, GetParam().confidence);
  EXPECT_EQ(finding.evidence.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, LoggedFailure,
    testing::Values(FailureRow{"of_last_year", 12'000.0, Cause::rank_behind, Confidence::high},
                    FailureRow{"of_yesterday", 14.0, Cause::rank_behind, Confidence::high},
                    FailureRow{"of_another_zone_or_attempt", 8.0, Cause::gpu_oom,
                               Confidence::medium},
                    FailureRow{"before_the_wait", 0.9, Cause::gpu_oom, Confidence::high},
                    FailureRow{"after_the_wait_began", -0.1, Cause::gpu_oom, Confidence::high},
                    FailureRow{"without_a_time", std::nullopt, Cause::gpu_oom, Confidence::high}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(FlightFindings, TimesFarApartDoNotOverflow) {
  FlightVerdict verdict = behind(3);
  verdict.waiting_since = wall_from_ns(INT64_MAX);
  RankWitness witness;
  witness.kind = WitnessKind::gpu_oom;
  witness.rank = 3;
  witness.at = wall_from_ns(INT64_MIN);
  verdict.witnesses = {witness};
  EXPECT_EQ(findings_of({verdict}).front().cause, Cause::rank_behind);
}

// ---- the drawing -------------------------------------------------------------------------------

struct NumberRow {
  const char* name;
  std::int64_t seq;
  std::size_t numbers;  // that are drawn
};

class Timeline : public testing::TestWithParam<NumberRow> {};

TEST_P(Timeline, EndsWhereNumbersEnd) {
  Job job(2);
  job.call(0, "all_reduce", false, GetParam().seq);
  FlightVerdict verdict = behind(1);
  verdict.group = "default_pg";
  verdict.group_size = 2;
  verdict.seq = GetParam().seq;
  const Grid grid = flight_timeline(FlightFleet(job.dumps), verdict);
  EXPECT_EQ(grid.columns.size(), GetParam().numbers + 2);
  ASSERT_FALSE(grid.rows.empty());
  EXPECT_EQ(grid.rows.front().front(), "rank 1");
}

INSTANTIATE_TEST_SUITE_P(Rows, Timeline,
                         testing::Values(NumberRow{"least", INT64_MIN + 1, 2},
                                         NumberRow{"second", INT64_MIN + 2, 3},
                                         NumberRow{"most", INT64_MAX, 3},
                                         NumberRow{"ordinary", 7, 4}),
                         [](const auto& row) { return std::string(row.param.name); });

// Of two groups of one title and size, the one whose ranks wait.
TEST(FlightTimeline, DrawsTheGroupThatWaits) {
  Job job(4);
  job.group("1", "tp", {0, 1});
  job.group("2", "tp", {2, 3});
  for (std::int32_t r = 0; r < 4; ++r) job.call(r, "all_reduce", true, 1, 0, 1);
  for (const std::int32_t r : {2, 3}) job.call(r, "all_reduce", false, 2, 0, 1);
  const FlightAnalysis analysis = analyze_flight(job.dumps, {}, {.timeline = true});
  ASSERT_FALSE(analysis.verdicts.empty());
  const Grid& grid = analysis.timeline;
  ASSERT_EQ(grid.rows.size(), 1U);
  EXPECT_EQ(grid.rows.front().front(), "ranks 2-3");
}

TEST(FlightTimeline, KnowsRanksOfWhichOnlyLogsTell) {
  Job job(8);
  job.dumps.pop_back();
  for (FlightDump& dump : job.dumps) {
    dump.groups.front().ranks.reset();
    job.call(*dump.rank, "all_reduce", false, 6);
  }
  RankWitness witness;
  witness.rank = 7;
  const FlightAnalysis analysis = analyze_flight(job.dumps, {&witness, 1}, {.timeline = true});
  ASSERT_FALSE(analysis.verdicts.empty());
  const Grid& grid = analysis.timeline;
  ASSERT_FALSE(grid.rows.empty());
  EXPECT_EQ(grid.rows.front().front(), "rank 7");
  EXPECT_EQ(grid.rows.front()[3], "?");
}

// ---- advice ------------------------------------------------------------------------------------

TEST(RecorderSettings, OfNoReleaseAreThoseOfTheNewest) {
  const std::string newest = recorder_settings("2.10");
  for (const char* version : {"", "x", "30000000.1", "2.30000000", "2147483647.99", "-1.0", "2"}) {
    EXPECT_EQ(recorder_settings(version), newest) << version;
  }
  EXPECT_NE(recorder_settings("2.6.0"), newest);
}

}  // namespace
}  // namespace muster
