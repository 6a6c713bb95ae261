#include "core/checkpoint/checkpoint_groups.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace muster::checkpoint {
namespace {

// "PATH:MEMBERS" of each group, then "trackers:N".
std::string grouped(std::string_view words, std::size_t below = 0) {
  std::vector<FoundPath> paths;
  for (const std::string_view word : split(words, ' ')) {
    const bool folder = word.ends_with('/');
    paths.push_back({std::string(folder ? word.substr(0, word.size() - 1) : word), below, folder});
  }
  const CheckpointGroups groups = group_checkpoints(paths);
  std::string out;
  for (const CheckpointGroup& group : groups.groups) {
    out +=
        group.path + ":" + std::to_string(group.members.size()) + (group.single_file ? "f " : " ");
  }
  return out + "t" + std::to_string(groups.trackers.size());
}

TEST(CheckpointGroups, Rows) {
  struct Row {
    const char *name, *paths, *groups;
  };
  const Row rows[] = {
      {"nothing of a checkpoint", "r/a.log r/b/c.txt r/runs/events.1", "t0"},
      {"a folder for each step", "r/step-1/a.distcp r/step-1/.metadata r/step-2/a.distcp r/latest",
       "r/step-1:2 r/step-2:1 t1"},
      {"an empty folder of a step", "r/step-1/ r/step-2/a.distcp", "r/step-1:0 r/step-2:1 t0"},
      {"an empty folder of another name", "r/logs/ r/step-2/a.distcp", "r/step-2:1 t0"},
      {"an attempt of a run beside its checkpoints",
       "r/attempts/1/heartbeat/rank-0 r/attempts/1/flight/rank-0 r/attempts/1/ "
       "r/checkpoints/step-2/a.distcp",
       "r/checkpoints/step-2:1 t0"},
      {"versions of a logger", "r/logs/version_0/metrics.csv r/logs/0/events.1 r/logs/1/", "t0"},
      {"steps that are numbers", "r/500/model.safetensors r/500/x.log r/600/ r/700/a.pt",
       "r/500:2 r/700:1 t0"},
      {"steps inside of an epoch", "r/epoch_0/step_5/a.pt r/epoch_0/step_9/a.pt",
       "r/epoch_0/step_5:1 r/epoch_0/step_9:1 t0"},
      {"a step inside of the same step",
       "r/checkpoint-5/trainer_state.json r/checkpoint-5/global_step5/mp_rank_00_model_states.pt",
       "r/checkpoint-5:2 t0"},
      {"a run whose name tells a step", "exp-step2/checkpoint-5/a.pt exp-step2/checkpoint-6/a.pt",
       "exp-step2/checkpoint-5:1 exp-step2/checkpoint-6:1 t0"},
      {"an export beside checkpoints",
       "r/model.safetensors r/config.json r/checkpoint-5/a.pt r/x.log", "r:3 r/checkpoint-5:1 t0"},
      {"a tracker beside an export",
       "r/model.safetensors r/latest r/global_step5/mp_rank_00_model_states.pt",
       "r:1 r/global_step5:1 t1"},
      {"parts below one folder", "m/pytorch_model_fsdp_0/.metadata m/optimizer_0/.metadata",
       "m:2 t0"},
      {"files of steps", "r/epoch=0-step=5.ckpt r/epoch=0-step=9.ckpt r/last.ckpt",
       "r/epoch=0-step=5.ckpt:1f r/epoch=0-step=9.ckpt:1f r/last.ckpt:1f t0"},
      {"a file of each rank", "r/ep0-ba5-rank0.pt r/ep0-ba5-rank1.pt", "r/ep0-ba5-rank*.pt:2f t0"},
      {"a file of one rank", "r/ep0-ba5-rank0.pt", "r/ep0-ba5-rank0.pt:1f t0"},
      {"a save under way", "r/tmp-checkpoint-5/model.safetensors", "r/tmp-checkpoint-5:1 t0"},
      {"Megatron",
       "r/iter_0000005/mp_rank_00/model_optim_rng.pt r/latest_checkpointed_iteration.txt",
       "r/iter_0000005:1 t1"},
  };
  for (const Row& row : rows) EXPECT_EQ(grouped(row.paths), row.groups) << row.name;
}

TEST(CheckpointGroups, FoldersAboveThePathDoNotCount) {
  EXPECT_EQ(grouped("data/step-9/run/step-1/a.pt data/step-9/run/step-2/a.pt", 15),
            "data/step-9/run/step-1:1 data/step-9/run/step-2:1 t0");
  EXPECT_EQ(grouped("r/step-1/model.safetensors", 26), "r/step-1/model.safetensors:1f t0");
}

}  // namespace
}  // namespace muster::checkpoint
