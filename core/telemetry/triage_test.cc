#include "core/telemetry/triage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/simulated_run.h"

namespace muster {
namespace {

const Finding* find(const Report& report, Cause cause) {
  for (const Finding& f : report.findings) {
    if (f.cause == cause) return &f;
  }
  return nullptr;
}

bool alarms(const Report& report) {
  for (const Finding& f : report.findings) {
    if (f.severity == Severity::critical) return true;
  }
  return false;
}

std::string answer(const Report& report) {
  if (report.findings.empty()) return "healthy";
  const Finding& f = report.findings[0];
  std::string out = std::string(severity_name(f.severity)) + " " +
                    std::string(confidence_name(f.confidence)) + " " +
                    std::string(cause_name(f.cause));
  for (const Culprit& c : f.culprits) {
    out += " " + std::string(culprit_kind_name(c.kind)) + ":" + c.id;
  }
  return out;
}

// The run of one row: what is played, and the first line of the answer.
struct Row {
  const char* name;
  SimulatedRun::Options options;
  std::function<void(SimulatedRun&)> play;
  const char* want;
};

const Row kRows[] = {
    {"compute only", {}, [](auto& r) { r.compute(300); }, "healthy"},
    {"a save that ended",
     {},
     [](auto& r) { r.compute(300), r.save(118), r.compute(60); },
     "ok high checkpoint_in_progress"},
    {"a save in progress",
     {},
     [](auto& r) { r.compute(300), r.save(100); },
     "ok medium checkpoint_in_progress"},
    {"rank 3 apart, not for long",
     {},
     [](auto& r) { r.compute(300), r.apart(60, 3); },
     "info medium undetermined"},
    {"rank 3 apart",
     {},
     [](auto& r) { r.compute(300), r.apart(130, 3); },
     "critical low collective_hang rank:3"},
    {"rank 3 apart for ten minutes",
     {},
     [](auto& r) { r.compute(300), r.apart(610, 3); },
     "critical medium collective_hang rank:3"},
    {"rank 3 apart, no rank told",
     {.tell_rank = false},
     [](auto& r) { r.compute(300), r.apart(130, 11); },
     "critical low collective_hang gpu:n2/3"},
    {"rank 3 apart, model and limit unknown",
     {.model = "", .tell_limit = false},
     [](auto& r) { r.compute(300), r.apart(130, 3); },
     "critical low collective_hang rank:3"},
    {"apart after a longer save: 1.5 x 118 + 30 s",
     {},
     [](auto& r) { r.compute(300), r.save(118), r.compute(60), r.apart(200, 3); },
     "info medium undetermined"},
    {"apart beyond that",
     {},
     [](auto& r) { r.compute(300), r.save(118), r.compute(60), r.apart(215, 3); },
     "critical medium collective_hang rank:3"},
    {"one busy sample resets",
     {},
     [](auto& r) { r.compute(300), r.apart(100, 3), r.compute(1), r.apart(100, 3); },
     "info medium undetermined"},
    {"all spin",
     {},
     [](auto& r) { r.compute(300), r.all(130, 192, 100); },
     "critical low collective_hang unknown:"},
    {"rank 0 apart for eleven minutes, no save known",
     {},
     [](auto& r) { r.compute(300), r.save(660); },
     "critical low collective_hang rank:0"},
    {"starting, or the sampler started in the hang",
     {},
     [](auto& r) { r.apart(320, 3); },
     "info medium undetermined"},
    {"the sampler started in a long hang",
     {},
     [](auto& r) { r.apart(1900, 3); },
     "critical medium collective_hang rank:3"},
    {"the job ended, one GPU still spins",
     {},
     [](auto& r) {
       r.compute(300);
       r.play(300,
              [](int k) { return SimulatedRun::Gpu{k == 5 ? 190.0 : 135.0, k == 5 ? 100.0 : 0}; });
     },
     "info medium gpus_idle"},
    {"half of the GPUs are not used",
     {},
     [](auto& r) {
       r.play(300, [](int k) {
         return k % 2 ? SimulatedRun::Gpu{135, 0} : SimulatedRun::Gpu{985, 100};
       });
     },
     "healthy"},
    {"steps go on at low power",
     {},
     [](auto& r) {
       r.compute(300), r.log_step(10, 100), r.apart(70, 3), r.log_step(11, 100), r.apart(70, 3);
     },
     "healthy"},
    {"the step log stands still",
     {},
     [](auto& r) { r.compute(300), r.log_step(3850, 3857), r.apart(200, 3); },
     "critical high collective_hang rank:3"},
    {"power alone at the floor",
     {.tell_util = false},
     [](auto& r) { r.compute(300), r.all(200, 193, 0); },
     "warning low undetermined unknown:"},
    {"power alone at the floor, the log is complete",
     {.tell_util = false},
     [](auto& r) { r.compute(300), r.log_event(ProgressKind::finished), r.all(200, 193, 0); },
     "info medium gpus_idle"},
    {"one apart, though the log is complete",
     {},
     [](auto& r) { r.compute(300), r.log_event(ProgressKind::finished), r.apart(130, 3); },
     "info low undetermined"},
    {"one apart for long, though the log is complete",
     {},
     [](auto& r) { r.compute(300), r.log_event(ProgressKind::finished), r.apart(1810, 3); },
     "critical medium collective_hang rank:3"},
    {"a last save after the log is complete",
     {},
     [](auto& r) {
       r.compute(300), r.save(90), r.compute(300), r.log_event(ProgressKind::finished), r.save(235);
     },
     "info low checkpoint_in_progress"},
    {"the last step is told after the end",
     {},
     [](auto& r) {
       r.log_step(1, 99), r.compute(300), r.log_event(ProgressKind::finished), r.log_step(2, 99);
       r.apart(130, 3);
     },
     "info low undetermined"},
    {"another run in the log of one that ended",
     {},
     [](auto& r) {
       r.log_step(1, 99), r.compute(300), r.log_event(ProgressKind::finished), r.log_step(1, 99);
       for (int i = 2; i < 9; ++i) r.compute(20), r.log_step(i, 99);
       r.apart(310, 3);
     },
     "critical high collective_hang rank:3"},
    {"a last save at the target step",
     {},
     [](auto& r) {
       r.compute(300), r.save(90), r.log_step(98, 99), r.compute(300), r.log_step(99, 99);
       r.save(235);
     },
     "info low checkpoint_in_progress"},
    {"rank 0 apart and the log frozen short of the target",
     {},
     [](auto& r) {
       r.compute(300), r.log_event(ProgressKind::save_begin), r.save(90);
       r.log_event(ProgressKind::save_end);
       for (int step = 90; step < 99; ++step) r.compute(20), r.log_step(step, 99);
       r.save(235);
     },
     "critical high collective_hang rank:0"},
    {"the same in a log that tells no saves",
     {},
     [](auto& r) { r.compute(300), r.save(90), r.compute(300), r.log_step(98, 99), r.save(235); },
     "critical low collective_hang rank:0"},
    {"the same for ten minutes",
     {},
     [](auto& r) { r.compute(300), r.save(90), r.compute(300), r.log_step(98, 99), r.save(605); },
     "critical high collective_hang rank:0"},
    {"a save four times as long as the one before",
     {},
     [](auto& r) { r.compute(300), r.save(60), r.compute(300), r.save(240); },
     "critical low collective_hang rank:0"},
    {"a first save of six minutes, or a hang",
     {},
     [](auto& r) { r.compute(300), r.save(360); },
     "warning low undetermined"},
    {"rank 0 loads again after a crash, no log",
     {},
     [](auto& r) { r.compute(300), r.save(60), r.compute(60), r.all(60, 135, 0), r.save(280); },
     "info medium undetermined"},
    {"rank 0 loads again after a crash for long, no log",
     {},
     [](auto& r) { r.compute(300), r.save(60), r.compute(60), r.all(60, 135, 0), r.save(400); },
     "warning low undetermined"},
    {"all ranks save, the log tells it, then rank 5 is apart",
     {},
     [](auto& r) {
       r.compute(300);
       for (int step = 1; step < 9; ++step) r.compute(20), r.log_step(step, 99);
       r.log_event(ProgressKind::save_begin), r.all(60, 135, 0);
       r.log_event(ProgressKind::save_end), r.apart(200, 5);
     },
     "critical high collective_hang rank:5"},
    {"rank 5 loads again after a crash, and does not end",
     {},
     [](auto& r) { r.compute(300), r.save(60), r.compute(60), r.all(60, 135, 0), r.apart(700, 5); },
     "critical low collective_hang rank:5"},
    {"rank 5 loads again after a crash, the log is silent",
     {},
     [](auto& r) { r.compute(300), r.log_step(5, 99), r.all(60, 135, 0), r.apart(400, 5); },
     "warning low undetermined"},
    {"rank 3 is often apart, now for longer",
     {},
     [](auto& r) {
       for (int i = 0; i < 3; ++i) r.compute(200), r.apart(100, 3);
       r.compute(200), r.apart(300, 3);
     },
     "critical low collective_hang rank:3"},
    {"rank 3 is often apart, now rank 4",
     {},
     [](auto& r) {
       for (int i = 0; i < 3; ++i) r.compute(200), r.apart(100, 3);
       r.compute(200), r.apart(300, 4);
     },
     "critical medium collective_hang rank:4"},
    {"all spin for longer than ever, rank 0 may save elsewhere",
     {},
     [](auto& r) { r.compute(300), r.all(90, 192, 100), r.compute(60), r.all(300, 192, 100); },
     "critical low collective_hang unknown:"},
    {"all spin, and the log has never told a save",
     {},
     [](auto& r) { r.compute(300), r.log_step(5, 99), r.all(300, 192, 100); },
     "critical low collective_hang unknown:"},
    {"rank 3 is often apart, now for longer, and the log is silent",
     {},
     [](auto& r) {
       for (int i = 0; i < 3; ++i) {
         for (int step = 1; step < 9; ++step) r.compute(20), r.log_step(i * 9 + step, 99);
         r.apart(100, 3);
       }
       r.compute(20), r.log_step(90, 99), r.apart(300, 3);
     },
     "critical low collective_hang rank:3"},
    {"all spin for longer than the saves, which look otherwise",
     {},
     [](auto& r) { r.compute(300), r.save(90), r.compute(60), r.all(300, 192, 100); },
     "critical medium collective_hang unknown:"},
    {"a small model trains just above the floor",
     {},
     [](auto& r) {
       for (int i = 0; i < 9; ++i) r.all(20, 345, 97), r.all(50, 320, 97);
       r.all(300, 315, 97);
     },
     "critical low collective_hang unknown:"},
    {"a small model trains at the floor, seen from its start",
     {},
     [](auto& r) { r.all(2400, 250, 97); },
     "critical low collective_hang unknown:"},
    {"a clock that jumps an hour in a save",
     {},
     [](auto& r) {
       r.compute(300), r.log_step(5, 99), r.log_event(ProgressKind::save_begin), r.save(30);
       r.wait(std::chrono::hours(1)), r.save(30);
     },
     "ok high checkpoint_in_progress"},
    {"four looks, hours apart",
     {},
     [](auto& r) {
       r.compute(1), r.log_step(5, 99), r.wait(std::chrono::minutes(6)), r.apart(1, 3);
       r.wait(std::chrono::hours(1)), r.apart(1, 3), r.wait(std::chrono::hours(2)), r.apart(1, 3);
     },
     "critical high collective_hang rank:3"},
    {"a hang beyond a hole of the sampler",
     {},
     [](auto& r) {
       r.compute(300), r.log_step(5, 99), r.apart(60, 3), r.wait(std::chrono::minutes(10));
       r.apart(180, 3);
     },
     "critical high collective_hang rank:3"},
    {"rank 0 loads after a restart",
     {},
     [](auto& r) {
       r.log_step(98, 999), r.compute(300), r.save(90), r.log_step(99, 999), r.all(60, 135, 0);
       r.log_event(ProgressKind::restarted), r.save(270);
     },
     "info medium compile_warmup"},
    {"a rank apart long after a restart",
     {},
     [](auto& r) {
       r.log_step(98, 999), r.compute(300), r.save(90), r.log_step(99, 999), r.all(60, 135, 0);
       r.log_event(ProgressKind::restarted), r.apart(1810, 3);
     },
     "critical medium collective_hang rank:3"},
    {"steps after a restart, then a rank apart",
     {},
     [](auto& r) {
       r.log_event(ProgressKind::restarted), r.compute(300), r.log_step(99, 999), r.apart(130, 3);
     },
     "critical high collective_hang rank:3"},
    {"a log five hours ahead, a rank apart",
     {.log_ahead = std::chrono::hours(5)},
     [](auto& r) {
       for (int i = 0; i < 30; ++i) r.compute(10), r.log_step(i, 999);
       r.apart(700, 3);
     },
     "critical medium collective_hang rank:3"},
    {"a log five hours behind, a rank apart",
     {.log_ahead = std::chrono::hours(-5)},
     [](auto& r) {
       for (int i = 0; i < 30; ++i) r.compute(10), r.log_step(i, 999);
       r.apart(700, 3);
     },
     "critical medium collective_hang rank:3"},
    {"a log three minutes ahead, a rank apart",
     {.log_ahead = std::chrono::minutes(3)},
     [](auto& r) {
       for (int i = 0; i < 30; ++i) r.compute(10), r.log_step(i, 999);
       r.apart(700, 3);
     },
     "critical high collective_hang rank:3"},
    {"rank 0 apart for a moment, the log shows no save",
     {},
     [](auto& r) { r.compute(300), r.log_step(5, 99), r.save(40); },
     "ok medium checkpoint_in_progress"},
    {"rank 0 apart for minutes, the log shows no save",
     {},
     [](auto& r) { r.compute(300), r.log_step(5, 99), r.save(200); },
     "warning low undetermined"},
    {"rank 0 apart at the start, the log shows no save",
     {},
     [](auto& r) { r.log_event(ProgressKind::epoch_end), r.save(1500); },
     "info low undetermined"},
    {"rank 0 apart for half an hour, the log shows no save",
     {},
     [](auto& r) { r.log_event(ProgressKind::epoch_end), r.save(1810); },
     "critical medium collective_hang rank:0"},
    {"the step log stands still, and did so before for as long",
     {},
     [](auto& r) {
       r.log_step(1, 99), r.compute(300), r.log_step(2, 99), r.compute(20), r.apart(130, 3);
     },
     "critical low collective_hang rank:3"},
    {"starved",
     {},
     [](auto& r) {
       r.play(120, [](int k) { return SimulatedRun::Gpu{575, k % 2 == 0 ? 60.0 : 100.0}; });
     },
     "warning medium data_starvation"},
    {"one at rest, the others busy at middle power",
     {},
     [](auto& r) {
       r.compute(60);
       r.play(200, [](int k) {
         return SimulatedRun::Gpu{k == 5 ? 190.0 : 400.0, k == 5 ? 0.0 : 100.0};
       });
     },
     "warning low undetermined"},
    {"a hard cap: spinning draws what work does",
     {.limit_w = 250},
     [](auto& r) { r.all(300, 240, 100), r.apart(200, 3); },
     "warning low undetermined"},
    {"a hard cap, and the log stands still",
     {.limit_w = 250},
     [](auto& r) {
       for (int step = 0; step < 30; ++step) r.all(10, 240, 100), r.log_step(step, 99);
       r.apart(700, 3);
     },
     "critical medium collective_hang rank:3"},
    {"a hard cap, the log four minutes ahead",
     {.limit_w = 250, .log_ahead = std::chrono::minutes(4)},
     [](auto& r) {
       for (int step = 0; step < 30; ++step) r.all(10, 240, 100), r.log_step(step, 99);
       r.apart(900, 3);
     },
     "critical medium collective_hang rank:3"},
    {"a hard cap, and the log goes on",
     {.limit_w = 250},
     [](auto& r) {
       for (int step = 0; step < 30; ++step) r.all(10, 240, 100), r.log_step(step, 99);
       for (int step = 30; step < 60; ++step) r.apart(10, 3), r.log_step(step, 99);
     },
     "healthy"},
    {"a hard cap, a save",
     {.limit_w = 250},
     [](auto& r) { r.all(300, 240, 100), r.save(200); },
     "info low undetermined"},
    {"a hard cap, a save that does not end",
     {.limit_w = 250},
     [](auto& r) { r.all(300, 240, 100), r.save(400); },
     "warning low undetermined"},
    {"one of other work has ended beside full power",
     {},
     [](auto& r) {
       r.compute(300);
       r.play(900, [](int k) {
         return SimulatedRun::Gpu{k == 5 ? 190.0 : 985.0, k == 5 ? 0.0 : 100.0};
       });
     },
     "healthy"},
    {"communication", {}, [](auto& r) { r.all(120, 640, 100); }, "info medium communication_bound"},
    {"idle", {}, [](auto& r) { r.compute(60), r.all(120, 135, 0); }, "info medium gpus_idle"},
    {"one GPU far below its peers",
     {},
     [](auto& r) {
       r.play(60, [](int k) { return SimulatedRun::Gpu{k == 5 ? 600.0 : 985.0, 100}; });
     },
     "warning low gpu_power_straggler gpu:n1/5"},
    {"one rank works, the others wait",
     {},
     [](auto& r) {
       r.compute(60);
       r.play(200, [](int k) { return SimulatedRun::Gpu{k == 0 ? 800.0 : 193.0, 100}; });
     },
     "warning medium one_rank_long_work rank:0"},
};

TEST(Triage, AnswersByScript) {
  for (const Row& row : kRows) {
    Triage triage({});
    SimulatedRun run(row.options, triage);
    row.play(run);
    EXPECT_EQ(answer(run.report()), row.want) << row.name;
  }
}

TEST(Triage, AHangIsCalledWithinItsLimitAndTwoSamples) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Triage triage({});
    SimulatedRun run({.period_s = 2, .seed = seed}, triage);
    run.compute(200);
    int waited_s = 0;
    while (!alarms(run.report()) && waited_s < 400) {
      run.apart(2, static_cast<int>(seed % 15) + 1);
      waited_s += 2;
    }
    EXPECT_LE(waited_s, 120 + 2 * 2) << seed;
    EXPECT_GE(waited_s, 120) << seed;
  }
}

