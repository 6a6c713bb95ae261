#include "app/folded_clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "app/zoned_progress.h"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kStart = wall_from_ns(1'780'000'000'000'000'000);

TEST(FoldedClock, CountsOnWhereAnHourComesTwice) {
  struct Row {
    const char* name;
    std::vector<Duration> shown;
    bool same;
    std::vector<Duration> want;
  };
  const Row rows[] = {
      {"in order", {0s, 1s, 2s}, true, {0s, 1s, 2s}},
      {"a row that is late", {0s, 9s, 8s, 10s}, true, {0s, 9s, 8s, 10s}},
      {"set back five minutes", {0s, 600s, 300s}, true, {0s, 600s, 300s}},
      {"set back a day", {24h, 25h, 1h}, true, {24h, 25h, 1h}},
      {"an hour, of another series", {0s, 3600s, 0s, 1s}, false, {0s, 3600s, 0s, 1s}},
      {"an hour", {0s, 3599s, 0s, 1s, 2s}, true, {0s, 3599s, 3600s, 3601s, 3602s}},
      {"an hour, 14 min after the newest", {3600s, 899s}, true, {3600s, 4499s}},
      {"an hour, 15 min after the newest", {3600s, 901s}, true, {3600s, 901s}},
      {"and the next day", {3599s, 0s, 25h}, true, {3599s, 3600s, 25h}},
      {"a zone with rules", {3599s, 0s, 3599s, 7200s}, true, {3599s, 3600s, 7199s, 7200s}},
  };
  for (const Row& row : rows) {
    FoldedClock clock;
    std::vector<Duration> got;
    for (const Duration at : row.shown) got.push_back(clock.on(kStart + at, row.same) - kStart);
    EXPECT_EQ(got, row.want) << row.name;
  }
}

class Times final : public ProgressSink {
 public:
  void step(const StepRecord& record) override { seen.push_back(*record.at - kStart); }
  void event(const ProgressEvent& event) override { seen.push_back(*event.at - kStart); }
  std::vector<Duration> seen;
};

TEST(FoldedClock, OfALogIsToldByItsSteps) {
  struct Row {
    const char* name;
    std::vector<std::pair<int, Duration>> steps;
    bool has_zone, has_date;
    std::vector<Duration> want;
  };
  const Row rows[] = {
      {"steps go on", {{7, 3599s}, {8, 0s}, {9, 9s}}, false, true, {3599s, 3600s, 3609s}},
      {"the log of the next rank", {{7, 3599s}, {1, 0s}}, false, true, {3599s, 0s}},
      {"times with a zone", {{7, 3599s}, {8, 0s}}, true, true, {3599s, 0s}},
      {"a clock without a date", {{7, 3599s}, {8, 0s}}, false, false, {3599s, 0s}},
  };
  for (const Row& row : rows) {
    Times times;
    LogClockState clock;
    for (const auto& [step, at] : row.steps) {
      ZonedProgress sink(times, nullptr, clock);  // a piece of the log each
      StepRecord record;
      record.step = step;
      record.at = kStart + at;
      record.at_has_zone = row.has_zone;
      record.at_has_date = row.has_date;
      sink.step(record);
    }
    EXPECT_EQ(times.seen, row.want) << row.name;
  }
}

}  // namespace
}  // namespace muster
