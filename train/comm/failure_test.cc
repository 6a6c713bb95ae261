#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include "train/comm/call_signature.h"
#include "train/comm/rank_test_kit.h"

namespace muster::train {
namespace {

using Kind = CollectiveFailure::Kind;
using Part = std::function<Status(Communicator&)>;

struct NamedCall {
  const char* name;
  Part call;
};

// Calls that differ from one another in one thing each.
std::vector<NamedCall> different_calls() {
  static std::array<std::byte, 4096> shard;
  const auto gather = [](std::size_t bytes, Tag tag) {
    return [bytes, tag](Communicator& comm) {
      std::vector<std::byte> full(bytes * static_cast<std::size_t>(comm.world()));
      return comm.wait(comm.all_gather(shard.data(), full.data(), bytes, tag));
    };
  };
  const auto reduce = [](std::size_t elements, Dtype wire) {
    return [=](Communicator& comm) {
      std::vector<float> full(elements * static_cast<std::size_t>(comm.world())), sum(elements);
      return comm.wait(comm.reduce_scatter_add(reinterpret_cast<std::byte*>(full.data()),
                                               reinterpret_cast<std::byte*>(sum.data()), elements,
                                               wire, {Purpose::gradients, 1}));
    };
  };
  const auto sum = [](std::size_t elements, Dtype dtype) {
    return [=](Communicator& comm) {
      std::vector<double> data(elements);
      return comm.wait(comm.all_reduce(reinterpret_cast<std::byte*>(data.data()), elements, dtype,
                                       {Purpose::norm, 0}));
    };
  };
  const auto status = [](const auto& result) { return result ? Status() : result.error(); };
  return {
      {"gather", gather(1024, {Purpose::weights, 1})},
      {"gather of another unit", gather(1024, {Purpose::weights, 2})},
      {"gather of another size", gather(1025, {Purpose::weights, 1})},
      {"gather for another purpose", gather(1024, {Purpose::save, 1})},
      {"reduce", reduce(256, Dtype::f32)},
      {"reduce of another type", reduce(256, Dtype::bf16)},
      {"reduce of as many bytes", reduce(512, Dtype::bf16)},
      {"sum", sum(4, Dtype::f32)},
      {"sum of another type", sum(2, Dtype::f64)},
      {"min", [=](Communicator& c) { return status(c.min(1, {Purpose::loss, 0})); }},
      {"max", [=](Communicator& c) { return status(c.max(1, {Purpose::loss, 0})); }},
      {"one sum", [=](Communicator& c) { return status(c.sum(1, {Purpose::loss, 0})); }},
      {"texts", [=](Communicator& c) { return status(c.gather_texts("a", {Purpose::save, 0})); }},
      {"barrier", [=](Communicator& c) { return c.barrier({Purpose::save, 0}); }},
      {"barrier at the end", [=](Communicator& c) { return c.barrier({Purpose::end, 0}); }},
      {"split", [=](Communicator& c) { return status(c.split(0, "part")); }},
  };
}

TEST(Failure, EveryPairOfCallsThatDifferIsFoundAtOnce) {
  const std::vector<NamedCall> calls = different_calls();
  for (std::size_t a = 0; a < calls.size(); ++a) {
    for (std::size_t b = 0; b < calls.size(); ++b) {
      Ranks ranks = join_threads(3, {patient(60)});
      on_all(ranks, [&](Communicator& comm) {
        const bool odd = comm.rank() == 1;
        const Status done = calls[odd ? b : a].call(comm);
        ASSERT_EQ(done.has_value(), a == b) << calls[a].name << " / " << calls[b].name;
        if (done) return;
        EXPECT_EQ(done.error().code, Errc::unavailable);
        const auto failure = comm.failure();
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->kind, Kind::desync) << calls[a].name << " / " << calls[b].name;
        EXPECT_EQ(failure->odd_ranks, std::vector<int>{1}) << failure->text;
        EXPECT_NE(failure->text.find("rank 1 calls "), std::string::npos) << failure->text;
        EXPECT_FALSE(comm.barrier({Purpose::end, 0}));  // whatever comes after
      });
    }
  }
}

TEST(Failure, NobodysMemoryIsTouchedBeforeAllAgree) {
  Ranks ranks = join_threads(2, {patient(60)});
  on_all(ranks, [&](Communicator& comm) {
    std::vector<float> full(8, 1.0F), sum(4, 2.0F);
    auto* in = reinterpret_cast<std::byte*>(full.data());
    auto* out = reinterpret_cast<std::byte*>(sum.data());
    const Ticket ticket =
        comm.rank() == 0 ? comm.reduce_scatter_add(in, out, 4, Dtype::f32, {Purpose::gradients, 0})
                         : comm.all_gather(out, in, 16, {Purpose::weights, 0});
    EXPECT_FALSE(comm.wait(ticket));
    EXPECT_EQ(full, std::vector<float>(8, 1.0F));
    EXPECT_EQ(sum, std::vector<float>(4, 2.0F));
    // Two that differ: both are told, nobody is accused.
    EXPECT_TRUE(comm.failure()->odd_ranks.empty());
    EXPECT_NE(comm.failure()->text.find("rank 0 calls reduce_scatter"), std::string::npos);
    EXPECT_NE(comm.failure()->text.find("rank 1 calls all_gather"), std::string::npos);
  });
}

struct Voting {
  const char* name;
  std::vector<std::uint64_t> sizes;  // what each rank calls
  std::vector<int> odd;
  const char* text;
};

TEST(Failure, AStrictMajorityNamesTheOddOnes) {
  const std::vector<Voting> rows = {
      {"two halves", {1, 1, 2, 2}, {}, "no majority"},
      {"all differ", {1, 2, 3, 4}, {}, "no majority"},
      {"a plurality is none", {1, 1, 2, 3}, {}, "no majority"},
      {"the first", {9, 1, 1, 1}, {0}, "rank 0 calls barrier"},
      {"the last", {1, 1, 1, 9}, {3}, "where ranks 0-2 call"},
      {"two of five", {1, 8, 1, 9, 1}, {1, 3}, "where ranks 0, 2 and 4 call"},
      {"two alike of five", {1, 8, 1, 8, 1}, {1, 3}, "ranks 1 and 3 call barrier"},
  };
  for (const Voting& row : rows) {
    std::vector<int> ranks;
    std::vector<CallSignature> calls;
    for (std::size_t i = 0; i < row.sizes.size(); ++i) {
      ranks.push_back(static_cast<int>(i));
      calls.push_back({.seq = 7, .bytes = row.sizes[i]});
    }
    const auto failure = judge_signatures(ranks, calls);
    ASSERT_TRUE(failure) << row.name;
    EXPECT_EQ(failure->odd_ranks, row.odd) << row.name;
    EXPECT_NE(failure->text.find(row.text), std::string::npos) << row.name << failure->text;
  }
  const std::vector<int> one = {0, 1};
  EXPECT_FALSE(judge_signatures(one, std::vector<CallSignature>(2)));
}

TEST(Failure, RanksAreNamedInRuns) {
  EXPECT_EQ(describe_ranks(std::vector<int>{3}), "rank 3");
  EXPECT_EQ(describe_ranks(std::vector<int>{0, 1}), "ranks 0 and 1");
  EXPECT_EQ(describe_ranks(std::vector<int>{0, 1, 2, 3}), "ranks 0-3");
  EXPECT_EQ(describe_ranks(std::vector<int>{0, 1, 2, 5, 7, 8, 9}), "ranks 0-2, 5 and 7-9");
  std::vector<int> many;
  for (int i = 0; i < 100; ++i) many.push_back(2 * i);
  EXPECT_EQ(describe_ranks(many), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 92 more");
}

TEST(Failure, WhoDoesNotComeInTimeIsNamed) {
  for (const int late : {0, 2}) {
    Ranks ranks = join_threads(3, {patient(0.2)});
    on_all(ranks, [&](Communicator& comm) {
      if (comm.rank() == late) {
        // Comes when the others have given up: learns why at once.
        while (!comm.failure()) std::this_thread::yield();
      }
      EXPECT_FALSE(comm.barrier({Purpose::loss, 0}));
      ASSERT_TRUE(comm.failure());
      EXPECT_EQ(comm.failure()->kind, Kind::deadline);
      EXPECT_EQ(comm.failure()->odd_ranks, std::vector<int>{late});
      EXPECT_NE(comm.failure()->text.find("did not come to barrier (loss)"), std::string::npos)
          << comm.failure()->text;
    });
  }
}

TEST(Failure, ALateRankIsWaitedFor) {
  Ranks ranks = join_threads(2, {patient(60)});
  std::atomic<int> waiting = 0;
  on_all(ranks, [&](Communicator& comm) {
    if (comm.rank() == 1) {
      while (waiting == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(150));  // more than one look
    }
    ++waiting;
    EXPECT_TRUE(comm.barrier({Purpose::loss, 0}));
    if (comm.rank() == 0) {
      EXPECT_GT(comm.take_cost().waited_ns, 100'000'000u);
    }
  });
}

TEST(Failure, WhoHasLeftIsNotWaitedFor) {
  expect_that_nobody_waits_for_who_left(join_threads(3, {patient(60)}));
}

TEST(Failure, WhoLeavesAfterTheLastCallHarmsNobody) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    expect_that_leaving_harms_nobody(join_threads(3, {patient(60)}));
  }
}

