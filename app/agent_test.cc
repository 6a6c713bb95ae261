#include "app/agent.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/shell.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ends the run after so many sleeps.
class ManualClock final : public Clock {
 public:
  MonoTime mono() const override { return now; }
  WallTime wall() const override { return WallTime(now.time_since_epoch()); }
  bool sleep_until(MonoTime until, std::stop_token) override {
    now = std::max(now, until);
    return --sleeps > 0;
  }
  MonoTime now{seconds(1000)};
  int sleeps = 1;
};

class Script final : public TelemetrySource {
 public:
  explicit Script(ManualClock& clock) : clock_(clock) {}
  std::string name() const override { return "script"; }
  Status read(MonoTime, TelemetrySink& sink) override {
    starts.push_back(clock_.now);
    clock_.now += costs;
    if (fails) return make_error(Errc::timeout, "nobody answered");
    const MetricReading good[] = {{Metric::power_w, Reading::of(600)}};
    const MetricReading lost[] = {{Metric::power_w, Reading::absent(Absence::timeout)}};
    TelemetryRow row;
    row.key.index = 0;
    row.key.uuid = "GPU-\"a\n";
    row.readings = absent ? lost : good;
    sink.row(row);
    if (absent) sink.note({NoteKind::reader_stuck, "GPU 0 does not answer", 0, {}, {}});
    return {};
  }
  bool fails = false, absent = false;
  Duration costs{};
  std::vector<MonoTime> starts;

 private:
  ManualClock& clock_;
};

struct Bench {
  ManualClock clock;
  Script source{clock};
  AgentPages pages{clock, seconds(1), [] { return SelfUsage{1.5, 4096}; }};
  std::vector<std::string> reports;
  void run(int ticks, History* history = nullptr) {
    clock.sleeps = ticks;
    AgentOptions options;
    options.history = history;
    options.report = [this](std::string_view text) { reports.emplace_back(text); };
    run_agent(options, source, clock, pages, {});
  }
  bool says(std::string_view text) const {
    return pages.answer("/metrics").body.find(text) != std::string::npos;
  }
};

TEST(Agent, NoSampleIsNotHealthy) {
  const Bench b;
  EXPECT_EQ(b.pages.answer("/healthz").status, 503);
  EXPECT_EQ(b.pages.answer("/metrics").status, 200);
  EXPECT_EQ(b.pages.answer("/").status, 404);
  EXPECT_EQ(b.pages.answer("/healthz/../metrics").status, 404);
}

TEST(Agent, HealthEndsAfterThreeIntervalsAndOldValuesGo) {
  Bench b;
  b.run(1);  // read at 1000 s, now 1001 s
  b.clock.now += seconds(2);
  EXPECT_EQ(b.pages.answer("/healthz").status, 200);
  EXPECT_TRUE(b.says("muster_gpu_power_watts{"));
  EXPECT_TRUE(b.says("muster_agent_sample_age_seconds{gpu=\"0\",uuid=\"GPU-\\\"a\\\\n\"} 3.000\n"));
  b.clock.now += milliseconds(1);
  EXPECT_EQ(b.pages.answer("/healthz").status, 503);
  EXPECT_FALSE(b.says("muster_gpu_power_watts{"));
  EXPECT_TRUE(b.says("} 3.001\n"));
  EXPECT_TRUE(b.says("muster_agent_cpu_seconds_total 1.5"));
  EXPECT_TRUE(b.says("muster_agent_resident_bytes 4096\n"));
}

TEST(Agent, AStuckReaderShowsAndIsNoFreshSample) {
  Bench b;
  b.run(1);
  b.source.absent = true;
  b.run(5);
  EXPECT_TRUE(b.says("muster_agent_reader_stuck 1\n"));
  EXPECT_TRUE(b.says("muster_absent{"));
  EXPECT_EQ(b.pages.answer("/healthz").status, 503);
  EXPECT_EQ(b.reports, std::vector<std::string>{"GPU 0 does not answer"});
  b.source.absent = false;
  b.run(1);
  EXPECT_TRUE(b.says("muster_agent_reader_stuck 0\n"));
  EXPECT_EQ(b.pages.answer("/healthz").status, 200);
}

TEST(Agent, AFailingSourceIsSaidOnceAndTheLoopGoesOn) {
  Bench b;
  b.source.fails = true;
  b.run(4);
  EXPECT_EQ(b.source.starts.size(), 4U);
  EXPECT_EQ(b.reports, std::vector<std::string>{"script: nobody answered"});
}

// Ten minutes are kept over any number of lives, and the file does not grow with them.
TEST(Agent, KeepsTheBoundOfItsHistoryWhenItStartsAgain) {
  struct Count final : TelemetrySink {
    void row(const TelemetryRow& row) override {
      ++rows;
      oldest = std::min(oldest, *row.at);
    }
    void note(const TelemetryNote&) override {}
    int rows = 0;
    WallTime oldest = WallTime::max();
  };
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() + "/h.db";
  Bench b;
  std::size_t bytes = 0;
  for (int life = 0; life < 4; ++life) {
    auto history = History::open({path, std::chrono::minutes(10)});
    ASSERT_TRUE(history) << history.error().context;
    b.run(1500, history->get());
    Count count;
    ASSERT_TRUE((*history)->read({}, WallTime::max(), count));
    EXPECT_GE(count.rows, 600) << life;
    EXPECT_LE(count.rows, 607) << life;
    EXPECT_GE(count.oldest, b.clock.wall() - std::chrono::minutes(10) - seconds(7)) << life;
    history->reset();
    const std::size_t now = testing_support::file_text(path).size();
    if (life > 1) {
      EXPECT_LE(now, bytes + 16384) << life;
    }
    bytes = now;
  }
  EXPECT_TRUE(b.reports.empty());
}

TEST(Agent, LateTicksAreSkipped) {
  Bench b;
  b.source.costs = milliseconds(2500);
  b.run(3);
  ASSERT_EQ(b.source.starts.size(), 3U);
  EXPECT_EQ(b.source.starts[2] - b.source.starts[0], seconds(5));
}

}  // namespace
}  // namespace muster
