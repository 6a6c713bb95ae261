#include "core/explain/waits.h"

#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

TEST(Waits, RanksWithoutTheLinesOfTheOthers) {
  const auto node = [](Pile& p) { p.fact(RankPlace{16, 23, "n3", ""}); };
  run({
      {"one victim alone", [](Pile& p) { p.timeout(6, 1800); }, "collective_hang", ""},
      {"two victims",
       [](Pile& p) {
         p.timeout(1, 1800);
         p.timeout(3, 1800);
       },
       "collective_hang", ""},
      {"a log of one node of two",
       [](Pile& p) {
         p.timeout(8, 9);
         p.timeouts(10, 15, 9);
       },
       "collective_hang", ""},
      {"all ranks", [](Pile& p) { p.timeouts(0, 7, 1800); }, "collective_hang", ""},
      {"a few ranks with a hole", [](Pile& p) { p.timeouts(0, 4, 1800, 2); }, "collective_hang",
       ""},
      {"two holes",
       [](Pile& p) {
         p.timeouts(0, 15, 1800, 3);
         p.input.events.erase(p.input.events.begin() + 8);
       },
       "collective_hang", ""},
      {"different calls",
       [](Pile& p) {
         for (int r = 1; r < 8; ++r) p.timeout(r, 1800, r < 4 ? 7 : 9);
       },
       "collective_hang", ""},
      {"one hole, size by the highest rank", [](Pile& p) { p.timeouts(0, 15, 1800, 3); },
       "rank_behind", "rank:3", kCritical, kLow, kLow},
      {"one hole, size is told",
       [](Pile& p) {
         p.timeouts(0, 14, 1800, 3);
         p.fact(Setting{"WORLD_SIZE", "16"});
         p.timeout(15, 1800);
       },
       "rank_behind", "rank:3", kCritical, kLow},
      {"a whole host",
       [=](Pile& p) {
         p.timeouts(0, 15, 1800);
         p.timeouts(24, 31, 1800);
         node(p);
       },
       "rank_behind", "host:n3", kCritical, kLow},
      {"part of a host",
       [=](Pile& p) {
         p.timeouts(0, 17, 1800);
         p.timeouts(24, 31, 1800);
         node(p);
       },
       "collective_hang", ""},
  });
}

TEST(Waits, LogsOfEachRankTellTheSizeOfTheJob) {
  run({{"one of eight logs has no time-out",
        [](Pile& p) {
          for (int r = 0; r < 8; ++r) {
            p.source = "rank" + std::to_string(r) + ".log";
            LogSource source;
            source.name = p.source;
            source.rank = r;
            p.input.sources.push_back(source);
            if (r != 7) p.timeout(r, 1800);
          }
        },
        "rank_behind", "rank:7", kCritical, kMedium, kMedium}});
}

TEST(Waits, NumbersOfRanks) {
  const auto numbers = [](Pile& p, std::vector<int> enqueued, const std::string& group = "0") {
    for (std::size_t r = 0; r < enqueued.size(); ++r) {
      p.timeout(static_cast<int>(r), 1800)
          .word("enqueued", std::to_string(enqueued[r]))
          .word("group", group);
    }
  };
  const auto stuck = [](Pile& p, std::vector<int> pending) {
    for (std::size_t r = 0; r < pending.size(); ++r) {
      p.root(watchdog_stuck, "Heartbeat monitor timed out")
          .rank(static_cast<int>(r))
          .word("pending", std::to_string(pending[r]));
    }
  };
  run({
      {"all alike", [=](Pile& p) { numbers(p, {9, 9, 9, 9}); }, "collective_hang", ""},
      {"all different", [=](Pile& p) { numbers(p, {6, 7, 8, 9}); }, "collective_hang", ""},
      {"half and half", [=](Pile& p) { numbers(p, {8, 8, 9, 9}); }, "collective_hang", ""},
      {"of two ranks", [=](Pile& p) { numbers(p, {8, 9}); }, "collective_hang", ""},
      {"memory that nobody set",
       [=](Pile& p) {
         p.timeout(0, 9).word("enqueued", "-2");
         numbers(p, {9, 9, 9});
       },
       "collective_hang", ""},
      {"an attempt before a restart counted by itself",
       [=](Pile& p) {
         p.timeout(3, 100).word("enqueued", "5").word("group", "0");
         p.context("restarted").at(900);
         numbers(p, {9, 9, 9});
       },
       "collective_hang", ""},
      {"an attempt hours before",
       [=](Pile& p) {
         p.timeout(3, -9000).word("enqueued", "5").word("group", "0");
         numbers(p, {9, 9, 9});
       },
       "collective_hang", ""},
      {"one behind", [=](Pile& p) { numbers(p, {9, 9, 8, 9}); }, "rank_behind", "rank:2", kCritical,
       kMedium, kMedium},
      {"one behind, in groups of one name", [=](Pile& p) { numbers(p, {9, 9, 8, 9}, "tp"); },
       "rank_behind", "rank:2", kCritical, kLow, kLow},
      {"stuck everywhere", [=](Pile& p) { stuck(p, {9, 9, 9, 9}); }, "watchdog_stuck", ""},
      {"stuck everywhere, two behind differently", [=](Pile& p) { stuck(p, {8, 9, 7, 9}); },
       "watchdog_stuck", ""},
      {"stuck everywhere, one behind", [=](Pile& p) { stuck(p, {80, 99, 99, 99}); }, "rank_behind",
       "rank:0"},
      {"stuck on one", [=](Pile& p) { stuck(p, {80}); }, "watchdog_stuck", "rank:0", kCritical,
       kHigh},
  });
}

