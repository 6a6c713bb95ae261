#include "train/run/step_report.h"

#include <gtest/gtest.h>

#include "core/progress/event_file.h"
#include "core/progress/json_line.h"
#include "core/progress/progress_decoder.h"
#include "core/progress/transcript.h"

namespace muster::train {
namespace {

StepReport report() {
  StepReport r;
  r.step = 480;
  r.target_step = 3854;
  r.at = wall_from_ns(1'785'578'400'000'000'000);
  r.loss = 1.8421;
  r.grad_norm = 0.91;
  r.learning_rate = 9.1e-6;
  r.step_tokens = 262'144;
  r.tokens = 480 * 262'144ULL;
  r.ranks = 16;
  r.step_s = 4.945;
  r.data_s = 0.002;
  r.wait_s = 0.01;
  r.mfu = 0.289;
  return r;
}

TEST(StepReport, LineForPeople) {
  EXPECT_EQ(step_line(report()),
            "2026-08-01T10:00:00Z step 480/3854 | loss 1.8421 | norm 0.910 | lr 9.10e-06 | 53012 "
            "tok/s | 3313 tok/s/rank | mfu 28.9% | time 4945 ms | data 2 ms | wait 10 ms\n");
}

// What muster shape and muster triage --steps read.
TEST(StepReport, LineIsReadBack) {
  EXPECT_EQ(transcript(step_line(report()), 0, true),
            "step 480/3854 loss=1.8421 norm=0.91 lr=9.1e-06 tps=53012 dt=4.945 mfu=0.289 #1 "
            "@2026-08-01T10:00:00.000Zz");
  StepReport lost = report();
  lost.loss = lost.grad_norm = lost.mfu = std::nullopt;
  lost.skipped = StepReport::Skipped::not_finite;
  EXPECT_EQ(transcript(step_line(lost)),
            "step 480/3854 loss=nan norm=nan lr=9.1e-06 tps=53012 dt=4.945");
  // A step without labels has no loss: "nan" would be a run that breaks.
  lost.skipped = StepReport::Skipped::no_labels;
  EXPECT_NE(step_line(lost).find("step 480/3854 | no labels | lr"), std::string::npos);
  EXPECT_EQ(transcript(step_line(lost)), "step 480/3854 lr=9.1e-06 tps=53012 dt=4.945");
}

TEST(StepReport, MetricsAreReadBack) {
  progress::JsonLineReader reader;
  const auto line = reader.read(step_metrics(report()));
  ASSERT_TRUE(line && line->step);
  EXPECT_EQ(line->step->step, 480);
  EXPECT_EQ(line->step->target_step, 3854);
  EXPECT_NEAR(*line->step->loss, 1.8421, 1e-9);
  EXPECT_NEAR(*line->step->grad_norm, 0.91, 1e-9);
  EXPECT_NEAR(*line->step->learning_rate, 9.1e-6, 1e-12);
  EXPECT_NEAR(*line->step->tokens_per_s, 53'012, 1);
  EXPECT_NEAR(*line->step->step_s, 4.945, 1e-9);
  EXPECT_NEAR(*line->step->mfu_ratio, 0.289, 1e-9);
  EXPECT_EQ(line->step->at, report().at);
}

TEST(StepReport, WhatIsNotKnownIsAbsent) {
  StepReport r = report();
  r.loss = r.grad_norm = r.mfu = std::nullopt;
  r.step_s = 0;
  const std::string metrics = step_metrics(r);
  for (const char* key : {"loss", "grad_norm", "mfu", "tokens_per_s", "skipped"}) {
    EXPECT_EQ(metrics.find(std::string("\"") + key + "\""), std::string::npos) << key;
  }
}

class Collected : public ProgressSink {
 public:
  void step(const StepRecord& record) override { steps.push_back(record); }
  void event(const ProgressEvent&) override {}
  std::vector<StepRecord> steps;
};

TEST(StepReport, EventIsReadBack) {
  Collected got;
  EventFileDecoder decoder;
  decoder.feed(step_event(report()), got);
  ASSERT_EQ(got.steps.size(), 1U);
  EXPECT_EQ(got.steps[0].step, 480);
  EXPECT_NEAR(*got.steps[0].loss, 1.8421, 1e-6);
  EXPECT_NEAR(*got.steps[0].step_s, 4.945, 1e-6);
  EXPECT_NEAR(*got.steps[0].loading_s, 0.002, 1e-6);
  EXPECT_NEAR(*got.steps[0].tokens_per_s, 53'012, 1);
  EXPECT_NEAR(*got.steps[0].mfu_ratio, 0.289, 1e-6);
}

struct EventRow {
  std::string_view name;
  std::optional<double> duration_s;
  const char* text;
  const char* read;  // by the reader of logs
};

TEST(StepReport, EventsAreReadBack) {
  const EventRow kRows[] = {
      {"save_begin", std::nullopt, "out/ckpt/step-500", "save_begin step=500"},
      {"save_end", 12.5, "", "save_end step=500 took=12.5"},
      {"save_end", std::nullopt, "", "save_end step=500"},
      {"restarted", std::nullopt, "out/ckpt/step-500", "restarted step=500"},
      {"finished", std::nullopt, "", "finished"},
  };
  for (const EventRow& row : kRows) {
    RunEvent event{row.name, report().at, 500, row.duration_s, row.text};
    EXPECT_EQ(transcript(event_line(event)), row.read) << event_line(event);
    EXPECT_EQ(transcript(event_metrics(event)).substr(0, std::string_view(row.name).size()),
              row.name)
        << event_metrics(event);
  }
}

TEST(StepReport, EventsEscapeWhatComesFromOutside) {
  const RunEvent event{"restarted", report().at, 1, {}, "a\x1b[2J\nb"};
  EXPECT_EQ(event_line(event), "2026-08-01T10:00:00Z resume from a\\x1b[2J\\nb\n");
}

}  // namespace
}  // namespace muster::train
