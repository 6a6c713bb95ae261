#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <optional>

#include "tests/support/shell.h"
#include "train/comm/process_test_kit.h"
#include "train/comm/rank_test_kit.h"
#include "train/comm/socket.h"

namespace muster::train {
namespace {

using Kind = CollectiveFailure::Kind;

// A port that was free a moment ago.
std::uint16_t free_port() {
  const auto listener = listen_at({});
  EXPECT_TRUE(listener);
  return listener ? port_of(*listener) : std::uint16_t{0};
}

JoinRequest request_of(int rank, int world, std::uint16_t port, const std::string& token = "t") {
  JoinRequest request;
  request.rank = rank;
  request.world = world;
  request.token = token;
  request.master_address = "127.0.0.1";
  request.master_port = port;
  return request;
}

// All ranks in this process, each joined from a thread of its own.
Ranks join_loopback(int world, const CommOptions& options) {
  const std::uint16_t port = free_port();
  Ranks ranks(static_cast<std::size_t>(world));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] {
        auto joined = join_network(request_of(rank, world, port), options);
        EXPECT_TRUE(joined) << (joined ? "" : joined.error().context);
        if (joined) ranks[static_cast<std::size_t>(rank)] = std::move(*joined);
      });
    }
  }
  return ranks;
}

// What every kind of call gives, as bytes.
std::string results_of(Communicator& comm, std::size_t slice) {
  const auto members = static_cast<std::size_t>(comm.world());
  std::vector<float> full(slice * members), sum(slice, 0.5F), wire(slice), shard(slice);
  std::vector<float> gathered(slice * members);
  std::vector<double> reduced(slice);
  for (std::size_t i = 0; i < full.size(); ++i) {
    full[i] =
        static_cast<float>((i * 7919 + static_cast<std::size_t>(comm.rank()) * 104729) % 1009) /
        (1.0F + static_cast<float>(comm.rank()));
  }
  for (std::size_t i = 0; i < slice; ++i) {
    shard[i] = full[i];
    reduced[i] = static_cast<double>(full[i]) / 7;
  }
  const auto raw = [](auto& values) { return reinterpret_cast<std::byte*>(values.data()); };
  comm.all_gather(raw(shard), raw(gathered), slice * 4, {Purpose::weights, 0});
  comm.reduce_scatter_add(raw(full), raw(sum), slice, Dtype::f32, {Purpose::gradients, 0});
  comm.reduce_scatter_add(raw(full), raw(wire), slice, Dtype::bf16, {Purpose::gradients, 0});
  const Ticket last = comm.all_reduce(raw(reduced), slice, Dtype::f64, {Purpose::norm, 0});
  EXPECT_TRUE(comm.wait(last));
  std::string out;
  const auto add = [&out](const auto& values) {
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  add(gathered);
  add(sum);
  add(wire);
  add(reduced);
  const auto total = comm.sum(0.1 * comm.rank(), {Purpose::loss, 0});
  const auto least = comm.min(5 - comm.rank(), {Purpose::loss, 0});
  const auto texts = comm.gather_texts(std::string(static_cast<std::size_t>(comm.rank()), 'x'),
                                       {Purpose::agreement, 0});
  EXPECT_TRUE(total && least && texts);
  if (total && least && texts) {
    out += fmt::format("{:a} {}", *total, *least);
    for (const std::string& text : *texts) out += "|" + text;
  }
  return out;
}

TEST(NetworkRanks, GiveWhatSharedMemoryGivesBitByBit) {
  for (const int world : {1, 2, 3, 4}) {
    for (const std::size_t slice : {0u, 1u, 1001u, 200000u}) {
      std::vector<std::string> over_tcp(4), over_memory(4);
      Ranks network = join_loopback(world, patient(30));
      on_all(network, [&](Communicator& comm) {
        over_tcp[static_cast<std::size_t>(comm.rank())] = results_of(comm, slice);
      });
      Ranks memory = join_threads(world, {patient(30)});
      on_all(memory, [&](Communicator& comm) {
        over_memory[static_cast<std::size_t>(comm.rank())] = results_of(comm, slice);
      });
      EXPECT_TRUE(over_tcp == over_memory) << world << " " << slice;
    }
  }
}

TEST(NetworkRanks, SplitIntoGroupsWithOrdersOfTheirOwn) {
  Ranks ranks = join_loopback(4, patient(30));
  on_all(ranks, [&](Communicator& comm) {
    const int rank = comm.rank();
    auto node = comm.split(rank / 2, "node");
    auto saves = comm.split(0, "save");
    ASSERT_TRUE(node && saves);
    std::jthread save([&] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE((*saves)->barrier({Purpose::save, 0}));
    });
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ((*node)->sum(rank, {Purpose::loss, 0}).value(), rank < 2 ? 1 : 5);
      EXPECT_EQ(comm.sum(rank, {Purpose::loss, 0}).value(), 6);
    }
    auto alone = (*node)->split(rank, "alone");
    ASSERT_TRUE(alone);
    EXPECT_EQ((*alone)->sum(7, {Purpose::loss, 0}).value(), 7);
  });
}