TEST(Triage, ManySavesAreAFindingOfTheirOwnAndNoHang) {
  Triage triage({});
  SimulatedRun run({.period_s = 2}, triage);
  for (int i = 0; i < 12; ++i) {
    run.compute(100);
    run.save(78);
    EXPECT_FALSE(alarms(run.report()));
  }
  run.compute(20);
  const Report report = run.report();
  const Finding* f = find(report, Cause::checkpoint_dominated);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->severity, Severity::warning);
}

TEST(Triage, ASaveOfOneSampleHasNoLength) {
  Triage triage({});
  SimulatedRun run({}, triage);
  run.compute(60);
  run.save(1);
  const Report report = run.report();
  ASSERT_EQ(answer(report), "ok medium checkpoint_in_progress");
  EXPECT_TRUE(report.findings[0].summary.starts_with("save that has just begun: "))
      << report.findings[0].summary;
  run.save(2);
  EXPECT_TRUE(run.report().findings[0].summary.starts_with("save in progress for 2"));
}

// Lines without a fraction: a save that begins and ends in one second tells no length.
TEST(Triage, ASaveOfNoLengthIsNoKnownWait) {
  Triage triage({});
  SimulatedRun run({}, triage);
  run.compute(120), run.log_step(4, 99);
  run.log_event(ProgressKind::save_begin), run.log_event(ProgressKind::save_end);
  run.compute(120), run.apart(45, 2);
  const std::string summary = run.report().findings.at(0).summary;
  EXPECT_NE(summary.find("no healthy wait is known"), std::string::npos) << summary;
}

