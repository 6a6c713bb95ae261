#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::blocks {

// All that a checkpoint must hold of the data path (docs/FORMATS.md, muster.pack_state/1): no rank,
// no worker, no world size. A run goes on from it with any world size that the plan allows.
struct ResumeState {
  std::string manifest;  // PackManifest's identity: the data that the steps were taken of
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;          // the next one, of this epoch
  std::uint64_t global_batch = 0;  // G: what a step means

  bool operator==(const ResumeState&) const = default;
};

std::string encode_resume_state(const ResumeState& state);
Result<ResumeState> decode_resume_state(std::string_view bytes);

// Whether a run over `manifest` with `global_batch` and `steps` an epoch may go on from `state`.
// Errc::invalid_input with the reason: a state of other data would skip blocks that were never
// seen.
Status check_resume(const ResumeState& state, std::string_view manifest, std::uint64_t global_batch,
                    std::uint64_t steps);

}  // namespace muster::blocks
