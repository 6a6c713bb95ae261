#pragma once

#include <memory>

#include "base/result.h"
#include "train/comm/communicator.h"
#include "train/comm/join.h"

namespace muster::train {

// Ranks on GPUs through NCCL's C API; built where -DMUSTER_NCCL=DIR names a CUDA toolkit with NCCL.
// What the calls are given is memory of GPU `device`, and the caller's own work on it is done
// (its stream is synchronised) before a call starts. Small ones take and give numbers as ever.
//
// Signatures, deadlines, failures and leaving go over TCP beside it, before NCCL is called: a rank
// that differs is named as over any other way, and NCCL never waits for it. A transfer that hangs
// or fails is aborted on all ranks.
//
// Other than elsewhere, NCCL adds up in its own order, and in bf16 where that is the wire: equal
// from run to run only for the same ranks, machines and build.
Result<std::unique_ptr<Communicator>> join_gpus(const JoinRequest& request,
                                                const CommOptions& options, int device);

}  // namespace muster::train