TEST(Triage, RowsWithoutATimeTellNoDuration) {
  Triage triage({});
  SimulatedRun run({}, triage);
  run.compute(60), run.apart(650, 3);
  ASSERT_TRUE(run.report().findings.at(0).since.has_value());
  triage.set_times_known(false);
  const Report report = run.report();
  ASSERT_EQ(answer(report), "warning low undetermined unknown:");
  EXPECT_FALSE(report.findings[0].since.has_value());
  EXPECT_NE(report.findings[0].summary.find("for how long is not known"), std::string::npos);
  EXPECT_TRUE(triage.view({}).segments.empty());
}

TEST(Triage, TwoSamplesRuleFiresAtOnceOnOneRankApart) {
  TriageOptions options;
  options.rule = HangRule::two_samples;
  Triage triage(options);
  SimulatedRun run({.period_s = 5}, triage);
  run.compute(60);
  run.save(120);
  EXPECT_FALSE(alarms(run.report())) << "rank 0 is a save by this rule, however long";
  run.apart(5, 3);
  EXPECT_FALSE(alarms(run.report()));
  run.apart(5, 3);
  EXPECT_TRUE(alarms(run.report()));
}

TEST(Triage, ACalibrationSetsTheLimit) {
  TriageOptions options;
  options.calibration.source = "run-a.toml";
  options.calibration.bands.push_back(
      {"NVIDIA B300 SXM6 AC", 1100.0, 140, 222, 740, 985, 0.02, 1000});
  options.calibration.longest_wait = std::chrono::seconds(300);
  Triage triage(options);
  SimulatedRun run({}, triage);
  run.compute(100);
  run.apart(470, 3);
  EXPECT_FALSE(alarms(run.report()));
  run.apart(15, 3);
  EXPECT_TRUE(alarms(run.report()));
}

