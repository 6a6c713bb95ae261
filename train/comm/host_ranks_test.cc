#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "train/comm/process_test_kit.h"
#include "train/comm/rank_test_kit.h"

namespace muster::train {
namespace {

using Kind = CollectiveFailure::Kind;

// Gathers and adds up until something fails; what it then knows is in the report.
int work_until_failure(Communicator& comm, RankReport& report, int most) {
  const auto members = static_cast<std::size_t>(comm.world());
  std::vector<float> shard(50000, 1.0F), full(shard.size() * members), sum(shard.size());
  auto* in = reinterpret_cast<std::byte*>(shard.data());
  auto* out = reinterpret_cast<std::byte*>(full.data());
  auto* added = reinterpret_cast<std::byte*>(sum.data());
  for (int i = 0; i < most; ++i) {
    report.progress = i + 1;
    comm.all_gather(in, out, shard.size() * 4, {Purpose::weights, 0});
    const Ticket last =
        comm.reduce_scatter_add(out, added, sum.size(), Dtype::f32, {Purpose::gradients, 0});
    if (comm.wait(last)) continue;
    report.tell(*comm.failure());
    return 3;
  }
  return comm.barrier({Purpose::end, 0}) ? 0 : 4;
}

struct Started {
  RankProcesses processes;
  int world;

