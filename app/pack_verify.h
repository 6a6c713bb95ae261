#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/token_progress.h"
#include "base/result.h"
#include "core/blocks/step_plan.h"
#include "core/model/finding.h"

namespace muster {

struct PackVerifyRequest {
  std::string folder;
  // The step of the run; what is not given is taken from the manifest, and where it says nothing
  // steps are not proved.
  std::optional<std::uint64_t> global_batch;
  std::optional<blocks::Remainder> remainder;
  std::uint64_t micro_batch = 1;
  std::uint64_t seed = 0, epoch = 0;
  // For the gate, on every host: the manifest, the sizes of all files, and the hashes of 64 random
  // blocks; no proof but the number of steps. Well below a second.
  bool quick = false;
  // That of the pack, a tokenizer.json or its folder: documents that `seed` draws are compared with
  // the inputs (pack_samples.h). Empty: none is. Not with `quick`.
  std::string tokenizer;
  std::uint64_t sample = 0;     // which blocks `quick` takes: another number each time finds more
  unsigned threads = 0;         // 0: as many as there are cores
  TokenProgress progress = {};  // of a full one
};

struct PackVerdict {
  // A line that is the same on all hosts that see the same pack, and in all runs over it. Empty
  // where the answer is another than that all is sound and was looked at.
  std::string line;
  // One finding: `healthy`, or what is wrong, or `undetermined` where inputs are blind. Fails that
  // are of the machine (no permission, a disk) are an Error of the call instead.
  Report report;
};

// Errc::not_found where there is no manifest; Errc::invalid_input where the step does not fit.
Result<PackVerdict> verify_pack(const PackVerifyRequest& request);

}  // namespace muster