// What was called a hang and went straight back to work teaches; a blip, and a restart, do not.
TEST(Triage, AFalseAlarmIsNotRaisedAgain) {
  struct EndRow {
    const char* name;
    std::function<void(SimulatedRun&)> between;  // after the first 280 s
    bool alarm;                                  // at the second
  };
  const EndRow rows[] = {
      {"work", [](auto& r) { r.compute(400); }, false},
      {"a blip", [](auto& r) { r.compute(3), r.save(5), r.compute(3); }, true},
      {"rest before the work", [](auto& r) { r.all(60, 120, 0), r.compute(400); }, true},
      {"a start in the log",
       [](auto& r) { r.log_event(ProgressKind::restarted), r.compute(400), r.log_step(1, 99); },
       true},
      {"a silence of the sampler",
       [](auto& r) { r.wait(std::chrono::seconds(90)), r.compute(400); }, true},
  };
  for (const EndRow& row : rows) {
    TriageOptions options;
    options.calibration.longest_wait = std::chrono::seconds(100);
    Triage triage(options);
    SimulatedRun run({}, triage);
    run.compute(400);
    run.save(280);
    EXPECT_TRUE(alarms(run.report())) << row.name;
    row.between(run);
    run.save(280);
    EXPECT_EQ(alarms(run.report()), row.alarm) << row.name;
  }
}

