#include "core/telemetry/calibration.h"

#include <gtest/gtest.h>

#include "tests/support/simulated_run.h"

namespace muster {
namespace {

Calibration learned(std::uint64_t seed, double save_s) {
  TriageOptions options;
  options.learn = true;
  Triage triage(options);
  SimulatedRun run({.seed = seed}, triage);
  run.compute(300);
  run.save(save_s);
  run.compute(300);
  run.log_step(1, 9);
  run.compute(40);
  run.log_step(2, 9);
  auto c = triage.calibrate("run");
  EXPECT_TRUE(c.has_value());
  return c.value_or(Calibration{});
}

TEST(Calibrate, LearnsBandsAndTheLongestWait) {
  const Calibration c = learned(1, 118);
  ASSERT_EQ(c.bands.size(), 1u);
  const CalibratedBands& b = c.bands[0];
  EXPECT_EQ(b.model, "NVIDIA B300 SXM6 AC");
  EXPECT_NEAR(b.compute_w, 985, 10);
  EXPECT_GT(b.wait_max_w, 199);  // 193 W + 3 %
  EXPECT_LT(b.wait_max_w, 300);
  EXPECT_GT(b.compute_min_w, 640) << "communication is not compute";
  EXPECT_LT(b.spread_ratio, 0.02);
  ASSERT_TRUE(c.longest_wait.has_value());
  EXPECT_NEAR(duration_to_seconds(*c.longest_wait), 118, 2);
  EXPECT_EQ(c.longest_quiet, std::chrono::seconds(40));
  EXPECT_EQ(c.series, 16);
  EXPECT_NEAR(*c.period_s, 1, 0.01);
}

TEST(Calibrate, RefusesWhatHasNoWorkInIt) {
  Triage empty({});
  EXPECT_FALSE(empty.calibrate("x").has_value());
  Triage idle({});
  SimulatedRun run({}, idle);
  run.all(60, 135, 0);
  EXPECT_FALSE(idle.calibrate("x").has_value());
}

TEST(MergeCalibrations, CoversBoth) {
  const Calibration a = learned(1, 60), b = learned(2, 118);
  const Calibration both = merge_calibrations(a, b);
  EXPECT_EQ(both.longest_wait, b.longest_wait);
  EXPECT_EQ(both.bands[0].wait_max_w, std::max(a.bands[0].wait_max_w, b.bands[0].wait_max_w));
  EXPECT_EQ(both.bands[0].samples, a.bands[0].samples + b.bands[0].samples);
  EXPECT_EQ(merge_calibrations(a, a).bands[0].wait_max_w, a.bands[0].wait_max_w);
}

TEST(CompareCalibrations, SaysWhatChanged) {
  Calibration a = learned(1, 60);
  EXPECT_TRUE(compare_calibrations(a, a).empty());
  Calibration b = a;
  b.bands[0].compute_w *= 0.9;
  b.longest_wait.reset();
  const auto lines = compare_calibrations(a, b);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("not known"), std::string::npos);
  EXPECT_NE(lines[1].find("compute"), std::string::npos);
}

TEST(CompareCalibrations, HoldsEqualLimitsAgainstEachOther) {
  Calibration a = learned(1, 60);
  a.bands.push_back(a.bands[0]);
  a.bands[1].limit_w = 700;
  a.bands[1].compute_w = 640;
  EXPECT_TRUE(compare_calibrations(a, a).empty());
}

TEST(EncodeCalibration, QuotesWhatComesFromOutside) {
  Calibration c;
  c.source = "a\"b\\c\n";
  EXPECT_NE(encode_calibration(c).find(R"(source = "a\"b\\c\u000a")"), std::string::npos);
}

}  // namespace
}  // namespace muster