TEST(NetworkRanks, WhoDiffersIsNamedOnAllRanks) {
  Ranks ranks = join_loopback(3, patient(30));
  on_all(ranks, [](Communicator& comm) {
    std::vector<std::byte> shard(64), full(192);
    const bool odd = comm.rank() == 2;
    const Status done =
        odd ? comm.barrier({Purpose::save, 0})
            : comm.wait(comm.all_gather(shard.data(), full.data(), 64, {Purpose::weights, 1}));
    EXPECT_FALSE(done);
    ASSERT_TRUE(comm.failure());
    EXPECT_EQ(comm.failure()->kind, Kind::desync);
    EXPECT_EQ(comm.failure()->odd_ranks, std::vector<int>{2});
  });
}

TEST(NetworkRanks, WhoDoesNotComeInTimeIsNamed) {
  CommOptions options = patient(30);
  options.deadline = seconds_to_duration(0.3);
  Ranks ranks = join_loopback(3, options);
  on_all(ranks, [](Communicator& comm) {
    if (comm.rank() == 1) {
      while (!comm.failure()) std::this_thread::yield();
    }
    EXPECT_FALSE(comm.barrier({Purpose::loss, 0}));
    ASSERT_TRUE(comm.failure());
    EXPECT_EQ(comm.failure()->kind, Kind::deadline);
    EXPECT_EQ(comm.failure()->odd_ranks, std::vector<int>{1});
  });
}

TEST(NetworkRanks, AnyThreadMayGiveUpForAll) {
  CommOptions for_ever = patient(30);
  for_ever.deadline = std::nullopt;
  Ranks ranks = join_loopback(3, for_ever);
  std::jthread other([&] { ranks[2]->abort("its disk is full"); });
  on_all(ranks, [](Communicator& comm) {
    if (comm.rank() == 0) {
      EXPECT_FALSE(comm.barrier({Purpose::loss, 0}));
    }
    while (!comm.failure()) std::this_thread::yield();
    EXPECT_EQ(comm.failure()->kind, Kind::aborted);
    EXPECT_EQ(comm.failure()->text, "rank 2: its disk is full");
  });
}

// All ranks agree, or none does: otherwise one ends with what they agreed on, another as if a rank
// had been lost.
TEST(NetworkRanks, AFailureBehindACallThatAllMadeLeavesItAsItWas) {
  for (int repeat = 0; repeat < 150; ++repeat) {
    Ranks ranks = join_loopback(2, patient(30));
    on_all(ranks, [](Communicator& comm) {
      EXPECT_TRUE(comm.barrier({Purpose::loss, 0}));
      const auto worst = comm.max(comm.rank(), {Purpose::save, 0});
      if (comm.rank() == 1) comm.abort("the disk is full");
      EXPECT_TRUE(worst) << worst.error().context;
    });
    if (HasFailure()) return;
  }
}

TEST(NetworkRanks, WithoutTheCheckRanksThatDifferHang) {
  CommOptions silent = patient(30);
  silent.deadline = silent.save_deadline = std::nullopt;
  silent.check_signatures = false;
  Ranks ranks = join_loopback(2, silent);
  std::jthread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_FALSE(ranks[0]->failure());
    ranks[1]->abort("enough");
  });
  on_all(ranks, [](Communicator& comm) {
    EXPECT_TRUE(comm.barrier({Purpose::loss, 0}));
    EXPECT_FALSE(comm.barrier({comm.rank() == 0 ? Purpose::save : Purpose::end, 0}));
    EXPECT_EQ(comm.failure()->kind, Kind::aborted);
  });
}

