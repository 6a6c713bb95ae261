#include "core/checkpoint/checkpoint_report.h"

#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint_test_kit.h"
#include "core/model/exit_status.h"
#include "core/model/report_json.h"

namespace muster::checkpoint {
namespace {

CheckpointAnswer answered(const ListedRun& run, const std::vector<std::string>& suspects = {}) {
  return answer_checkpoints(run.checkpoints, judge_checkpoints(run.checkpoints, run.facts),
                            suspects);
}

struct Row {
  const char *name, *files;
  std::vector<std::string> suspects;
  const char *resume, *cause, *culprit;
  ExitStatus status;
};

const std::vector<Row> kRows = {
    {"nothing", "r/a.log", {}, "", "evidence_missing", "", ExitStatus::ok},
    {"one that is not whole",
     "r/step-1/__0_0.distcp",
     {},
     "",
     "checkpoint_incomplete",
     "r/step-1",
     ExitStatus::warning},
    {"one that is torn",
     "r/step-1/model.safetensors!",
     {},
     "",
     "checkpoint_torn",
     "r/step-1/model.safetensors",
     ExitStatus::critical},
    {"the newest is torn",
     "r/step-1/model.safetensors r/step-2/model.safetensors!",
     {},
     "r/step-1",
     "checkpoint_torn",
     "r/step-2/model.safetensors",
     ExitStatus::critical},
    {"an older one is torn",
     "r/step-1/model.safetensors! r/step-2/model.safetensors",
     {},
     "r/step-2",
     "healthy",
     "",
     ExitStatus::ok},
    {"the newest by its number",
     "r/step-9/model.safetensors r/step-10/model.safetensors",
     {},
     "r/step-10",
     "healthy",
     "",
     ExitStatus::ok},
    {"a suspect by step",
     "r/step-9/model.safetensors r/step-10/model.safetensors",
     {"10"},
     "r/step-9",
     "healthy",
     "",
     ExitStatus::ok},
    {"a suspect by path",
     "r/step-9/model.safetensors r/step-10/model.safetensors",
     {"elsewhere/step-10/"},
     "r/step-9",
     "healthy",
     "",
     ExitStatus::ok},
    {"all suspect",
     "r/step-9/model.safetensors",
     {"9"},
     "",
     "evidence_missing",
     "",
     ExitStatus::ok},
    {"one under way",
     "r/step-9/model.safetensors r/.saving-step-10/model.safetensors!",
     {},
     "r/step-9",
     "healthy",
     "",
     ExitStatus::ok},
    {"an export beside",
     "r/model.safetensors r/step-9/model.safetensors",
     {},
     "r/step-9",
     "healthy",
     "",
     ExitStatus::ok},
    {"a tracker that leads nowhere",
     "r/step-9/model.safetensors r/latest>step-12",
     {},
     "r/step-9",
     "checkpoint_false_complete",
     "r/latest",
     ExitStatus::critical},
    {"not read",
     "r/step-8/model.safetensors r/step-9/model.safetensors?",
     {},
     "r/step-8",
     "healthy",
     "",
     ExitStatus::cannot_tell},
};

TEST(CheckpointReport, Rows) {
  for (const Row& row : kRows) {
    const CheckpointAnswer answer = answered(listed_run(row.files), row.suspects);
    EXPECT_EQ(answer.resume_from.value_or(""), row.resume) << row.name;
    ASSERT_FALSE(answer.report.findings.empty()) << row.name;
    const Finding& top = answer.report.findings.front();
    EXPECT_EQ(cause_name(top.cause), row.cause) << row.name;
    EXPECT_EQ(top.culprits.empty() ? "" : top.culprits.front().id, row.culprit) << row.name;
    EXPECT_EQ(exit_status_of(answer.report), row.status) << row.name;
    for (const Finding& finding : answer.report.findings) {
      EXPECT_TRUE(cause_row(finding.cause).allows(finding.severity)) << row.name;
    }
  }
}

TEST(CheckpointReport, LossesThatWentWrong) {
  ListedRun run = listed_run(
      "r/checkpoint-1/model.safetensors r/checkpoint-1/trainer_state.json "
      "r/checkpoint-2/model.safetensors r/checkpoint-2/trainer_state.json");
  for (FileFacts& file : run.checkpoints[1].files) {
    if (file.kind != FileKind::trainer_state) continue;
    file.loss.kind = LossHealth::Kind::not_finite;
    file.loss.since_step = 2;
  }
  const CheckpointAnswer answer = answered(run);
  EXPECT_EQ(answer.resume_from, "r/checkpoint-1");
  ASSERT_FALSE(answer.report.findings.empty());
  const Finding& top = answer.report.findings.front();
  EXPECT_EQ(top.culprits.front().id, "r/checkpoint-2");
  EXPECT_EQ(top.actions.front(), Action::step_back_checkpoint);
  EXPECT_EQ(exit_status_of(answer.report), ExitStatus::warning);
}

TEST(CheckpointReport, Json) {
  const std::string none = encode_answer(answered(listed_run("r/a.log")));
  EXPECT_TRUE(none.ends_with(",\"resume_from\":null}")) << none;
  const std::string one = encode_answer(answered(listed_run("r/step-1/model.safetensors")));
  EXPECT_TRUE(one.ends_with(",\"resume_from\":\"r/step-1\"}")) << one;
  EXPECT_TRUE(decode_report(one));
}

TEST(CheckpointReport, ManyStayShort) {
  std::string files;
  for (int i = 0; i < 200; ++i) {
    files += "r/step-" + std::to_string(i + 1) + "/model.safetensors! ";
  }
  const CheckpointAnswer answer = answered(listed_run(files));
  EXPECT_EQ(answer.report.findings.size(), 8u);
  EXPECT_EQ(answer.report.findings.front().culprits.front().id, "r/step-200/model.safetensors");
  EXPECT_LT(answer.report.notes.size(), 12u);
}

}  // namespace
}  // namespace muster::checkpoint