  Started(int ranks, const CommOptions& options, int most = 1 << 30) : world(ranks) {
    const std::string token = fresh_token();
    for (int i = 0; i < world; ++i) {
      processes.start([&](int rank, RankReport& report) {
        auto comm = join_host({.rank = rank, .world = world, .token = token}, options);
        if (!comm) {
          report.say(comm.error().context);
          return 1;
        }
        return work_until_failure(**comm, report, most);
      });
    }
  }
};

TEST(HostRanks, ComputeTogetherAndLeave) {
  for (const int world : {1, 2, 4}) {
    Started run(world, patient(30), 20);
    for (int rank = 0; rank < world; ++rank) {
      EXPECT_EQ(run.processes.wait(rank), 0) << run.processes.report(rank).text.data();
    }
  }
}

TEST(HostRanks, KilledAtAnyMomentEverySurvivorKnowsWhoWithinTwoSeconds) {
  std::mt19937 chance(20261130);
  std::int64_t slowest_ns = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    const int world = 2 + repeat % 3;
    CommOptions options = patient(60);
    options.deadline = std::nullopt;
    Started run(world, options);
    const int victim = static_cast<int>(chance() % static_cast<unsigned>(world));
    ASSERT_TRUE(run.processes.reach(world, 1 + static_cast<int>(chance() % 5)));
    std::this_thread::sleep_for(std::chrono::microseconds(chance() % 3000));
    const auto killed_ns = system_clock().mono().time_since_epoch().count();
    run.processes.signal(victim, SIGKILL);
    EXPECT_EQ(run.processes.wait(victim), -1);
    for (int rank = 0; rank < world; ++rank) {
      if (rank == victim) continue;
      ASSERT_EQ(run.processes.wait(rank), 3);
      const RankReport& report = run.processes.report(rank);
      EXPECT_EQ(report.kind, static_cast<int>(Kind::gone)) << report.text.data();
      EXPECT_EQ(report.odd_ranks, 1);
      EXPECT_EQ(report.odd_rank, victim) << report.text.data();
      slowest_ns = std::max(slowest_ns, report.at_ns - killed_ns);
    }
  }
  EXPECT_LT(slowest_ns, 2'000'000'000);
  RecordProperty("slowest_ms", static_cast<int>(slowest_ns / 1'000'000));
}

TEST(HostRanks, AStoppedRankMissesTheDeadlineByName) {
  CommOptions options = patient(0.5);
  options.join_deadline = std::chrono::seconds(30);
  Started run(3, options);
  ASSERT_TRUE(run.processes.reach(3, 3));
  run.processes.signal(1, SIGSTOP);
  for (const int rank : {0, 2}) {
    ASSERT_EQ(run.processes.wait(rank), 3);
    EXPECT_EQ(run.processes.report(rank).kind, static_cast<int>(Kind::deadline));
    EXPECT_EQ(run.processes.report(rank).odd_ranks, 1);
    EXPECT_EQ(run.processes.report(rank).odd_rank, 1) << run.processes.report(rank).text.data();
  }
  run.processes.signal(1, SIGCONT);
  ASSERT_EQ(run.processes.wait(1), 3);  // it learns why
  EXPECT_EQ(run.processes.report(1).kind, static_cast<int>(Kind::deadline));
  EXPECT_EQ(run.processes.report(1).odd_rank, 1);
}

TEST(HostRanks, WhoDoesNotJoinIsNamed) {
  RankProcesses processes;
  const std::string token = fresh_token();
  for (int i = 0; i < 3; ++i) {
    processes.start([&](int rank, RankReport& report) {
      auto comm = join_host({.rank = rank, .world = 5, .token = token}, patient(0.5));
      if (comm) return 0;
      report.say(comm.error().context);
      return comm.error().code == Errc::timeout ? 2 : 1;
    });
  }
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(processes.wait(rank), 2) << processes.report(rank).text.data();
    EXPECT_NE(std::string(processes.report(rank).text.data()).find("ranks 3 and 4 of 5 did not"),
              std::string::npos)
        << processes.report(rank).text.data();
  }
}

TEST(HostRanks, RankZeroThatDoesNotComeIsNamed) {
  const auto comm = join_host({.rank = 1, .world = 2, .token = fresh_token()}, patient(0.2));
  ASSERT_FALSE(comm);
  EXPECT_EQ(comm.error().code, Errc::timeout);
  EXPECT_NE(comm.error().context.find("rank 0"), std::string::npos);
}

struct BadGuest {
  const char* name;
  int rank, world;
  const char* text;
};

TEST(HostRanks, GuestsThatDoNotFitEndTheMeetingForAll) {
  const std::vector<BadGuest> rows = {
      {"another world", 1, 4, "rank 1 says there are 4 ranks, rank 0 says 3"},
      {"a rank too large", 3, 4, "rank 3 says there are 4 ranks"},
      {"rank 0 twice", 0, 3, "somebody else"},
  };
  for (const BadGuest& row : rows) {
    const std::string token = fresh_token();
    RankProcesses processes;
    const auto join = [&](int rank, int world, RankReport& report) {
      auto comm = join_host({.rank = rank, .world = world, .token = token}, patient(0.5));
      if (comm) return 0;
      report.say(comm.error().context);
      return static_cast<int>(comm.error().code) + 10;
    };
    processes.start([&](int, RankReport& report) { return join(0, 3, report); });
    processes.start([&](int, RankReport& report) { return join(row.rank, row.world, report); });
    const int first = processes.wait(0), second = processes.wait(1);
    if (row.rank == 0) {  // one of both, whoever came later
      EXPECT_TRUE(first == static_cast<int>(Errc::unavailable) + 10 ||
                  second == static_cast<int>(Errc::unavailable) + 10);
      continue;
    }
    EXPECT_EQ(first, static_cast<int>(Errc::invalid_input) + 10) << row.name;
    EXPECT_EQ(second, static_cast<int>(Errc::invalid_input) + 10) << row.name;
    for (const int rank : {0, 1}) {
      EXPECT_NE(std::string(processes.report(rank).text.data()).find(row.text), std::string::npos)
          << processes.report(rank).text.data();
    }
  }
  EXPECT_EQ(join_host({.rank = 2, .world = 2, .token = "a"}, {}).error().code, Errc::invalid_input);
  EXPECT_EQ(join_host({.rank = -1, .world = 2, .token = "a"}, {}).error().code,
            Errc::invalid_input);
}

TEST(HostRanks, GroupsOfAGroupLoseARankTogether) {
  RankProcesses processes;
  const std::string token = fresh_token();
  for (int i = 0; i < 4; ++i) {
    processes.start([&](int rank, RankReport& report) {
      auto comm = join_host({.rank = rank, .world = 4, .token = token}, patient(30));
      if (!comm) return 1;
      auto node = (*comm)->split(rank / 2, "node");
      if (!node) return 2;
      report.progress = 1;
      // The other node goes on for a while, then misses rank 1 in the group of all.
      for (int k = 0; rank < 2 || k < 100; ++k) {
        if ((*node)->barrier({Purpose::norm, 0})) continue;
        report.tell(*(*node)->failure());
        return 3;
      }
      while ((*comm)->barrier({Purpose::loss, 0})) continue;
      report.tell(*(*comm)->failure());
      return 4;
    });
  }
  ASSERT_TRUE(processes.reach(4, 1));
  processes.signal(1, SIGKILL);
  EXPECT_EQ(processes.wait(0), 3);
  for (const int rank : {2, 3}) EXPECT_EQ(processes.wait(rank), 4);
  for (const int rank : {0, 2, 3}) {
    EXPECT_EQ(processes.report(rank).kind, static_cast<int>(Kind::gone));
    EXPECT_EQ(processes.report(rank).odd_rank, 1) << processes.report(rank).text.data();
  }
}

}  // namespace
}  // namespace muster::train