TEST(NetworkRanks, WhoHasLeftIsNotWaitedFor) {
  expect_that_nobody_waits_for_who_left(join_loopback(3, patient(30)));
}

TEST(NetworkRanks, WhoLeavesAfterTheLastCallHarmsNobody) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    expect_that_leaving_harms_nobody(join_loopback(3, patient(30)));
  }
}

// ---- processes ---------------------------------------------------------------------------------

int gather_until_failure(const JoinRequest& request, const CommOptions& options,
                         RankReport& report) {
  auto comm = join_network(request, options);
  if (!comm) {
    report.say(comm.error().context);
    return 10 + static_cast<int>(comm.error().code);
  }
  std::vector<std::byte> shard(100'000);
  std::vector<std::byte> full(shard.size() * static_cast<std::size_t>(request.world));
  for (;;) {
    ++report.progress;
    const Ticket ticket =
        (*comm)->all_gather(shard.data(), full.data(), shard.size(), {Purpose::weights, 0});
    if ((*comm)->wait(ticket)) continue;
    report.tell(*(*comm)->failure());
    return 3;
  }
}

TEST(NetworkRanks, KilledEverySurvivorKnowsWhoWithinTwoSeconds) {
  for (int repeat = 0; repeat < 12; ++repeat) {
    const int world = 2 + repeat % 3, victim = repeat % world;
    const std::uint16_t port = free_port();
    CommOptions options = patient(30);
    options.deadline = std::nullopt;
    RankProcesses processes;
    for (int i = 0; i < world; ++i) {
      processes.start([&](int rank, RankReport& report) {
        return gather_until_failure(request_of(rank, world, port), options, report);
      });
    }
    ASSERT_TRUE(processes.reach(world, 3 + repeat));
    const auto killed_ns = system_clock().mono().time_since_epoch().count();
    processes.signal(victim, SIGKILL);
    EXPECT_EQ(processes.wait(victim), -1);
    for (int rank = 0; rank < world; ++rank) {
      if (rank == victim) continue;
      ASSERT_EQ(processes.wait(rank), 3);
      const RankReport& report = processes.report(rank);
      EXPECT_EQ(report.kind, static_cast<int>(Kind::gone)) << report.text.data();
      EXPECT_EQ(report.odd_rank, victim) << report.text.data();
      EXPECT_LT(report.at_ns - killed_ns, 2'000'000'000);
    }
  }
}

TEST(NetworkRanks, AStoppedRankMissesTheDeadlineByName) {
  const std::uint16_t port = free_port();
  CommOptions options = patient(30);
  options.deadline = seconds_to_duration(0.5);
  RankProcesses processes;
  for (int i = 0; i < 3; ++i) {
    processes.start([&](int rank, RankReport& report) {
      return gather_until_failure(request_of(rank, 3, port), options, report);
    });
  }
  ASSERT_TRUE(processes.reach(3, 3));
  processes.signal(1, SIGSTOP);
  for (const int rank : {0, 2}) {
    ASSERT_EQ(processes.wait(rank), 3);
    EXPECT_EQ(processes.report(rank).kind, static_cast<int>(Kind::deadline));
    EXPECT_EQ(processes.report(rank).odd_rank, 1) << processes.report(rank).text.data();
  }
  processes.signal(1, SIGCONT);
  ASSERT_EQ(processes.wait(1), 3);
  EXPECT_EQ(processes.report(1).odd_rank, 1) << processes.report(1).text.data();
}

struct BadJoin {
  const char* name;
  int rank, world;
  const char* token;
  Errc guest, host;  // what each is told
  const char* text;  // to the guest
};

TEST(NetworkRanks, WhoDoesNotFitOrComeIsToldAndNamed) {
  const std::vector<BadJoin> rows = {
      {"another world", 1, 5, "t", Errc::invalid_input, Errc::invalid_input, "rank 0 says 3"},
      {"another run", 1, 3, "u", Errc::invalid_input, Errc::timeout, "another run meets"},
      {"alone", 1, 3, "t", Errc::timeout, Errc::timeout, "rank 2 of 3 did not come in time"},
  };
  for (const BadJoin& row : rows) {
    const std::uint16_t port = free_port();
    std::optional<Error> guest, host;
    std::jthread zero([&] {
      const auto joined = join_network(request_of(0, 3, port), patient(0.5));
      if (!joined) host = joined.error();
    });
    const auto joined =
        join_network(request_of(row.rank, row.world, port, row.token), patient(0.5));
    if (!joined) guest = joined.error();
    zero.join();
    ASSERT_TRUE(guest && host) << row.name;
    EXPECT_EQ(guest->code, row.guest) << row.name << guest->context;
    EXPECT_EQ(host->code, row.host) << row.name << host->context;
    EXPECT_NE(guest->context.find(row.text), std::string::npos) << guest->context;
  }
}

TEST(NetworkRanks, StrangersAtTheDoorHarmNobody) {
  const std::uint16_t port = free_port();
  SocketAddress door;
  door.host = "127.0.0.1";
  door.port = port;
  std::vector<std::unique_ptr<Communicator>> ranks(2);
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    auto joined = join_network(request_of(0, 2, port), patient(30));
    ASSERT_TRUE(joined) << joined.error().context;
    ranks[0] = std::move(*joined);
  });
  const MonoTime until = system_clock().mono() + std::chrono::seconds(10);
  for (const char* text : {"GET / HTTP/1.1\r\n\r\n", "", "muster-join/1\nt\nx\n2\n-",
                           "muster-join/1\nt\n99999999999999999999\n2\n-"}) {
    auto stranger = connect_to(door, until);
    ASSERT_TRUE(stranger);
    std::ignore = send_frame(*stranger, text, until);
  }
  threads.emplace_back([&] {
    auto joined = join_network(request_of(1, 2, port), patient(30));
    ASSERT_TRUE(joined) << joined.error().context;
    ranks[1] = std::move(*joined);
  });
  threads.clear();
  on_all(ranks, [](Communicator& comm) { EXPECT_TRUE(comm.barrier({Purpose::end, 0})); });
}

