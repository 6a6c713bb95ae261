#pragma once

#include <cstdint>
#include <string>

#include "app/open_pack.h"
#include "app/token_progress.h"
#include "base/result.h"
#include "core/blocks/step_plan.h"

namespace muster {

// A pack in the forms of others; `convert_pack()` has the rules.

// `folder`/rankNN.i32: for each rank its blocks of all steps, in the order in which it reads them.
Status export_ranks(const OpenPack& pack, const blocks::StepPlan& plan, std::uint64_t seed,
                    std::uint64_t epoch, const std::string& folder, const TokenProgress& progress);
// `prefix`.bin and .idx: a sequence for each piece, and for what stands behind the last end of
// concat; without ends one for each block. Padding is left out. u16 where the vocabulary is below
// 65,500, as Megatron does, else i32. Where not all tokens are trained, `prefix`_loss_mask.bin and
// .idx as well.
Status export_megatron(const OpenPack& pack, const std::string& prefix,
                       const TokenProgress& progress);
// N rows of L ids.
Status export_numpy(const OpenPack& pack, const std::string& path, const TokenProgress& progress);

}  // namespace muster
