#pragma once

#include <cstdint>
#include <vector>

#include "core/flight/dump.h"

// The call stacks of the SIMULATED trainer: who calls which collective, from which line. Part of
// flight_simulator.h.

namespace muster {

enum class CallSite : std::uint8_t {
  none,  // the stack could not be had
  shard_gather_forward,
  shard_gather_backward,
  shard_reduce,
  replica_reduce,
  bucket_reduce,
  tensor_forward,
  tensor_backward,
  expert_dispatch,
  expert_combine,
  context_forward,
  context_backward,
  stage_send_forward,
  stage_receive_forward,
  stage_send_backward,
  stage_receive_backward,
  grad_norm,
  overflow_check,
  metrics,
  checkpoint_before,
  checkpoint_after,
  eval_gather,
  eval_loss,
  new_group_use,
  final_save,
  final_reduce,
  lone_metric,  // "if rank == 0", forgotten
  other_branch,
};
inline constexpr std::size_t kCallSites = 28;

// Innermost frame first.
const std::vector<FlightFrame>& frames_of(CallSite site);

}  // namespace muster
