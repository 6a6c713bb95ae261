#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/storage/storage_answer.h"
#include "edge/os/clock.h"
#include "edge/storage/disk.h"

namespace muster {

struct BenchProgress {
  std::string what;         // "writing", "cold", "fio 3 of 7: cold"
  std::uint64_t bytes = 0;  // of it, so far
  Duration since{};         // its start
};

struct BenchStorageRequest {
  std::string path;  // a folder: a file of our own in it; a file: that one, read only
  std::uint64_t bytes = 4ULL << 30;
  std::uint32_t streams = 8;
  Duration length = std::chrono::seconds(3);  // of each row but `cold`
  std::optional<storage::Demand> demand;
  bool against_fio = false;
  std::stop_token stop;
  Duration patience = std::chrono::seconds(30);  // with a read that does not end
  std::function<void(const BenchProgress&)> progress;
};

// Measures the five rows on a path. A row that cannot be measured says why and leaves the others
// alone, but after one that hangs nothing more is tried. Stopped, the answer has what was measured
// before. An error is for what stands before all rows: a path that is not there, no space, a file
// that is too small.
//
// Nothing stays behind: the file has no name, so that even a killed process leaves none.
// `disk` and `clock` outlive what hangs: those of the machine live as long as the process.
Result<storage::StorageAnswer> bench_storage(const BenchStorageRequest& request,
                                             storage::Disk& disk, Clock& clock);

}  // namespace muster
