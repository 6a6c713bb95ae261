#include "core/shape/judge.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "base/text.h"
#include "tests/support/step_series.h"

namespace muster::shape {
namespace {

using testing_support::simulate_steps;
using testing_support::StepSeries;

// Everything is invented here; what a row is about stands in its name.
struct Scene {
  std::vector<StepRecord> records;
  std::string notes;  // what stands beside
  Expectation expected = {};
  std::vector<std::pair<std::int64_t, ProgressKind>> events = {};  // in front of a step
};

std::vector<Finding> judge(const Scene& scene) {
  Surroundings around;
  SurroundingsReader reader(around, "notes.txt");
  std::uint64_t number = 0;
  for (const std::string_view line : split(scene.notes, '\n')) reader.line(line, ++number);
  CurveBuilder builder;
  for (const StepRecord& record : scene.records) {
    for (const auto& [step, kind] : scene.events) {
      ProgressEvent event;
      event.kind = kind;
      if (step == record.step) builder.event(event);
    }
    builder.step(record);
  }
  const Curve curve = builder.finish("steps.csv", around.restart_steps);
  const Shapes shapes = find_shapes(curve);
  const Expectation told = expectation_of(around);
  const bool given = scene.expected.step_s || scene.expected.tokens_per_s;
  return judge_shape({curve, shapes, around, given ? scene.expected : told});
}

std::string text_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return "nothing";
  const Finding& first = findings.front();
  std::string text = fmt::format("{} {} {}", severity_name(first.severity), cause_name(first.cause),
                                 confidence_name(first.confidence));
  for (const Culprit& culprit : first.culprits) {
    text += fmt::format(" {}:{}", culprit_kind_name(culprit.kind), culprit.id);
  }
  return text;
}

// Steps of `step_s` with noise, changed by `change`.
std::vector<StepRecord> steps(std::int64_t count, double step_s,
                              const std::function<void(StepRecord&)>& change = {}) {
  StepSeries series;
  series.steps = count;
  series.step_s = step_s;
  auto records = simulate_steps(series);
  if (change) std::for_each(records.begin(), records.end(), change);
  return records;
}

// Every `every` steps `extra` seconds more.
std::vector<StepRecord> spikes(std::int64_t count, double step_s, std::int64_t every, double extra,
                               bool loading = false) {
  return steps(count, step_s, [=](StepRecord& record) {
    if (loading) record.loading_s = 0.01;
    if (record.step == 0 || record.step % every != 0) return;
    *record.step_s += extra;
    if (loading) record.loading_s = extra * 0.95;
  });
}

// By the clocks of the lines alone: one line every `stride` steps, pauses in front of some.
std::vector<StepRecord> stamped(std::int64_t lines, std::int64_t stride, double step_s,
                                std::int64_t pause_every, double pause_s) {
  std::vector<StepRecord> records;
  double at = 1000;
  for (std::int64_t i = 1; i <= lines; ++i) {
    StepRecord record;
    record.step = i * stride;
    at += step_s * static_cast<double>(stride);
    if (pause_every > 0 && record.step % pause_every == 0) at += pause_s;
    record.at = WallTime(std::chrono::seconds(std::llround(at)));
    record.tokens_per_s = 40000 + static_cast<double>(i % 3);
    record.line = static_cast<std::uint64_t>(i);
    records.push_back(record);
  }
  return records;
}

struct Row {
  const char* name;
  Scene scene;
  const char* said;
};

class Judged : public testing::TestWithParam<Row> {};

TEST_P(Judged, Says) {
  const auto findings = judge(GetParam().scene);
  EXPECT_EQ(text_of(findings), GetParam().said)
      << (findings.empty() ? std::string() : findings.front().summary);
}

StepSeries series_of(const std::function<void(StepSeries&)>& change) {
  StepSeries series;
  series.steps = 600;
  change(series);
  return series;
}
std::vector<StepRecord> simulated(const std::function<void(StepSeries&)>& change) {
  return simulate_steps(series_of(change));
}

std::string network(std::string_view odd, int hosts) {
  std::string text;
  for (int i = 0; i < hosts; ++i) {
    text += fmt::format("w{:02}:7:9 [0] NCCL INFO {}\n", i,
                        i == hosts - 1 ? odd
                                       : std::string_view("Channel 00/0 : 0[0] -> 8[0] [send] via "
                                                          "NET/IB/1/GDRDMA"));
  }
  return text;
}

std::vector<Row> healthy_rows() {
  return {
      {"no_step", {{}, ""}, "nothing"},
      {"one_step", {steps(1, 5), ""}, "nothing"},
      {"three_steps_at_a_tenth", {steps(3, 50), "expected_step_s=5"}, "nothing"},
      {"plain", {steps(400, 5), ""}, "nothing"},
      {"as_expected", {steps(400, 5), "expected_step_time_s=4.9"}, "nothing"},
      {"expected_is_no_number", {steps(400, 5), "expected_step_time_s=nan"}, "nothing"},
      {"faster_than_expected", {steps(400, 3), "expected_step_time_s=4.9"}, "nothing"},
      {"noise_of_three_per_cent",
       {simulated([](StepSeries& s) { s.noise = 0.03, s.correlation = 0.7; }), ""},
       "nothing"},
      {"single_spikes", {simulated([](StepSeries& s) { s.spike_share = 0.01; }), ""}, "nothing"},
      {"short_warm_up",
       {simulated([](StepSeries& s) { s.warm_up_steps = 10; }), ""},
       "ok compile_warmup medium"},
      {"slow_start_behind_a_restart",
       {steps(600, 2,
              [](StepRecord& r) {
                const double n = static_cast<double>(r.step % 300) + 1;
                *r.step_s *= 1 + 10 / (n * n);
              }),
        ""},
       "nothing"},
      {"restarts_alone", {simulated([](StepSeries& s) { s.restart_every = 150; }), ""}, "nothing"},
      {"long_compile",
       {steps(60, 2,
              [](StepRecord& r) {
                if (r.step < 2) *r.step_s += 400;
              }),
        "torch_compile=true\nddp_timeout_s=1800\n"},
       "ok compile_warmup high"},
      {"long_start_of_unknown_kind",
       {steps(60, 2,
              [](StepRecord& r) {
                if (r.step < 3) *r.step_s += 90;
              }),
        ""},
       "ok compile_warmup medium"},
      {"evaluation_of_the_settings",
       {stamped(300, 10, 2, 250, 90), "trainer:\n  val_interval: 250\n"},
       "ok eval_pause high"},
      {"saves_of_the_settings",
       {stamped(300, 10, 2, 500, 200), "save_steps=500"},
       "ok checkpoint_in_progress high"},
      {"saves_in_printed_times",
       {spikes(900, 2, 100, 40), "save_interval = 100"},
       "ok checkpoint_in_progress high"},
      {"one_host_of_a_cluster_without_infiniband",
       {steps(100, 5), "w01:7:9 [0] NCCL INFO Using network Socket"},
       "nothing"},
      {"few_cores_and_no_wait",
       {steps(100, 5, [](StepRecord& r) { r.loading_s = 0.02; }),
        "num_workers=16\npid 4's current affinity list: 3"},
       "nothing"},
      {"pauses_that_the_log_names",
       {stamped(300, 10, 2, 400, 120),
        "",
        {},
        {{400, ProgressKind::save_begin},
         {800, ProgressKind::save_begin},
         {1200, ProgressKind::save_begin},
         {1600, ProgressKind::save_begin},
         {2000, ProgressKind::save_begin},
         {2400, ProgressKind::save_begin},
         {2800, ProgressKind::save_begin}}},
       "ok checkpoint_in_progress high"},
  };
}
INSTANTIATE_TEST_SUITE_P(Healthy, Judged, testing::ValuesIn(healthy_rows()),
                         [](const auto& row) { return row.param.name; });

std::vector<Row> floor_rows() {
  return {
      {"dead_without_witness",
       {steps(40, 70), "expected_step_time_s=5"},
       "critical undetermined medium unknown:"},
      {"dead_with_a_host_on_sockets",
       {steps(40, 70), "baseline_step_time_s=5\n" + network("Using network Socket", 4)},
       "critical nccl_socket_fallback high host:w03"},
      {"third_with_a_host_on_sockets",
       {steps(40, 15), "expected_step_ms=5000\n" + network("NET/IB : No device found.", 3)},
       "warning nccl_socket_fallback high host:w02"},
      {"third_with_a_host_without_direct_memory",
       {steps(40, 15), "expected_step_time_s=5\n" +
                           network("Channel 01/0 : 3[0] -> 9[0] [receive] via NET/IB/2", 6)},
       "warning gdr_disabled high host:w05"},
      {"third_without_witness",
       {steps(40, 15), "reference_step_time_s: 5"},
       "warning undetermined medium unknown:"},
      {"two_thirds",
       {steps(40, 7), "expected_step_time_s=5"},
       "warning undetermined medium unknown:"},
      {"tokens_at_a_third",
       {stamped(40, 10, 2, 0, 0), "expected_tokens_per_s=120000"},
       "warning undetermined medium unknown:"},
      {"all_hosts_on_sockets_and_slow",
       {steps(40, 70),
        "expected_step_time_s=5\na:1:2 [0] NCCL INFO Using network Socket\n"
        "b:1:2 [0] NCCL INFO Using network Socket\n"},
       "critical nccl_socket_fallback medium unknown:"},
  };
}
INSTANTIATE_TEST_SUITE_P(Floors, Judged, testing::ValuesIn(floor_rows()),
                         [](const auto& row) { return row.param.name; });

std::vector<Row> data_rows() {
  const auto waiting = [](double share) {
    return [share](StepRecord& r) { r.loading_s = share * *r.step_s; };
  };
  return {
      {"waits_in_every_step",
       {steps(60, 5, waiting(0.6)), ""},
       "warning data_starvation high unknown:"},
      {"waits_and_the_data_has_a_place",
       {steps(60, 5, waiting(0.3)), "data_path=/nfs/corpus"},
       "warning data_starvation medium file:/nfs/corpus"},
      {"waits_on_two_cores",
       {steps(60, 5, waiting(0.7)), "num_workers: 12\nCpus_allowed_list: 4-5"},
       "warning cpu_binding high config:cpus_per_task"},
      {"waits_with_cores_enough",
       {steps(60, 5, waiting(0.7)), "num_workers: 12\nCpus_allowed_list: 0-31"},
       "warning data_starvation high unknown:"},
      {"period_of_the_workers",
       {spikes(100, 0.8, 6, 4), "dataloader_num_workers=6"},
       "warning data_starvation medium config:dataloader_num_workers"},
      {"period_of_the_workers_on_a_slow_disk",
       {spikes(100, 0.8, 4, 4, true), "workers: num_workers=4, dataset in /data/raw"},
       "warning data_starvation high file:/data/raw"},
      {"window_runs_empty",
       {spikes(200, 9, 20, 25, true), ""},
       "warning data_starvation high unknown:"},
      {"window_of_the_settings",
       {spikes(200, 9, 20, 25, true), "prefetch=20"},
       "warning data_starvation high config:prefetch"},
      {"collapse_that_scatters",
       {simulated(
            [](StepSeries& s) { s.change_at = 300, s.change_ratio = 2.4, s.scatter_ratio = 40; }),
        ""},
       "warning data_starvation medium unknown:"},
      {"collapse_that_the_loader_tells",
       {steps(300, 5,
              [](StepRecord& r) {
                r.loading_s = r.step < 150 ? 0.1 : 4;
                if (r.step >= 150) *r.step_s += 4;
              }),
        "dataset: /lustre/shards"},
       "warning data_starvation high file:/lustre/shards"},
  };
}
INSTANTIATE_TEST_SUITE_P(Data, Judged, testing::ValuesIn(data_rows()),
                         [](const auto& row) { return row.param.name; });

std::vector<Row> trend_rows() {
  return {
      {"share_grows_and_restarts_heal",
       {simulated([](StepSeries& s) {
          s.steps = 900, s.restart_every = 300, s.slow_share_per_step = 0.0015;
        }),
        ""},
       "warning gc_pauses high unknown:"},
      {"level_grows_and_a_restart_heals",
       {simulated([](StepSeries& s) { s.restart_every = 300, s.sag_per_step = 0.0005; }), ""},
       "warning gc_pauses medium unknown:"},
      {"level_grows_without_a_restart",
       {simulated([](StepSeries& s) { s.sag_per_step = 0.0005; }), ""},
       "warning undetermined medium unknown:"},
      {"level_grows_through_restarts",
       {steps(600, 5, [](StepRecord& r) { *r.step_s *= 1 + 0.0004 * static_cast<double>(r.step); }),
        "restart at step 200\nrestart at step 400\n"},
       "warning undetermined medium unknown:"},
      {"sawtooth_of_the_saves",
       {steps(600, 5,
              [](StepRecord& r) { *r.step_s *= 1 + 0.001 * static_cast<double>(r.step % 80); }),
        "save_every=80"},
       "warning undetermined medium unknown:"},
      {"slower_at_once_and_stays",
       {simulated([](StepSeries& s) { s.change_at = 300, s.change_ratio = 1.1; }), ""},
       "warning undetermined medium unknown:"},
      {"slower_at_once_and_recovers",
       {simulated(
            [](StepSeries& s) { s.change_at = 200, s.change_end = 350, s.change_ratio = 1.2; }),
        ""},
       "info undetermined medium unknown:"},
      {"regular_spikes_that_nothing_explains",
       {spikes(1500, 5, 100, 4), ""},
       "info undetermined medium unknown:"},
      {"costly_regular_spikes",
       {spikes(600, 5, 20, 4), ""},
       "warning undetermined medium unknown:"},
      {"planned_collections",
       {spikes(600, 5, 20, 4), "gc_interval=20"},
       "info undetermined medium unknown:"},
      {"dips_every_15_s", {spikes(600, 1, 15, 0.43), ""}, "warning undetermined medium unknown:"},
      {"dips_every_15_s_and_a_hot_gpu",
       {spikes(600, 1, 15, 0.43), "node n4 GPU 6: hw_thermal_slowdown active"},
       "critical thermal_throttle_dips high gpu:n4/6"},
      {"collections_on_ranks_in_turn",
       {steps(800, 5,
              [](StepRecord& r) {
                std::mt19937_64 random(static_cast<std::uint64_t>(r.step));
                r.rank = static_cast<int>(random() % 16);
                if (random() % 7 == 0) *r.step_s *= 1.6;
              }),
        ""},
       "warning gc_pauses medium unknown:"},
      {"compile_beyond_the_limit",
       {steps(60, 2,
              [](StepRecord& r) {
                if (r.step < 1) *r.step_s += 2000;
              }),
        "torch.compile on\nnccl_timeout_s=600\n"},
       "warning one_rank_long_work high config:nccl_timeout_s"},
  };
}
INSTANTIATE_TEST_SUITE_P(Trends, Judged, testing::ValuesIn(trend_rows()),
                         [](const auto& row) { return row.param.name; });

TEST(Expectation, Texts) {
  for (const char* bad : {"", "s", "4.95", "-1s", "0s", "4.95 parsecs", "140%", "mfu=40", "tok/s",
                          "1e400s", "4.9.5s", "k tok/s"}) {
    EXPECT_FALSE(parse_expectation(bad)) << bad;
  }
  EXPECT_EQ(parse_expectation("4.95s")->step_s, 4.95);
  EXPECT_EQ(parse_expectation("4950 ms")->step_s, 4.95);
  EXPECT_EQ(parse_expectation("53k tok/s")->tokens_per_s, 53000);
  EXPECT_EQ(parse_expectation("53,000 tok/s")->tokens_per_s, 53000);
  EXPECT_EQ(parse_expectation("40%")->mfu_ratio, 0.4);
  EXPECT_EQ(parse_expectation("MFU=0.4")->mfu_ratio, 0.4);
  EXPECT_FALSE(parse_expectation("53k tokens/min"));
}

TEST(Expectation, OfSettings) {
  struct ExpectRow {
    const char* line;
    double step_s, tokens_per_s, mfu_ratio;  // 0: not told
  };
  constexpr ExpectRow kRows[] = {
      {"expected_step_time: 7.5 min", 0, 0, 0},
      {"expected_step_time_min=7.5", 0, 0, 0},
      {"expected_step_time: 7,500 ms", 0, 0, 0},
      {"expected_step_time: 41%", 0, 0, 0},
      {"expected_tokens: 61 s", 0, 0, 0},
      {"expected_tokens: 61k tokens/min", 0, 0, 0},
      {"expected_mfu: 140%", 0, 0, 0},
      {"expected_tokens: -4", 0, 0, 0},
      {"expected_tokens_per_s=61,00", 0, 61, 0},
      {"expected_tokens_per_s=61,000", 0, 61000, 0},
      {"expected_tokens_per_s=1,061,000 workers=0,125", 0, 1061000, 0},
      {"expected_tokens: 61,000 tok/s", 0, 61000, 0},
      {"expected_tokens: 61k tok/s", 0, 61000, 0},
      {"baseline_tps=61k", 0, 61000, 0},
      {"baseline_tps=61000.5", 0, 61000.5, 0},
      {"expected_step_time: 7.5 s", 7.5, 0, 0},
      {"expected_step_time: 7.5 s/it", 7.5, 0, 0},
      {"reference_step_time_ms=7500", 7.5, 0, 0},
      {"reference_step_time_s=7.5", 7.5, 0, 0},
      {"expected_mfu=41%", 0, 0, 0.41},
      {"expected_mfu=41", 0, 0, 0.41},
      {"expected_mfu=0.41", 0, 0, 0.41},
  };
  for (const ExpectRow& row : kRows) {
    Surroundings around;
    SurroundingsReader(around, "notes.txt").line(row.line, 1);
    const Expectation got = expectation_of(around);
    EXPECT_NEAR(got.step_s.value_or(0), row.step_s, 1e-9) << row.line;
    EXPECT_NEAR(got.tokens_per_s.value_or(0), row.tokens_per_s, 1e-9) << row.line;
    EXPECT_NEAR(got.mfu_ratio.value_or(0), row.mfu_ratio, 1e-9) << row.line;
  }
}

std::optional<Finding> no_steps(const std::string& notes) {
  Surroundings around;
  SurroundingsReader reader(around, "all.log");
  std::uint64_t number = 0;
  for (const std::string_view line : split(notes, '\n')) reader.line(line, ++number);
  return judge_no_steps(around, nullptr);
}

TEST(NoSteps, NamesTheSilentRanksAndWhatDiffers) {
  std::string notes = "world_size=8\n";
  for (int rank = 0; rank < 8; ++rank) {
    if (rank != 5) notes += fmt::format("[rank{}]: process group ready\n", rank);
    notes += fmt::format("rank={} PYTHON_THREADS={} RANK_FILE=/tmp/{}\n", rank == 5 ? 4 : rank,
                         rank == 3 ? 1 : 8, rank);
  }
  const auto found = no_steps(notes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::collective_hang);
  ASSERT_EQ(found->culprits.size(), 1u);
  EXPECT_EQ(found->culprits[0].id, "5");
  EXPECT_NE(found->summary.find("rank 3: PYTHON_THREADS=1, elsewhere 8"), std::string::npos)
      << found->summary;
  EXPECT_EQ(found->summary.find("RANK_FILE"), std::string::npos) << "differs by its nature";
}

TEST(NoSteps, AYoungStartIsNoHang) {
  EXPECT_FALSE(no_steps(""));
  const auto found = no_steps("[rank0]: loading\n[rank1]: loading\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::info);
  // Most are silent: a log of few ranks tells nothing of the others.
  EXPECT_EQ(no_steps("world_size=64\n[rank0]: loading\n")->severity, Severity::info);
}

// The bars of the simulation, on fewer seeds than bench/shape_bench.cc.
TEST(Simulated, HealthySeriesGiveNoAlarm) {
  for (std::uint64_t seed = 9000; seed < 9020; ++seed) {
    for (const StepSeries& kind :
         {StepSeries{.noise = 0.0036}, StepSeries{.noise = 0.01, .correlation = 0.5},
          StepSeries{.noise = 0.0036, .spike_share = 0.005}}) {
      StepSeries series = kind;
      series.seed = seed;
      EXPECT_EQ(text_of(judge({simulate_steps(series), ""})), "nothing") << seed;
    }
  }
}

TEST(Simulated, SlowDownsAreFoundInTime) {
  int small = 0, large = 0;
  for (std::uint64_t seed = 9000; seed < 9020; ++seed) {
    const auto found = [seed](double noise, double ratio, std::int64_t within) {
      const StepSeries series{.seed = seed,
                              .steps = 1000 + within,
                              .noise = noise,
                              .change_at = 1000,
                              .change_ratio = ratio};
      return !judge({simulate_steps(series), ""}).empty() ? 1 : 0;
    };
    small += found(0.0036, 1.03, 10);
    large += found(0.01, 1.05, 15);
  }
  EXPECT_GE(small, 19);
  EXPECT_GE(large, 19);
}

}  // namespace
}  // namespace muster::shape
