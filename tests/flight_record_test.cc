#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "app/trace_run.h"
#include "base/check.h"
#include "core/flight/dump_reader.h"
#include "core/flight/verdict.h"
#include "edge/os/files.h"
#include "tests/support/shell.h"
#include "train/comm/flight_recorder.h"
#include "train/comm/join.h"

// What the trainer's ranks record, judged as muster trace judges it.

namespace muster {
namespace {

using train::Communicator;
using train::FlightRecorder;
using train::Purpose;

class RecordedRanks {
 public:
  // `folder`: of the files; empty: in memory.
  RecordedRanks(int world, train::CommOptions options, const std::string& folder = "") {
    std::vector<train::CommOptions> all;
    for (int rank = 0; rank < world; ++rank) {
      const FlightRecorder::Head head = {.run = "test",
                                         .host = "n1",
                                         .rank = static_cast<std::uint32_t>(rank),
                                         .world = static_cast<std::uint32_t>(world)};
      if (folder.empty()) {
        recorders_.push_back(FlightRecorder::in_memory(head));
      } else {
        auto made = FlightRecorder::create(fmt::format("{}/rank-{}.flight", folder, rank), head);
        MUSTER_CHECK(made.has_value(), "a file for each rank");
        recorders_.push_back(std::move(*made));
      }
      options.recorder = recorders_.back().get();
      all.push_back(options);
    }
    ranks_ = train::join_threads(world, all);
  }

