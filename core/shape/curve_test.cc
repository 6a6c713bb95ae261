#include "core/shape/curve.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include <cmath>

namespace muster::shape {
namespace {

StepRecord at(std::int64_t step, double second, std::optional<double> tps = {}) {
  StepRecord record;
  record.step = step;
  record.at = WallTime(seconds_to_duration(second));
  record.tokens_per_s = tps;
  return record;
}
StepRecord timed(std::int64_t step, double step_s, std::optional<int> rank = {}) {
  StepRecord record;
  record.step = step;
  record.step_s = step_s;
  record.rank = rank;
  return record;
}
ProgressEvent event(ProgressKind kind) {
  ProgressEvent e;
  e.kind = kind;
  e.text = "text";
  return e;
}

TEST(Curve, OfNothing) {
  CurveBuilder builder;
  const Curve curve = builder.finish("x");
  EXPECT_TRUE(curve.points.empty());
  EXPECT_EQ(curve.measure, Measure::none);
}

TEST(Curve, StepsAloneTellNoSpeed) {
  CurveBuilder builder;
  StepRecord record;
  for (record.step = 0; record.step < 10; ++record.step) builder.step(record);
  EXPECT_EQ(builder.finish("x").measure, Measure::none);
}

TEST(Curve, PrintedTimesGoBeforeAllElse) {
  CurveBuilder builder;
  for (int i = 0; i < 10; ++i) {
    StepRecord record = at(i, i * 5.0, 53000 + i);
    record.step_s = 4.9;
    builder.step(record);
  }
  const Curve curve = builder.finish("x");
  EXPECT_EQ(curve.measure, Measure::step_time);
  EXPECT_EQ(*curve.typical_step_s, 5) << "by the clocks";
  EXPECT_EQ(curve.stamp_resolution_s, 1);
  EXPECT_EQ(curve.points.back().at_s, 45);
}

TEST(Curve, ARateGoesBeforeACoarseClock) {
  CurveBuilder builder;
  for (int i = 0; i < 10; ++i) builder.step(at(i, i * 5.0, 53000));
  EXPECT_EQ(builder.finish("x").measure, Measure::throughput);
}

TEST(Curve, ClocksOverStridesOfTen) {
  CurveBuilder builder;
  for (int i = 0; i < 10; ++i) builder.step(at(i * 10, i * 50.125));
  const Curve curve = builder.finish("x");
  EXPECT_EQ(curve.measure, Measure::stamps);
  EXPECT_TRUE(std::isnan(curve.points[0].step_s));
  EXPECT_NEAR(curve.points[1].step_s, 5.0125, 1e-9);
  EXPECT_EQ(curve.points[1].steps, 10);
}

TEST(Curve, AClockThatGoesBackTellsNothing) {
  CurveBuilder builder;
  for (const double second : {10.5, 12.5, 7.5, 9.5}) {
    builder.step(at(static_cast<std::int64_t>(second * 2) + (second < 10 ? 100 : 0), second));
  }
  const Curve curve = builder.finish("x");
  EXPECT_TRUE(std::isnan(curve.points[2].interval_s));
  EXPECT_EQ(curve.points[3].interval_s, 2);
}

TEST(Curve, MidnightOfABareClock) {
  CurveBuilder builder;
  for (const auto& [step, second] : {std::pair{1, 86390.0}, {2, 86395.0}, {3, 0.0}, {4, 5.0}}) {
    StepRecord record = at(step, second);
    record.at_has_date = false;
    builder.step(record);
  }
  const Curve curve = builder.finish("x");
  EXPECT_EQ(curve.points[2].interval_s, 5);
}

TEST(Curve, LinesOfOneStepAreOnePoint) {
  CurveBuilder builder;
  builder.step(timed(1, 5, 0));
  builder.step(timed(1, 7, 3));
  builder.step(timed(1, 6, 2));
  builder.step(timed(2, 5, 0));
  builder.step(timed(1, 5, 9));  // late, no restart
  builder.step(timed(2, 5, 1));
  const Curve curve = builder.finish("x");
  ASSERT_EQ(curve.points.size(), 2u);
  EXPECT_EQ(curve.points[0].step_s, 7);
  EXPECT_EQ(curve.points[0].rank, 3);
  EXPECT_EQ(curve.attempts, 1u);
}

TEST(Curve, Restarts) {
  CurveBuilder builder;
  builder.event(event(ProgressKind::restarted));  // of a run before: no attempt of this log
  for (int i = 0; i < 20; ++i) builder.step(timed(i, 5));
  builder.step(timed(10, 5));  // back to a checkpoint
  for (int i = 11; i < 30; ++i) builder.step(timed(i, 5));
  builder.event(event(ProgressKind::restarted));
  for (int i = 30; i < 40; ++i) builder.step(timed(i, 5));
  const Curve curve = builder.finish("x", {35, 10, 99});
  EXPECT_EQ(curve.attempts, 5u) << "one by the steps, one by the log, two by notes (35, first 10)";
  EXPECT_EQ(curve.points[20].attempt, 2u);
}

// Ten minutes where every point was held against every restart.
TEST(Curve, ManyRestartsOfNotesCostNoTime) {
  CurveBuilder builder;
  for (int i = 0; i < 200'000; ++i) builder.step(timed(i, 5));
  std::set<std::int64_t> far;
  for (int i = 0; i < 60'000; ++i) far.insert(300'000 + i);
  far.insert(777);
  const auto begin = std::chrono::steady_clock::now();
  const Curve curve = builder.finish("x", far);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(curve.attempts, 2u);
  EXPECT_EQ(curve.points[777].attempt, 1u);
  EXPECT_EQ(curve.points[776].attempt, 0u);
}

TEST(Curve, AttemptsWithLogsOfTheirOwn) {
  const auto log = [](int from, int end) {
    CurveBuilder builder;
    for (int i = from; i < end; ++i) builder.step(timed(i, 5));
    return builder;
  };
  CurveBuilder first = log(0, 100);
  EXPECT_FALSE(first.continued_by(log(0, 100))) << "another rank";
  EXPECT_FALSE(first.continued_by(log(0, 300))) << "begun anew";
  EXPECT_FALSE(first.continued_by(log(50, 90)));
  EXPECT_FALSE(first.continued_by(log(5000, 6000))) << "another run";
  EXPECT_FALSE(first.continued_by({}));
  EXPECT_FALSE(CurveBuilder().continued_by(first));
  CurveBuilder second = log(80, 200);
  ASSERT_TRUE(first.continued_by(second));
  first.append(std::move(second));
  const Curve curve = first.finish("x");
  EXPECT_EQ(curve.points.size(), 220u);
  EXPECT_EQ(curve.attempts, 2u);
  EXPECT_EQ(curve.points[100].after, ProgressKind::restarted);
}

TEST(Curve, WhatStandsBetweenSteps) {
  CurveBuilder builder;
  builder.step(timed(1, 5));
  builder.event(event(ProgressKind::epoch_end));
  builder.event(event(ProgressKind::save_begin));
  builder.event(event(ProgressKind::save_end));
  builder.event(event(ProgressKind::save_known));  // of earlier
  builder.step(timed(2, 5));
  builder.step(timed(3, 5));
  builder.event(event(ProgressKind::finished));
  const Curve curve = builder.finish("x");
  EXPECT_EQ(curve.points[1].after, ProgressKind::save_begin);
  EXPECT_FALSE(curve.points[2].after);
  EXPECT_TRUE(curve.finished);
}

}  // namespace
}  // namespace muster::shape