TEST(Triage, ALogOfAnotherClockIsSaid) {
  for (const int hours : {-5, 0, 5}) {
    Triage triage({});
    SimulatedRun run({.log_ahead = std::chrono::hours(hours)}, triage);
    for (int i = 0; i < 30; ++i) run.compute(10), run.log_step(i, 999);
    run.apart(200, 3);
    std::string notes;
    for (const std::string& note : run.report().notes) notes += note + "\n";
    EXPECT_EQ(notes.find("of another zone") != std::string::npos, hours != 0) << notes;
  }
}

// Steps every ten seconds for five minutes, then 1200 s at full power.
struct SilenceRow {
  const char* name;
  std::optional<Duration> calibrated;       // longest quiet
  std::function<void(SimulatedRun&)> play;  // after the steps
  const char* want;
};

TEST(Triage, ALogThatFallsSilentAtFullPower) {
  using namespace std::chrono_literals;
  const SilenceRow rows[] = {
      {"nine minutes", 30s, [](auto& r) { r.compute(540); }, "healthy"},
      {"silent", 30s, [](auto& r) { r.compute(1200); }, "warning medium undetermined unknown:"},
      {"silent, not calibrated",
       {},
       [](auto& r) { r.compute(1100); },
       "info low undetermined unknown:"},
      {"silent for very long, not calibrated",
       {},
       [](auto& r) { r.compute(1210); },
       "warning low undetermined unknown:"},
      {"known to be silent for longer", 450s, [](auto& r) { r.compute(1200); }, "healthy"},
      {"an evaluation that is told", 30s,
       [](auto& r) { r.log_event(ProgressKind::eval_begin), r.compute(1200); }, "healthy"},
      {"a save that is told", 30s,
       [](auto& r) { r.log_event(ProgressKind::save_begin), r.compute(1200); }, "healthy"},
      {"finished", 30s, [](auto& r) { r.log_event(ProgressKind::finished), r.compute(1200); },
       "healthy"},
      {"restarted after a long silence, not calibrated",
       {},
       [](auto& r) { r.compute(1200), r.log_event(ProgressKind::restarted), r.compute(1100); },
       "info low undetermined unknown:"},
      {"an end of the evaluation", 30s,
       [](auto& r) {
         r.log_event(ProgressKind::eval_begin), r.compute(1200),
             r.log_event(ProgressKind::eval_end);
         r.compute(1300);
       },
       "healthy"},
  };
  for (const SilenceRow& row : rows) {
    TriageOptions options;
    options.calibration.longest_quiet = row.calibrated;
    Triage triage(options);
    SimulatedRun run({.hosts = 1}, triage);
    for (int step = 1; step <= 30; ++step) run.compute(10), run.log_step(step, 1000);
    row.play(run);
    EXPECT_EQ(answer(run.report()), row.want) << row.name;
  }
}

TEST(Triage, ALogOfAnotherTimeSaysNothing) {
  TriageOptions options;
  options.calibration.longest_quiet = std::chrono::seconds(30);
  Triage triage(options);
  SimulatedRun run({.hosts = 1}, triage);
  for (int step = 1; step <= 3; ++step) {
    StepRecord record;
    record.step = step;
    record.at = run.now() - std::chrono::hours(9) + std::chrono::seconds(step);
    triage.step(record);
  }
  run.compute(1200);
  EXPECT_EQ(answer(run.report()), "healthy");
}

