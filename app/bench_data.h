#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "app/data_arms.h"
#include "core/storage/data_path.h"
#include "edge/os/clock.h"
#include "edge/storage/disk.h"

namespace muster {

struct BenchDataRequest {
  TextArm text;
  std::string pack;  // the folder of a pack
  // Blocks of one step over all ranks that this host feeds; nothing: what the manifest says, else
  // 128, as 16 ranks with 8 micro steps have.
  std::optional<std::uint64_t> global_batch;
  std::optional<double> step_seconds;
  Duration length = std::chrono::seconds(5);  // of each arm, at most
  std::stop_token stop;
  Duration patience = std::chrono::seconds(30);  // with reads that do not end
  std::function<void(const std::string& what, std::uint64_t parts)> progress;
};

// Measures both ways of the data into a step, cold and warm: what is read was dropped from the page
// cache before a cold arm, and read once before a warm one, and both are proven. An arm that cannot
// be measured says why. Errc::invalid_input where the pack has fewer blocks than one step, and
// Errc::timeout where reads hang; an input or a pack that cannot be read is the answer as well.
// `files`, `disk` and `clock` outlive what hangs.
Result<storage::DataAnswer> bench_data(const BenchDataRequest& request,
                                       const PackVocabulary& vocabulary, Files& files,
                                       storage::Disk& disk, Clock& clock);

}  // namespace muster