TEST(Failure, AnyThreadMayGiveUpForAll) {
  CommOptions for_ever;
  for_ever.deadline = std::nullopt;
  Ranks ranks = join_threads(3, {for_ever});
  std::jthread other([&] { ranks[2]->abort("its disk is full"); });
  on_all(ranks, [](Communicator& comm) {
    std::vector<float> full(3 << 20), shard(1 << 20);
    const Ticket ticket = comm.rank() == 1
                              ? Ticket{0}
                              : comm.all_gather(reinterpret_cast<std::byte*>(shard.data()),
                                                reinterpret_cast<std::byte*>(full.data()), 4 << 20,
                                                {Purpose::weights, 0});
    if (ticket != 0) {
      EXPECT_FALSE(comm.wait(ticket));
    }
    while (!comm.failure()) std::this_thread::yield();
    EXPECT_EQ(comm.failure()->kind, Kind::aborted);
    EXPECT_EQ(comm.failure()->text, "rank 2: its disk is full");
    EXPECT_FALSE(comm.barrier({Purpose::end, 0}));
  });
}

TEST(Failure, CallsUnderWayAtTheEndAreAborted) {
  Ranks ranks = join_threads(2, {patient(60)});
  std::vector<float> full(2), shard(1);
  ranks[0]->all_gather(reinterpret_cast<std::byte*>(shard.data()),
                       reinterpret_cast<std::byte*>(full.data()), 4, {Purpose::weights, 0});
  ranks[0].reset();
  EXPECT_FALSE(ranks[1]->barrier({Purpose::weights, 0}));
  EXPECT_EQ(ranks[1]->failure()->kind, Kind::aborted);
}