TEST(Triage, ABystanderIsNoCulprit) {
  Triage triage({});
  SimulatedRun run({}, triage);
  // GPU 7 of host 1 never takes part.
  const auto others = [](double w, double u) {
    return [=](int k) { return k == 7 ? SimulatedRun::Gpu{75, 0} : SimulatedRun::Gpu{w, u}; };
  };
  run.play(60, others(985, 100));
  run.play(200, others(192, 100));
  EXPECT_EQ(answer(run.report()), "critical low collective_hang unknown:");
}

// Shares of a run by host, in turns: at work, at rest, waiting, or rank 3 apart.
TEST(Triage, WorkBringsAHostIntoTheRunAndLongRestBesideItTakesItOut) {
  struct Turn {
    double seconds;
    const char* hosts;  // one letter each: w works, r rests, s spins, o spins but its GPU 3 at 0 %
  };
  struct HostRow {
    const char* name;
    std::vector<Turn> turns;
    const char* want;
  };
  const HostRow rows[] = {
      {"late at the start, the other waits for its evaluation",
       {{20, "wr"}, {300, "ww"}, {400, "sw"}},
       "warning medium data_starvation"},
      {"late at the start, after that",
       {{20, "wr"}, {300, "ww"}, {400, "sw"}, {90, "ww"}},
       "healthy"},
      {"late at the start, then apart",
       {{20, "wr"}, {300, "ww"}, {200, "so"}},
       "critical low collective_hang rank:11"},
      {"never there",
       {{20, "wr"}, {300, "wr"}, {200, "or"}},
       "critical low collective_hang rank:3"},
      {"a swap to a spare",
       {{300, "wwr"}, {60, "rrr"}, {200, "wrw"}, {700, "ors"}},
       "critical medium collective_hang rank:3"},
      {"a host that died: the others spin",
       {{300, "ww"}, {200, "sr"}},
       "critical low collective_hang unknown:"},
      {"a host that left: the others go on", {{300, "ww"}, {300, "wr"}}, "healthy"},
      {"a host that left and came back",
       {{300, "ww"}, {300, "wr"}, {100, "ww"}, {200, "so"}},
       "critical low collective_hang rank:11"},
  };
  for (const HostRow& row : rows) {
    Triage triage({});
    SimulatedRun run({.hosts = static_cast<int>(strlen(row.turns[0].hosts))}, triage);
    for (const Turn& turn : row.turns) {
      run.play(turn.seconds, [&](int rank) -> SimulatedRun::Gpu {
        const char state = turn.hosts[rank / 8];
        if (state == 'w') return {985, 100};
        if (state == 'r') return {120, 0};
        return {193, state == 'o' && rank % 8 == 3 ? 0.0 : 100.0};
      });
    }
    EXPECT_EQ(answer(run.report()), row.want) << row.name;
  }
}

TEST(Triage, AVanishedGpuIsMissingNotIdle) {
  Triage triage({});
  SimulatedRun run({}, triage);
  run.compute(60);
  run.play(60, [](int k) -> std::optional<SimulatedRun::Gpu> {
    if (k == 4) return std::nullopt;
    return SimulatedRun::Gpu{985, 100};
  });
  EXPECT_EQ(answer(run.report()), "warning medium series_vanished gpu:n1/4");
}

// Rows come together, whatever the clocks of their hosts say.
TEST(Triage, AClockBehindTheOthersIsNoSilence) {
  using namespace std::chrono_literals;
  struct ClockRow {
    const char* name;
    Duration behind;
    bool seen;
  };
  const ClockRow rows[] = {
      {"in step", 0s, true},      {"2 s behind", 2s, true},     {"40 s behind", 40s, true},
      {"40 s ahead", -40s, true}, {"4 min behind", 4min, true}, {"of another zone", 9h, false},
  };
  for (const ClockRow& row : rows) {
    Triage triage({});
    SimulatedRun run({.last_host_behind = row.behind}, triage);
    run.compute(100);
    run.apart(130, 11);  // on the last host
    const WallTime now = std::max(run.now(), run.now() - row.behind);
    const Report report = triage.report(now);
    EXPECT_EQ(report.blind.empty(), row.seen) << row.name;
    EXPECT_EQ(answer(report), row.seen ? "critical low collective_hang rank:11"
                                       : "critical low collective_hang unknown:")
        << row.name;
    if (!row.seen) continue;
    // And its silence is still seen.
    run.play(60, [](int k) -> std::optional<SimulatedRun::Gpu> {
      if (k >= 8) return std::nullopt;
      return SimulatedRun::Gpu{985, 100};
    });
    const Report later = triage.report(std::max(run.now(), run.now() - row.behind));
    ASSERT_FALSE(later.blind.empty()) << row.name;
    EXPECT_EQ(later.blind[0].source, row.behind >= Duration{} ? "n2" : "n1") << row.name;
  }
}

TEST(Triage, ASlowerSamplerIsNoSilence) {
  Triage triage({});
  SimulatedRun fast({.period_s = 1}, triage);
  fast.compute(60);
  SimulatedRun slow({.period_s = 60}, triage);
  slow.wait(std::chrono::seconds(60));
  slow.compute(600);
  const Report report = triage.report(slow.now());
  EXPECT_TRUE(report.blind.empty()) << report.blind[0].reason;
  for (const GpuView& gpu : triage.view(slow.now()).gpus) {
    EXPECT_EQ(gpu.phase, Phase::compute) << gpu.label;
  }
}