  void run(const std::function<void(Communicator&)>& part) {
    std::vector<std::jthread> threads;
    for (auto& rank : ranks_) {
      threads.emplace_back([&part, &rank] { part(*rank); });
    }
  }
  std::vector<FlightDump> dumps() const {
    std::vector<FlightDump> out;
    FlightReaderScratch scratch;
    for (const auto& recorder : recorders_) {
      FlightSource source;
      source.name = "record";
      source.bytes = recorder->bytes();
      auto dump = read_flight_dump(source, scratch);
      EXPECT_TRUE(dump);
      if (dump) out.push_back(std::move(*dump));
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<FlightRecorder>> recorders_;
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

// One step as the engine makes it; false after a failure.
bool step(Communicator& comm, std::uint64_t number) {
  std::vector<float> shard(64, 1.0F), sum(64);
  std::vector<float> full(64 * static_cast<std::size_t>(comm.world()));
  auto* in = reinterpret_cast<std::byte*>(shard.data());
  auto* all = reinterpret_cast<std::byte*>(full.data());
  auto* out = reinterpret_cast<std::byte*>(sum.data());
  for (const std::uint32_t unit : {0u, 1u, 2u}) {
    if (!comm.wait(comm.all_gather(in, all, 256, {Purpose::weights, unit}))) return false;
  }
  for (const std::uint32_t unit : {2u, 1u, 0u}) {
    const auto ticket =
        comm.reduce_scatter_add(all, out, 64, train::Dtype::f32, {Purpose::gradients, unit});
    if (!comm.wait(ticket)) return false;
  }
  if (!comm.sum(1.0, {Purpose::norm, 0}) || !comm.sum(2.0, {Purpose::loss, 0})) return false;
  comm.set_step(number + 1);
  return true;
}

// The report's failure: one rank has a step less and goes to save.
void end_unevenly(RecordedRanks& ranks, int odd) {
  ranks.run([&](Communicator& comm) {
    const std::uint64_t steps = comm.rank() == odd ? 4 : 5;
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (!step(comm, i)) return;
    }
    EXPECT_FALSE(comm.barrier({Purpose::save, 0}));
  });
}

TEST(FlightRecords, TraceReadsTheFilesOfARunThatEndedUnevenly) {
  const testing_support::TemporaryFolder folder;
  {
    RecordedRanks ranks(4, {}, folder.path());
    end_unevenly(ranks, 3);
  }
  TraceRequest request;
  request.paths = {folder.path()};
  const auto answer = trace_once(request, real_files());
  ASSERT_TRUE(answer) << answer.error().context;
  ASSERT_FALSE(answer->report.findings.empty());
  const Finding& finding = answer->report.findings[0];
  EXPECT_EQ(finding.cause, Cause::uneven_steps) << finding.summary;
  EXPECT_EQ(finding.confidence, Confidence::high);
  ASSERT_EQ(finding.culprits.size(), 1u);
  EXPECT_EQ(finding.culprits[0].id, "3");
  EXPECT_TRUE(answer->report.blind.empty());
}

TEST(FlightRecords, UnevenStepsNameTheRankThatLeftTheLoop) {
  for (const int odd : {0, 3}) {
    RecordedRanks ranks(4, {});
    end_unevenly(ranks, odd);
    const FlightAnalysis analysis = analyze_flight(ranks.dumps(), {});
    ASSERT_FALSE(analysis.verdicts.empty());
    const FlightVerdict& verdict = analysis.verdicts[0];
    EXPECT_EQ(verdict.kind, FlightVerdictKind::ahead_left_loop) << verdict.summary;
    EXPECT_EQ(verdict.culprits, std::vector<std::int32_t>{odd}) << verdict.summary;
    EXPECT_EQ(verdict.confidence, Confidence::high) << verdict.why;
    EXPECT_EQ(analysis.coverage.expected, 4u);
  }
}

TEST(FlightRecords, AnotherCallIsAMismatchOfThatRank) {
  RecordedRanks ranks(4, {});
  ranks.run([&](Communicator& comm) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (!step(comm, i)) return;
    }
    std::vector<std::byte> shard(512), full(2048);
    const std::size_t size = comm.rank() == 2 ? 512 : 256;
    EXPECT_FALSE(
        comm.wait(comm.all_gather(shard.data(), full.data(), size, {Purpose::weights, 0})));
  });
  const FlightAnalysis analysis = analyze_flight(ranks.dumps(), {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts[0].kind, FlightVerdictKind::mismatch);
  EXPECT_EQ(analysis.verdicts[0].culprits, std::vector<std::int32_t>{2});
}

TEST(FlightRecords, TwoRanksThatDifferAccuseNobody) {
  RecordedRanks ranks(2, {});
  ranks.run([&](Communicator& comm) {
    if (!step(comm, 0)) return;
    EXPECT_FALSE(comm.barrier({comm.rank() == 0 ? Purpose::save : Purpose::loss, 0}) &&
                 comm.sum(1, {Purpose::norm, 0}));
  });
  const FlightAnalysis analysis = analyze_flight(ranks.dumps(), {});
  for (const FlightVerdict& verdict : analysis.verdicts) {
    EXPECT_TRUE(verdict.culprits.empty() || verdict.confidence == Confidence::low)
        << verdict.summary;
  }
}

TEST(FlightRecords, AHealthyRunAccusesNobody) {
  RecordedRanks ranks(4, {});
  ranks.run([&](Communicator& comm) {
    auto saves = comm.split(0, "saves");
    ASSERT_TRUE(saves);
    for (std::uint64_t i = 0; i < 2100; ++i) {  // eight calls each: the ring turns over
      ASSERT_TRUE(step(comm, i));
      if (i % 100 == 0) {
        ASSERT_TRUE((*saves)->barrier({Purpose::save, 0}));
      }
    }
  });
  const FlightAnalysis analysis = analyze_flight(ranks.dumps(), {});
  for (const FlightVerdict& verdict : analysis.verdicts) {
    EXPECT_TRUE(verdict.culprits.empty() || verdict.confidence == Confidence::low)
        << verdict.summary;
  }
  EXPECT_EQ(analysis.coverage.wrapped, 4u);
}

TEST(FlightRecords, AWaitInWhichARankDoesNotComeNamesIt) {
  train::CommOptions options;
  options.deadline = seconds_to_duration(0.3);
  RecordedRanks ranks(4, options);
  ranks.run([&](Communicator& comm) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (!step(comm, i)) return;
    }
    if (comm.rank() != 1) {
      EXPECT_FALSE(step(comm, 3));
    }
  });
  const FlightAnalysis analysis = analyze_flight(ranks.dumps(), {});
  ASSERT_FALSE(analysis.verdicts.empty());
  EXPECT_EQ(analysis.verdicts[0].kind, FlightVerdictKind::behind);
  EXPECT_EQ(analysis.verdicts[0].culprits, std::vector<std::int32_t>{1});
}

TEST(FlightRecords, AFileHoldsWhatTheMemoryHolds) {
  const std::string path = testing::TempDir() + "/rank-0.flight";
  {
    auto recorder = FlightRecorder::create(path, {.run = "r", .host = "h", .rank = 0, .world = 1});
    ASSERT_TRUE(recorder);
    const std::vector<int> all = {0};
    const auto group = (*recorder)->add_group("world", all);
    const auto place = (*recorder)->post(group, 1, train::CollectiveOp::barrier, {Purpose::save, 0},
                                         0, train::Dtype::f32);
    (*recorder)->started(place);
    std::ifstream file(path, std::ios::binary);  // while it is mapped
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes, (*recorder)->bytes());
  }
  std::remove(path.c_str());
  EXPECT_FALSE(FlightRecorder::create("/no/such/folder/rank-0.flight", {}));
}

}  // namespace
}  // namespace muster