TEST(Failure, WithoutTheCheckRanksThatDifferHang) {
  CommOptions silent;
  silent.deadline = silent.save_deadline = std::nullopt;
  silent.check_signatures = false;
  Ranks ranks = join_threads(3, {silent});
  std::atomic<int> came_back = 0;
  std::jthread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(came_back, 0);
    EXPECT_FALSE(ranks[0]->failure());
    ranks[1]->abort("enough");
  });
  on_all(ranks, [&](Communicator& comm) {
    std::vector<float> full(3), shard(1);
    EXPECT_TRUE(comm.barrier({Purpose::loss, 0}));  // what agrees goes on
    if (comm.rank() == 2) {
      EXPECT_FALSE(comm.barrier({Purpose::save, 0}));
    } else {
      EXPECT_FALSE(comm.wait(comm.all_gather(reinterpret_cast<std::byte*>(shard.data()),
                                             reinterpret_cast<std::byte*>(full.data()), 4,
                                             {Purpose::weights, 0})));
    }
    ++came_back;
  });
}

TEST(Failure, ADeadlineEndsSuchAHangAndAccusesNobody) {
  CommOptions options = patient(0.2);
  options.check_signatures = false;
  Ranks ranks = join_threads(2, {options});
  on_all(ranks, [](Communicator& comm) {
    EXPECT_FALSE(comm.barrier({comm.rank() == 0 ? Purpose::save : Purpose::end, 0}));
    ASSERT_TRUE(comm.failure());
    EXPECT_EQ(comm.failure()->kind, Kind::deadline);
    EXPECT_TRUE(comm.failure()->odd_ranks.empty()) << comm.failure()->text;
  });
}

}  // namespace
}  // namespace muster::train