TEST(Triage, AHostThatFallsSilentIsBlindNotHealthy) {
  Triage triage({});
  SimulatedRun run({}, triage);
  run.compute(60);
  run.play(90, [](int k) -> std::optional<SimulatedRun::Gpu> {
    if (k >= 8) return std::nullopt;
    return SimulatedRun::Gpu{985, 100};
  });
  const Report report = run.report();
  ASSERT_EQ(report.blind.size(), 1u);
  EXPECT_EQ(report.blind[0].source, "n2");
  EXPECT_TRUE(report.blind[0].hides_critical);
}

void feed(Triage& triage, std::string_view host, int index, WallTime at,
          std::vector<MetricReading> readings) {
  TelemetryRow row;
  row.key.host = host;
  row.key.index = index;
  row.readings = readings;
  triage.row(row, at, "test", "");
}

TEST(Triage, IdenticalHostsAreACopyNotAWitness) {
  struct CopyRow {
    const char* name;
    std::function<double(int tick)> power_w;
    SeriesKey first, second;
    bool copy;
  };
  const auto key = [](std::string_view host, int index) {
    SeriesKey k;
    k.host = host;
    k.index = index;
    return k;
  };
  std::mt19937 rng(7);
  const auto work = [&rng](int) { return 6000 + static_cast<double>(rng() % 1000); };
  const CopyRow rows[] = {
      {"work", work, key("n1", 0), key("n2", 0), true},
      {"two GPUs of one host", work, key("n1", 0), key("n1", 1), false},
      {"at rest", [](int) { return 70.0; }, key("n1", 0), key("n2", 0), false},
      {"at rest, one step up and down", [](int t) { return 70.0 + t % 2; }, key("n1", 0),
       key("n2", 0), false},
      {"one change", [](int t) { return t == 9 ? 700.0 : 70.0; }, key("n1", 0), key("n2", 0),
       false},
  };
  for (const CopyRow& row : rows) {
    Triage triage({});
    for (int t = 0; t < 60; ++t) {
      const MetricReading power[] = {{Metric::power_w, Reading::of(row.power_w(t))}};
      for (const SeriesKey& who : {row.first, row.second}) {
        TelemetryRow out;
        out.key = who;
        out.readings = power;
        triage.row(out, wall_from_ns(t * 1'000'000'000ll), "test", "");
      }
    }
    const Report report = triage.report(*triage.newest());
    EXPECT_EQ(find(report, Cause::duplicate_series) != nullptr, row.copy) << row.name;
  }
}

TEST(Triage, ALowerLimitIsReadOftenBeforeItCounts) {
  struct LimitRow {
    const char* name;
    std::function<double(int tick, int gpu)> limit_w;
    const char* want;
  };
  const auto odd = [](int g) { return g == 3; };
  const LimitRow rows[] = {
      {"all alike", [](int, int) { return 1100; }, "healthy"},
      {"0 W", [=](int, int g) { return odd(g) ? 0 : 1100; }, "healthy"},
      {"negative, all", [=](int, int g) { return odd(g) ? -700 : -1100; }, "healthy"},
      {"one last read", [=](int t, int g) { return odd(g) && t == 59 ? 700 : 1100; }, "healthy"},
      {"two last reads", [=](int t, int g) { return odd(g) && t >= 58 ? 700 : 1100; }, "healthy"},
      {"twenty last seconds", [=](int t, int g) { return odd(g) && t >= 40 ? 700 : 1100; },
       "healthy"},
      {"now and then", [=](int t, int g) { return odd(g) && t % 2 ? 700 : 1100; }, "healthy"},
      {"peers not told", [=](int, int g) { return odd(g) ? 700 : 0; }, "healthy"},
      {"always", [=](int, int g) { return odd(g) ? 700 : 1100; },
       "warning high power_limit_lower gpu:n1/3"},
      {"since a while", [=](int t, int g) { return odd(g) && t >= 20 ? 700 : 1100; },
       "warning high power_limit_lower gpu:n1/3"},
  };
  for (const LimitRow& row : rows) {
    Triage triage({});
    for (int t = 0; t < 60; ++t) {
      for (int g = 0; g < 8; ++g) {
        const MetricReading readings[] = {
            {Metric::power_w, Reading::of(row.limit_w(t, g) == 700 ? 690 + t % 3 : 985 + t % 3)},
            {Metric::power_limit_w, Reading::of(row.limit_w(t, g))},
            {Metric::util_gpu_percent, Reading::of(100)}};
        TelemetryRow out;
        out.key.host = "n1";
        out.key.index = g;
        out.key.name = "NVIDIA B300 SXM6 AC";
        out.readings = readings;
        triage.row(out, wall_from_ns(t * 1'000'000'000ll), "test", "");
      }
    }
    EXPECT_EQ(answer(triage.report(*triage.newest())), row.want) << row.name;
  }
}

// A board at work at one tick.
struct Board {
  double power_w = 985, util_percent = 100, clock_mhz = 1755;
  double mask = 0;
};
// Hosts of eight boards for forty seconds.
Report at_work(int hosts, bool tell_rank, const std::function<Board(int rank)>& board) {
  Triage triage({});
  for (int t = 0; t < 40; ++t) {
    for (int rank = 0; rank < hosts * 8; ++rank) {
      const Board b = board(rank);
      const MetricReading readings[] = {{Metric::power_w, Reading::of(b.power_w + t % 3)},
                                        {Metric::power_limit_w, Reading::of(1100)},
                                        {Metric::util_gpu_percent, Reading::of(b.util_percent)},
                                        {Metric::sm_clock_mhz, Reading::of(b.clock_mhz)},
                                        {Metric::throttle_mask, Reading::of(b.mask)}};
      const std::string host = "n" + std::to_string(10 + rank / 8);
      TelemetryRow out;
      out.key.host = host;
      out.key.index = rank % 8;
      if (tell_rank) out.key.rank = rank;
      out.key.name = "NVIDIA B300 SXM6 AC";
      out.readings = readings;
      triage.row(out, wall_from_ns(t * 1'000'000'000ll), "test", "");
    }
  }
  return triage.report(*triage.newest());
}

TEST(Triage, AStragglerDoesTheSameWork) {
  struct WorkRow {
    const char* name;
    int hosts;
    bool tell_rank;
    std::function<Board(int rank)> board;
    const char* want;
  };
  const Board low{591, 100, 1755};
  const WorkRow rows[] = {
      {"same clock and utilization", 2, true, [=](int r) { return r == 9 ? low : Board{}; },
       "warning medium gpu_power_straggler gpu:n11/1"},
      {"the same, no rank told", 2, false, [=](int r) { return r == 9 ? low : Board{}; },
       "warning medium gpu_power_straggler gpu:n11/1"},
      {"the last GPU, no rank told", 2, false, [=](int r) { return r == 15 ? low : Board{}; },
       "warning low gpu_power_straggler gpu:n11/7"},
      {"a lower clock", 2, true, [](int r) { return r == 9 ? Board{591, 100, 1400} : Board{}; },
       "warning medium gpu_power_straggler gpu:n11/1"},
      {"a higher clock", 2, true, [](int r) { return r == 9 ? Board{690, 100, 1900} : Board{}; },
       "warning low gpu_power_straggler gpu:n11/1"},
      {"other utilization", 2, true, [](int r) { return r == 9 ? Board{690, 92, 1755} : Board{}; },
       "warning low gpu_power_straggler gpu:n11/1"},
      {"the last rank", 2, true, [=](int r) { return r == 15 ? low : Board{}; },
       "warning low gpu_power_straggler gpu:n11/7"},
      {"the last stage", 5, true, [=](int r) { return r >= 36 ? low : Board{}; },
       "warning low gpu_power_straggler gpu:n14/4"},
      {"a whole host", 10, false, [=](int r) { return r / 8 == 3 ? low : Board{}; },
       "warning low gpu_power_straggler gpu:n13/0"},
      {"two among forty", 5, true, [=](int r) { return r == 9 || r == 20 ? low : Board{}; },
       "warning medium gpu_power_straggler gpu:n11/1"},
  };
  for (const WorkRow& row : rows) {
    const Report report = at_work(row.hosts, row.tell_rank, row.board);
    EXPECT_EQ(answer(report), row.want) << row.name;
    for (const Finding& f : report.findings) {
      const bool drains =
          std::find(f.actions.begin(), f.actions.end(), Action::drain_host) != f.actions.end();
      EXPECT_EQ(drains, f.confidence > Confidence::low) << row.name;
    }
  }
}

TEST(Triage, AllGpusHeldDownAreSaid) {
  struct FlagRow {
    const char* name;
    double mask;
    int flagged;  // so many of eight
    const char* want;
  };
  const FlagRow rows[] = {
      {"none", 0, 8, "healthy"},
      {"power cap", 0x4, 8, "ok high normal_power_management"},
      {"power brake", 0x80, 8, "warning medium throttled host:n10"},
      {"hardware, thermal", 0x48, 8, "warning medium throttled host:n10"},
      {"their temperature", 0x20, 8, "warning medium throttled host:n10"},
      {"one, as fast as its peers", 0x80, 1, "healthy"},
      {"half, as fast as their peers", 0x80, 4, "healthy"},
  };
  for (const FlagRow& row : rows) {
    const Report report = at_work(
        1, false, [&](int r) { return Board{800, 100, 1500, r < row.flagged ? row.mask : 0}; });
    EXPECT_EQ(answer(report), row.want) << row.name;
  }
}

TEST(Triage, FrozenValuesAreStale) {
  Triage triage({});
  for (int t = 0; t < 40; ++t) {
    feed(triage, "n1", 0, wall_from_ns(t * 1'000'000'000ll),
         {{Metric::power_w, Reading::of(985.37)}, {Metric::util_gpu_percent, Reading::of(100)}});
  }
  const Report report = triage.report(*triage.newest());
  EXPECT_NE(find(report, Cause::stale_metric), nullptr);
  EXPECT_FALSE(report.blind.empty());
}

TEST(Triage, LostGpuByAbsence) {
  Triage triage({});
  feed(triage, "n1", 3, wall_from_ns(0), {{Metric::power_w, Reading::absent(Absence::lost)}});
  EXPECT_EQ(answer(triage.report(wall_from_ns(0))), "critical high gpu_fell_off_bus gpu:n1/3");
}

TEST(Triage, ZeroWattsAreAFailedRead) {
  Triage triage({});
  for (int t = 0; t < 200; ++t) {
    feed(triage, "n1", 0, wall_from_ns(t * 1'000'000'000ll),
         {{Metric::power_w, Reading::of(0)}, {Metric::util_gpu_percent, Reading::of(100)}});
  }
  const Report report = triage.report(*triage.newest());
  EXPECT_FALSE(alarms(report));
  EXPECT_FALSE(report.notes.empty());
}

}  // namespace
}  // namespace muster
