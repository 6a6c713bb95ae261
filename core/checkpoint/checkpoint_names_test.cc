#include "core/checkpoint/checkpoint_names.h"

#include <gtest/gtest.h>

namespace muster::checkpoint {
namespace {

TEST(CheckpointNames, Steps) {
  struct Row {
    const char* name;
    std::optional<std::uint64_t> step;
  };
  const Row rows[] = {{"checkpoint", {}},
                      {"checkpoint-best", {}},
                      {"", {}},
                      {"model-00001-of-00002.safetensors", {}},
                      {"pytorch_model_fsdp_0", {}},
                      {"optimizer_0", {}},
                      {"mp_rank_00", {}},
                      {"runs2024", {}},
                      {"footstep-7", {}},
                      {"step-7b", {}},
                      {"step-99999999999999999999", {}},
                      {"checkpoint-500", 500},
                      {"step_000800", 800},
                      {"step-2000", 2000},
                      {"global_step40", 40},
                      {"iter_0000480", 480},
                      {"epoch=2-step=300.ckpt", 300},
                      {"ep0-ba480-rank0.pt", 480},
                      {"ckpt_500.pt", 500},
                      {"epoch_3", 3},
                      {"480", 480},
                      {"tmp-checkpoint-500", 500},
                      {".saving-step-12", 12},
                      {"step-40.before-1", 40},
                      {"run2-step5", 5}};
  for (const Row& row : rows) EXPECT_EQ(step_of_name(row.name), row.step) << row.name;
}

TEST(CheckpointNames, Temporary) {
  for (const char* name :
       {"tmp-checkpoint-500", ".tmp-12", "step-500.partial-12-0", "x.tmp", ".saving-step-9",
        ".removed-step-9", ".metadata.tmp", "a.incomplete", "500.orbax-checkpoint-tmp-123"}) {
    EXPECT_TRUE(is_temporary_name(name)) << name;
  }
  for (const char* name :
       {"checkpoint-500", "template", "attempt-3", "partial-model", "model.pt"}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

TEST(CheckpointNames, Kinds) {
  struct Row {
    const char* name;
    FileKind kind;
  };
  const Row rows[] = {{"model-00001-of-00002.safetensors", FileKind::safetensors},
                      {"model.safetensors.index.json", FileKind::index},
                      {"pytorch_model.bin.index.json", FileKind::index},
                      {"pytorch_model.bin", FileKind::torch},
                      {"tokens.bin", FileKind::other},
                      {"a/b/optimizer.pt", FileKind::torch},
                      {"__3_0.distcp", FileKind::dcp_shard},
                      {"optimizer_0/.metadata", FileKind::dcp_metadata},
                      {".metadata.tmp", FileKind::temporary},
                      {"trainer_state.json", FileKind::trainer_state},
                      {"muster-checkpoint.json", FileKind::manifest},
                      {"config.json", FileKind::json},
                      {"tokenizer.json", FileKind::other},
                      {"latest", FileKind::tracker},
                      {"latest_checkpointed_iteration.txt", FileKind::tracker},
                      {"COMPLETE", FileKind::marker},
                      {"_SUCCESS", FileKind::marker},
                      {"README.md", FileKind::other}};
  for (const Row& row : rows) EXPECT_EQ(kind_of_file(row.name), row.kind) << row.name;
}

TEST(CheckpointNames, Ranks) {
  EXPECT_EQ(rank_of_file("x/__13_0.distcp"), 13u);
  EXPECT_EQ(rank_of_file("rng_state_3.pth"), 3u);
  EXPECT_EQ(rank_of_file("bf16_zero_pp_rank_7_mp_rank_02_optim_states.pt"), 7u);
  EXPECT_EQ(rank_of_file("ep0-ba480-rank5.pt"), 5u);
  EXPECT_EQ(rank_of_file("optimizer.pt"), std::nullopt);
  EXPECT_EQ(rank_of_file("rng_state.pth"), std::nullopt);
}

TEST(CheckpointNames, Shards) {
  const auto shard = shard_of_file("a/model-00002-of-00014.safetensors");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->family, "a/model-#.safetensors");
  EXPECT_EQ(shard->part, 2u);
  EXPECT_EQ(shard->parts, 14u);
  EXPECT_FALSE(shard_of_file("model.safetensors"));
  EXPECT_FALSE(shard_of_file("one-of-us.pt"));
  EXPECT_FALSE(shard_of_file("-of-"));
}

TEST(CheckpointNames, Parts) {
  EXPECT_EQ(last_part("a/b/"), "b");
  EXPECT_EQ(last_part("b"), "b");
  EXPECT_EQ(folder_part("a/b"), "a");
  EXPECT_EQ(folder_part("/b"), "/");
  EXPECT_EQ(folder_part("b"), "");
}

}  // namespace
}  // namespace muster::checkpoint
