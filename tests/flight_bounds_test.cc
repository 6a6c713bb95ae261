#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/flight/fleet.h"
#include "core/flight/flight_report.h"
#include "core/flight/messages.h"
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
  EXPECT_EQ(analysis.verdicts.front().kind, FlightVerdictKind::comm_init);
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

}  // namespace
}  // namespace muster