TEST(Waits, CallsThatDoNotMatch) {
  const auto calls = [](Pile& p, std::vector<std::string> ops) {
    for (std::size_t r = 0; r < ops.size(); ++r) p.timeout(static_cast<int>(r), 1800, 7, ops[r]);
  };
  const auto sizes = [](Pile& p, std::vector<int> in, const std::string& op = "ALLREDUCE") {
    for (std::size_t r = 0; r < in.size(); ++r) {
      p.timeout(static_cast<int>(r), 1800, 7, op).word("numel_in", std::to_string(in[r]));
    }
  };
  run({
      {"each its own size", [=](Pile& p) { sizes(p, {1, 2, 3, 4, 5, 6}); }, "collective_hang", ""},
      {"unequal parts may differ", [=](Pile& p) { sizes(p, {1, 2, 2, 2}, "ALLTOALL"); },
       "collective_hang", ""},
      {"half and half", [=](Pile& p) { calls(p, {"A", "A", "B", "B"}); }, "collective_mismatch",
       ""},
      {"one odd", [=](Pile& p) { calls(p, {"A", "A", "B", "A"}); }, "collective_mismatch",
       "rank:2"},
      {"one odd size", [=](Pile& p) { sizes(p, {5, 5, 5, 4}); }, "collective_mismatch", "rank:3"},
  });
}

TEST(Waits, WhatWasOpen) {
  run({
      {"an evaluation that ended",
       [](Pile& p) {
         p.context("eval_begin").rank(0).at(10);
         p.context("eval_end").rank(0).at(40);
         p.timeout(1, 1800);
         p.timeout(2, 1800);
       },
       "collective_hang", ""},
      {"steps behind it",
       [](Pile& p) {
         p.context("eval_begin").rank(0).at(10);
         p.context("last_step").at(400);
         p.timeout(1, 1800);
       },
       "collective_hang", ""},
      {"it waits itself",
       [](Pile& p) {
         p.context("eval_begin").rank(1).at(10);
         p.timeout(1, 1800);
       },
       "collective_hang", ""},
      {"a GPU was lost meanwhile",
       [](Pile& p) {
         p.context("eval_begin").rank(0).at(10);
         p.xid(79, gpu_fell_off_bus, "0000:01:00").host("n1").at(20);
         p.timeout(1, 1800);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:01:00.0"},
  });
}

TEST(Waits, LongWork) {
  run({
      {"no rank told",
       [](Pile& p) {
         p.context("eval_begin").at(10);
         p.timeout(1, 1800);
       },
       "one_rank_long_work", "", kWarning},
      {"open on one rank",
       [](Pile& p) {
         p.context("eval_begin").rank(0).at(10);
         p.timeouts(1, 7, 1800);
       },
       "one_rank_long_work", "rank:0", kWarning, kMedium, kMedium},
      {"it counts",
       [](Pile& p) {
         p.context("eval_begin", "evaluation on main process").at(10);
         p.context("long_work").word("done", "6215").word("of", "14900").at(1790);
         p.timeout(1, 1800);
       },
       "one_rank_long_work", "rank:0", kWarning, kHigh},
      {"a save",
       [](Pile& p) {
         p.context("save_begin").at(10);
         p.timeout(3, 1800);
       },
       "slow_save", "config:collective_timeout", kCritical},
      {"a save that still writes",
       [](Pile& p) {
         p.context("save_begin").at(10);
         p.timeout(3, 610);
         p.context("save_end").word("done", "7").word("of", "30");
       },
       "slow_save", "config:collective_timeout", kWarning},
      {"a part of it took long",
       [](Pile& p) {
         p.context("save_begin").at(10);
         p.context("long_work").word("seconds", "112").at(122);
         p.timeout(3, 610);
       },
       "slow_save", "config:collective_timeout", kCritical},
      {"a count behind the time-out",
       [](Pile& p) {
         p.context("save_begin");
         p.timeout(3, 610);
         p.context("long_work").word("done", "7").word("of", "30");
       },
       "slow_save", "config:collective_timeout", kWarning},
      {"a part of something took long",
       [](Pile& p) {
         p.context("long_work").word("seconds", "112").at(122);
         p.timeout(3, 1800);
       },
       "collective_hang", ""},
      {"a save that ended",
       [](Pile& p) {
         p.context("save_begin").at(10);
         p.context("save_end").at(90);
         p.timeout(3, 1800);
       },
       "collective_hang", ""},
  });
}

TEST(Waits, AfterTheEndOfTraining) {
  run({
      {"restarted since",
       [](Pile& p) {
         p.context("finished").at(10);
         p.context("restarted").at(20);
         p.timeout(1, 1800);
       },
       "collective_hang", ""},
      {"finished after",
       [](Pile& p) {
         p.timeout(1, 1800);
         p.context("finished").at(1900);
       },
       "collective_hang", ""},
      {"finished, all is well", [](Pile& p) { p.context("finished").at(10); }, "", ""},
      {"a time-out",
       [](Pile& p) {
         p.context("finished");
         p.timeout(1, 1800);
       },
       "timeout_after_completion", "", kInfo},
      {"an error",
       [](Pile& p) {
         p.context("finished").at(10);
         p.root(rank_exception, "KeyError").rank(2).at(30);
       },
       "timeout_after_completion", "", kInfo},
      {"a GPU is lost all the same",
       [](Pile& p) {
         p.context("finished").at(10);
         p.xid(79, gpu_fell_off_bus, "0000:01:00").host("n1").at(20);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:01:00.0"},
      {"an error before it",
       [](Pile& p) {
         p.root(rank_exception, "KeyError").rank(2).at(5);
         p.context("finished").at(10);
       },
       "undetermined", "rank:2", kInfo, kLow, kLow},
  });
}

}  // namespace
}  // namespace muster