// ---- a link that is cut ------------------------------------------------------------------------

// Two ranks, each in a network of its own, joined by one cable.
TEST(NetworkRanks, ACutLinkIsMetByTheDeadlineOnBothSides) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root: it makes networks";
  for (const char* tool : {"ip", "nsenter"}) {
    if (const auto why = testing_support::reason_to_skip(tool); !why.empty()) GTEST_SKIP() << why;
  }
  constexpr int kNoNetwork = 77, kGo = RankProcesses::kMost - 1;
  CommOptions options = patient(30);
  options.deadline = seconds_to_duration(1);
  RankProcesses processes;
  for (int i = 0; i < 2; ++i) {
    processes.start([&](int rank, RankReport& report) {
      if (unshare(CLONE_NEWNET) != 0) return kNoNetwork;
      report.progress = 1;
      while (processes.report(kGo).progress == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      JoinRequest request = request_of(rank, 2, 29500);
      request.master_address = "10.77.0.1";
      return gather_until_failure(request, options, report);
    });
  }
  const auto in_network = [&](int rank, const std::string& command) {
    return testing_support::run_shell(
        fmt::format("nsenter -t {} -n sh -c '{}'", processes.pid(rank), command));
  };
  while (processes.report(0).progress == 0 || processes.report(1).progress == 0) {
    if (waitpid(processes.pid(0), nullptr, WNOHANG) != 0) GTEST_SKIP() << "no networks of our own";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto cable = in_network(0, fmt::format("ip link add cable0 type veth peer name cable1 "
                                               "netns {}",
                                               processes.pid(1)));
  if (cable.status != 0) GTEST_SKIP() << "no virtual cables here: " << cable.output;
  for (int rank = 0; rank < 2; ++rank) {
    const auto up = in_network(
        rank, fmt::format("ip addr add 10.77.0.{}/24 dev cable{} && ip link set cable{} up",
                          rank + 1, rank, rank));
    ASSERT_EQ(up.status, 0) << up.output;
  }
  processes.report(kGo).progress = 1;
  ASSERT_TRUE(processes.reach(2, 6)) << processes.report(0).text.data();
  ASSERT_EQ(in_network(0, "ip link set cable0 down").status, 0);
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(processes.wait(rank), 3) << processes.report(rank).text.data();
    EXPECT_EQ(processes.report(rank).kind, static_cast<int>(Kind::deadline));
    EXPECT_EQ(processes.report(rank).odd_rank, 1 - rank) << processes.report(rank).text.data();
  }
}

}  // namespace
}  // namespace muster::train
