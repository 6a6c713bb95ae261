#include "core/checkpoint/checkpoint_judge.h"

#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint_test_kit.h"

namespace muster::checkpoint {
namespace {

// One letter for each checkpoint in the order of paths: c complete, ? cannot tell, i incomplete, t
// torn, f false complete; a small u behind one that is not sure.
std::string judged(std::string_view words, std::string* texts = nullptr) {
  const ListedRun run = listed_run(words);
  const Judged judgements = judge_checkpoints(run.checkpoints, run.facts);
  std::string out;
  for (const Judgement& judgement : judgements.each) {
    out += std::string_view("c?itf")[static_cast<std::size_t>(judgement.state)];
    if (!judgement.sure) out += 'u';
    for (const Flaw& flaw : judgement.flaws) {
      if (texts != nullptr) *texts += flaw.text + "; ";
    }
  }
  for (const LostTarget& lost : judgements.lost) out += " lost:" + lost.target;
  return out;
}

#define TRAINER(step)                                                                            \
  "r/checkpoint-" step "/config.json r/checkpoint-" step "/model.safetensors r/checkpoint-" step \
  "/optimizer.pt r/checkpoint-" step "/scheduler.pt r/checkpoint-" step                          \
  "/rng_state_0.pth r/checkpoint-" step "/rng_state_1.pth r/checkpoint-" step                    \
  "/training_args.bin r/checkpoint-" step "/trainer_state.json "
#define DCP2(step) \
  "r/step-" step "/.metadata r/step-" step "/__0_0.distcp r/step-" step "/__1_0.distcp "

struct Row {
  const char *name, *files, *states, *text;
};

const Row kRows[] = {
    // Hugging Face Trainer
    {"no trainer_state", "r/checkpoint-5/model.safetensors r/checkpoint-5/optimizer.pt", "i",
     "trainer_state.json is missing"},
    {"no weights", "r/checkpoint-5/trainer_state.json r/checkpoint-5/optimizer.pt", "i",
     "no weights"},
    {"a torn part", "r/checkpoint-5/model.safetensors! r/checkpoint-5/trainer_state.json", "t",
     "model.safetensors: cut"},
    {"a part that nobody could read",
     "r/checkpoint-5/model.safetensors? r/checkpoint-5/trainer_state.json", "?", "permission"},
    {"whole", TRAINER("5"), "c", ""},
    {"what the older one has",
     TRAINER("5") "r/checkpoint-9/model.safetensors "
                  "r/checkpoint-9/trainer_state.json r/checkpoint-9/config.json "
                  "r/checkpoint-9/training_args.bin",
     "ci", "optimizer.pt is missing; checkpoint-5 has it"},
    {"what the newer one has says nothing",
     TRAINER("9") "r/checkpoint-5/model.safetensors "
                  "r/checkpoint-5/trainer_state.json",
     "cc", ""},
    {"fewer ranks once",
     TRAINER("5") "r/checkpoint-9/config.json r/checkpoint-9/model.safetensors "
                  "r/checkpoint-9/optimizer.pt r/checkpoint-9/scheduler.pt "
                  "r/checkpoint-9/rng_state_0.pth "
                  "r/checkpoint-9/training_args.bin r/checkpoint-9/trainer_state.json",
     "ciu", "1 files rng_state_#.pth are there; checkpoint-5 has 2"},
    {"a short file that tells nothing",
     TRAINER("5") "r/checkpoint-9/config.json "
                  "r/checkpoint-9/model.safetensors r/checkpoint-9/optimizer.pt#3000000 "
                  "r/checkpoint-9/scheduler.pt r/checkpoint-9/rng_state_0.pth "
                  "r/checkpoint-9/rng_state_1.pth "
                  "r/checkpoint-9/training_args.bin r/checkpoint-9/trainer_state.json",
     "cc", ""},
    // Weights
    {"one of two parts", "m/model-00001-of-00002.safetensors m/model.safetensors.index.json", "i",
     "1 of the 2 parts"},
    {"no index", "m/model-00001-of-00002.safetensors m/model-00002-of-00002.safetensors", "i",
     "model.safetensors.index.json is missing"},
    {"an export", "m/model.safetensors m/config.json m/training_args.bin", "c", ""},
    {"an empty folder of a step", "r/step-1/", "i", "nothing is in it"},
    {"no weights in it", "r/step-1/notes.txt", "i", "no file of weights"},
    // DCP
    {"no .metadata", "r/step-5/__0_0.distcp r/step-5/__2_0.distcp", "i",
     "__1_0.distcp is missing: the shard of rank 1"},
    {"its temporary name", "r/step-5/__0_0.distcp r/step-5/.metadata.tmp", "i",
     ".metadata is missing"},
    {"no shard", "r/step-5/.metadata", "f", "no shard is there"},
    {"whole", DCP2("5"), "c", ""},
    {"an empty shard", "r/step-5/.metadata r/step-5/__0_0.distcp#0", "c", ""},
    {"below FSDP",
     "r/checkpoint-5/trainer_state.json r/checkpoint-5/pytorch_model_fsdp_0/.metadata "
     "r/checkpoint-5/pytorch_model_fsdp_0/__0_0.distcp r/checkpoint-5/optimizer_0/__0_0.distcp",
     "f", "optimizer_0/.metadata is missing"},
    // DeepSpeed
    {"a rank left out",
     "r/global_step5/mp_rank_00_model_states.pt "
     "r/global_step5/zero_pp_rank_0_mp_rank_00_optim_states.pt "
     "r/global_step5/zero_pp_rank_2_mp_rank_00_optim_states.pt",
     "i", "zero_pp_rank_1_mp_rank_00_optim_states.pt is missing"},
    {"a model rank left out",
     "r/global_step5/mp_rank_00_model_states.pt "
     "r/global_step5/zero_pp_rank_0_mp_rank_00_optim_states.pt "
     "r/global_step5/zero_pp_rank_0_mp_rank_01_optim_states.pt",
     "i", "mp_rank_01_model_states.pt is missing"},
    {"latest names it", "r/global_step5/mp_rank_00_model_states.pt r/latest>global_step5", "c", ""},
    {"latest names one that is not there",
     "r/global_step5/mp_rank_00_model_states.pt r/latest>global_step9", "c lost:global_step9", ""},
    {"latest names one that is not whole",
     "r/global_step5/zero_pp_rank_0_mp_rank_00_optim_states.pt r/latest>global_step5", "f", ""},
    {"latest lags",
     "r/global_step5/mp_rank_00_model_states.pt "
     "r/global_step9/mp_rank_00_model_states.pt r/latest>global_step5",
     "c?", "still names"},
    // Megatron
    {"a rank folder left out",
     "r/iter_0000005/mp_rank_00/model_optim_rng.pt "
     "r/iter_0000005/mp_rank_02/model_optim_rng.pt",
     "i", "mp_rank_01/model_optim_rng.pt"},
    {"stages",
     "r/iter_0000005/mp_rank_00_000/a.pt r/iter_0000005/mp_rank_01_000/a.pt "
     "r/iter_0000005/mp_rank_00_001/a.pt",
     "i", "mp_rank_01_001/a.pt"},
    {"the tracker by number",
     "r/iter_0000005/common.pt r/iter_0000005/.metadata "
     "r/iter_0000005/__0_0.distcp r/iter_0000005/metadata.json "
     "r/latest_checkpointed_iteration.txt>5",
     "c", ""},
    // Marks
    {"without the mark that others have",
     "r/step-1/model.safetensors r/step-1/COMPLETE "
     "r/step-2/model.safetensors",
     "ci", "COMPLETE is missing; step-1 has it"},
    {"marked, and not whole", "r/step-1/COMPLETE r/step-1/__0_0.distcp", "f",
     ".metadata is missing"},
    // One file
    {"Lightning", "r/epoch=0-step=5.ckpt r/epoch=0-step=9.ckpt!", "ct", "cut"},
    {"Lightning in a folder",
     "r/step=5.ckpt/checkpoint/mp_rank_00_model_states.pt "
     "r/step=5.ckpt/latest>checkpoint",
     "c", ""},
    {"its latest names another",
     "r/step=5.ckpt/checkpoint/mp_rank_00_model_states.pt "
     "r/step=5.ckpt/latest>other",
     "i", "other is missing: latest names it"},
    // Ours
    {"no manifest",
     "r/step-5/config.json r/step-5/model.safetensors "
     "r/step-5/state/rank-00000-of-00001.safetensors",
     "i", "muster-checkpoint.json is missing"},
};

TEST(CheckpointJudge, Rows) {
  for (const Row& row : kRows) {
    std::string texts;
    EXPECT_EQ(judged(row.files, &texts), row.states) << row.name << ": " << texts;
    EXPECT_NE(texts.find(row.text), std::string::npos) << row.name << ": " << texts;
  }
}

TEST(CheckpointJudge, SizesOfAListing) {
  const std::string older =
      "r/step-1/.metadata#900 r/step-1/__0_0.distcp#5000000 r/step-1/__1_0.distcp#5000000 ";
  std::string texts;
  EXPECT_EQ(judged(older + "r/step-2/.metadata#900 r/step-2/__0_0.distcp#5000000 "
                           "r/step-2/__1_0.distcp#3000000",
                   &texts),
            "cf");
  EXPECT_NE(texts.find("__1_0.distcp has 3.00 MB, 5.00 MB in step-1"), std::string::npos) << texts;
  EXPECT_EQ(judged(older + "r/step-2/.metadata#900 r/step-2/__0_0.distcp#4999999 "
                           "r/step-2/__1_0.distcp#5000001"),
            "cc");
  // Fewer ranks, once and from then on.
  EXPECT_EQ(judged(older + "r/step-2/.metadata#900 r/step-2/__0_0.distcp#9000000"), "cfu");
  EXPECT_EQ(judged(older + "r/step-2/.metadata#900 r/step-2/__0_0.distcp#9000000 "
                           "r/step-3/.metadata#900 r/step-3/__0_0.distcp#9000000"),
            "ccc");
}

TEST(CheckpointJudge, Manifest) {
  ListedRun run =
      listed_run("r/step-5/config.json r/step-5/muster-checkpoint.json r/step-5/model.safetensors");
  CheckpointManifest manifest;
  manifest.files = {{"config.json", 100, ""}, {"model.safetensors", 100, ""}};
  run.checkpoints[0].files[1].manifest = manifest;
  const auto state = [&run] { return judge_checkpoints(run.checkpoints, {}).each[0].state; };
  EXPECT_EQ(state(), Completeness::complete);
  run.checkpoints[0].files[1].manifest->files[1].bytes = 101;
  EXPECT_EQ(state(), Completeness::torn);
  run.checkpoints[0].files[1].manifest->files[1].name = "other";
  EXPECT_EQ(state(), Completeness::false_complete);
}

TEST(CheckpointJudge, WhatAMetadataOrAnIndexNames) {
  ListedRun run = listed_run(DCP2("5"));
  run.checkpoints[0].files[0].names = {{"__0_0.distcp", 0}, {"__3_0.distcp", 0}};
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::false_complete);
  run.checkpoints[0].files[0].names = {{"__0_0.distcp", 101}};
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::torn);
  run.checkpoints[0].files[0].names = {{"__0_0.distcp", 100}};
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::complete);
  run = listed_run("m/model.safetensors.index.json m/a.safetensors");
  FileFacts* index = &run.checkpoints[0].files[0];
  if (index->kind != FileKind::index) index = &run.checkpoints[0].files[1];
  index->names = {{"a.safetensors", 3}};
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::complete);
  for (FileFacts& file : run.checkpoints[0].files) {
    if (file.kind == FileKind::safetensors) file.tensors = 2;
  }
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::torn);
}

