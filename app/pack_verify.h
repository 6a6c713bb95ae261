#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/token_progress.h"
#include "base/result.h"
#include "core/model/finding.h"

namespace muster {

struct PackVerifyRequest {
  std::string folder;
  // The step of the run; what is not given is taken from the manifest, and where it says nothing
  // steps are not proved.
  std::optional<std::uint64_t> global_batch;
  std::uint64_t micro_batch = 1;
  std::uint64_t seed = 0, epoch = 0;
  // For the gate, on every host: the manifest, the sizes of all files, and the hashes of 64 random
  // blocks; no proof but the number of steps. Well below a second.
  bool quick = false;
  std::uint64_t sample = 0;     // which blocks `quick` takes: another number each time finds more
  unsigned threads = 0;         // 0: as many as there are cores
  TokenProgress progress = {};  // of a full one
};

struct PackVerdict {
  // A line that is the same on all hosts that see the same pack, and in all runs over it.
  std::string line;
  // One finding: `healthy`, or what is wrong. Fails that are of the machine (no permission, a disk)
  // are an Error of the call instead.
  Report report;
};

// Errc::not_found where there is no manifest; Errc::invalid_input where the step does not fit.
Result<PackVerdict> verify_pack(const PackVerifyRequest& request);

}  // namespace muster
