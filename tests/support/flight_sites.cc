#include "tests/support/flight_sites.h"

#include <array>
#include <string>

namespace muster {
namespace {

using Frames = std::vector<FlightFrame>;

FlightFrame torch(const char* function, const char* file, std::int64_t line) {
  return {function, std::string("/opt/venv/lib/python3.11/site-packages/torch/") + file, line};
}
FlightFrame user(const char* function, const char* file, std::int64_t line) {
  return {function, std::string("/srv/job/") + file, line};
}

Frames operator+(Frames a, const Frames& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Frames c10d(const char* function, std::int64_t line) {
  return {torch(function, "distributed/distributed_c10d.py", line),
          torch("wrapper", "distributed/c10d_logger.py", 81)};
}

Frames train_loop(std::int64_t line) {
  return {user("train", "train.py", line), user("main", "train.py", 402),
          user("<module>", "train.py", 418)};
}

Frames forward(std::int64_t layer_line) {
  return Frames{user("forward", "model.py", layer_line),
                torch("_call_impl", "nn/modules/module.py", 1784), user("forward", "model.py", 233),
                torch("_call_impl", "nn/modules/module.py", 1784),
                user("train_step", "train.py", 187)} +
         train_loop(291);
}

// Called from the thread of the autograd engine: nothing of the user is on that stack.
Frames engine() {
  return {torch("backward", "distributed/fsdp/_fully_shard/_fsdp_param_group.py", 805),
          torch("apply", "autograd/function.py", 307)};
}

Frames stage(const char* function, std::int64_t line) {
  return c10d("batch_isend_irecv", 2707) +
         Frames{user("exchange", "pipeline.py", 71), user(function, "pipeline.py", line),
                user("run_schedule", "pipeline.py", 233), user("train_step", "train.py", 193)} +
         train_loop(291);
}

Frames shard_frames(CallSite site) {
  const FlightFrame unshard =
      torch("unshard", "distributed/fsdp/_fully_shard/_fsdp_param_group.py", 340);
  const Frames gather = c10d("all_gather_into_tensor", 4005) + Frames{unshard};
  switch (site) {
    case CallSite::shard_gather_forward:
      return gather + forward(118);
    case CallSite::shard_gather_backward:
      return gather + engine();
    case CallSite::eval_gather:
      return gather +
             Frames{user("forward", "model.py", 118), user("evaluate", "evaluate.py", 44)} +
             train_loop(331);
    default:
      return c10d("reduce_scatter_tensor", 4430) +
             Frames{
                 torch("foreach_reduce", "distributed/fsdp/_fully_shard/_fsdp_collectives.py", 520),
                 torch("post_backward", "distributed/fsdp/_fully_shard/_fsdp_param_group.py",
                       467)} +
             engine();
  }
}

Frames model_frames(CallSite site) {
  switch (site) {
    case CallSite::replica_reduce:
      return c10d("all_reduce", 2962) +
             Frames{torch("foreach_reduce", "distributed/fsdp/_fully_shard/_fsdp_collectives.py",
                          561)} +
             engine();
    case CallSite::bucket_reduce:
      return {torch("backward", "_tensor.py", 648), user("train_step", "train.py", 201),
              user("train", "train.py", 291), user("main", "train.py", 402)};
    case CallSite::tensor_forward:
      return c10d("all_reduce", 2962) + Frames{user("forward", "parallel.py", 64)} + forward(126);
    case CallSite::tensor_backward:
      return c10d("all_reduce", 2962) + Frames{user("backward", "parallel.py", 82),
                                               torch("apply", "autograd/function.py", 307)};
    case CallSite::expert_dispatch:
      return c10d("all_to_all_single", 4680) + Frames{user("dispatch", "experts.py", 141)} +
             forward(131);
    case CallSite::expert_combine:
      return c10d("all_to_all_single", 4680) + Frames{user("combine", "experts.py", 176)} +
             forward(132);
    case CallSite::context_forward:
      return c10d("all_gather_into_tensor", 4005) + Frames{user("gather_keys", "context.py", 38)} +
             forward(122);
    default:
      return c10d("reduce_scatter_tensor", 4430) +
             Frames{user("backward", "context.py", 57),
                    torch("apply", "autograd/function.py", 307)};
  }
}

Frames loop_frames(CallSite site) {
  const Frames reduce = c10d("all_reduce", 2962), barrier = c10d("barrier", 4897);
  const auto step = [](const char* function, std::int64_t line) {
    return Frames{user(function, "train.py", line)};
  };
  const auto save = [](std::int64_t line) {
    return Frames{user("save_checkpoint", "checkpoint.py", line)};
  };
  switch (site) {
    case CallSite::grad_norm:
      return reduce + step("clip_grad_norm", 143) + train_loop(296);
    case CallSite::overflow_check:
      return reduce + step("found_inf", 151) + train_loop(297);
    case CallSite::metrics:
      return reduce + step("log_metrics", 166) + train_loop(312);
    case CallSite::checkpoint_before:
      return barrier + save(58) + train_loop(321);
    case CallSite::checkpoint_after:
      return barrier + save(97) + train_loop(321);
    case CallSite::eval_loss:
      return reduce + Frames{user("evaluate", "evaluate.py", 61)} + train_loop(331);
    case CallSite::new_group_use:
      return reduce + Frames{user("sync_statistics", "statistics.py", 27)} + train_loop(336);
    case CallSite::final_save:
      return barrier + save(58) + train_loop(352);
    case CallSite::final_reduce:
      return reduce + step("report_totals", 171) + train_loop(349);
    case CallSite::lone_metric:
      return reduce + step("log_samples", 179) + train_loop(316);
    default:
      return c10d("broadcast", 2880) + step("pick_branch", 159) + train_loop(299);
  }
}

Frames make_frames(CallSite site) {
  switch (site) {
    case CallSite::none:
      return {};
    case CallSite::shard_gather_forward:
    case CallSite::shard_gather_backward:
    case CallSite::eval_gather:
    case CallSite::shard_reduce:
      return shard_frames(site);
    case CallSite::stage_send_forward:
      return stage("send_forward", 112);
    case CallSite::stage_receive_forward:
      return stage("receive_forward", 96);
    case CallSite::stage_send_backward:
      return stage("send_backward", 140);
    case CallSite::stage_receive_backward:
      return stage("receive_backward", 127);
    case CallSite::replica_reduce:
    case CallSite::bucket_reduce:
    case CallSite::tensor_forward:
    case CallSite::tensor_backward:
    case CallSite::expert_dispatch:
    case CallSite::expert_combine:
    case CallSite::context_forward:
    case CallSite::context_backward:
      return model_frames(site);
    default:
      return loop_frames(site);
  }
}

}  // namespace

const std::vector<FlightFrame>& frames_of(CallSite site) {
  static const std::array<Frames, kCallSites> kFrames = [] {
    std::array<Frames, kCallSites> all;
    for (std::size_t i = 0; i < kCallSites; ++i) all[i] = make_frames(static_cast<CallSite>(i));
    return all;
  }();
  return kFrames[static_cast<std::size_t>(site)];
}

}  // namespace muster