TEST(CheckpointJudge, ShardsWithoutTheirEnd) {
  ListedRun run = listed_run(DCP2("5"));
  for (FileFacts& file : run.checkpoints[0].files) {
    file.ends_like_zip = file.name == "__0_0.distcp";
  }
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::torn);
  // Written by something else than torch.save: no shard has one.
  for (FileFacts& file : run.checkpoints[0].files) file.ends_like_zip = false;
  EXPECT_EQ(judge_checkpoints(run.checkpoints, {}).each[0].state, Completeness::complete);
}

TEST(CheckpointJudge, Age) {
  struct AgeRow {
    const char* name;
    const char* files;
    int seconds;
    Completeness state;
  };
  const char* const kHalf = "r/step-5/__0_0.distcp";
  const AgeRow rows[] = {{"being written", kHalf, 5, Completeness::cannot_tell},
                         {"a clock a little ahead", kHalf, -20, Completeness::cannot_tell},
                         {"a clock hours ahead", kHalf, -7200, Completeness::incomplete},
                         {"long ago", kHalf, 600, Completeness::incomplete},
                         {"whole, just now", DCP2("5"), 5, Completeness::complete},
                         {"marked, just now", "r/step-5/COMPLETE r/step-5/__0_0.distcp", 5,
                          Completeness::false_complete}};
  for (const AgeRow& row : rows) {
    ListedRun run = listed_run(row.files);
    const WallTime now = wall_from_ns(1'700'000'000'000'000'000);
    for (FileFacts& file : run.checkpoints[0].files) {
      file.modified = now - std::chrono::seconds(row.seconds);
    }
    run.facts.now = now;
    EXPECT_EQ(judge_checkpoints(run.checkpoints, run.facts).each[0].state, row.state) << row.name;
  }
}

TEST(CheckpointJudge, LinesOfALog) {
  ListedRun run = listed_run("/c/step_6/COMPLETE /c/step_6/.metadata#9 /c/step_6/__0_0.distcp#9");
  auto line = read_save_line(
      "[14:01:55] rank 6: copy failed: [Errno 28] No space left on device: "
      "'/c/step_6/__6_0.distcp'");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->path, "/c/step_6/__6_0.distcp");
  EXPECT_EQ(line->rank, 6);
  run.facts.lines = {*line};
  Judgement judgement = judge_checkpoints(run.checkpoints, run.facts).each[0];
  EXPECT_EQ(judgement.state, Completeness::false_complete);
  EXPECT_TRUE(judgement.sure);
  // The number of ranks alone is a hint: some may have had nothing to save.
  line = read_save_line("rank 0: checkpoint step_6 complete (world_size=8)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->world, 8u);
  run.facts.lines = {*line};
  judgement = judge_checkpoints(run.checkpoints, run.facts).each[0];
  EXPECT_FALSE(judgement.sure);
  EXPECT_FALSE(read_save_line("step 5 loss 2.1"));
  EXPECT_FALSE(read_save_line("no path: No space left on device"));
}

}  // namespace
}  // namespace muster::checkpoint
