#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

struct PackCheckRequest {
  std::vector<std::string> paths;  // per-rank files of ids, or folders of them
  std::uint64_t block_tokens = 2048;
  std::uint64_t micro_batch = 1;
  std::uint64_t accumulation = 1;
};

// What per-rank files of an older packer (rank_file.h) mean for a run over them. Only sizes are
// looked at: floor(bytes / 4 / block) blocks a file.
struct PackCheck {
  std::uint64_t ranks = 0;
  std::uint64_t least_blocks = 0, most_blocks = 0, total_blocks = 0;
  std::uint64_t least_steps = 0, most_steps = 0;
  std::uint64_t left_blocks = 0;       // that nobody reads where every rank stops at least_steps
  std::uint64_t left_of_one_list = 0;  // with one list for all ranks instead
  std::uint64_t torn_bytes = 0;        // behind the last whole block of each file
  Report report;
};

// Fails where no such file is among the paths, or several are of one rank.
Result<PackCheck> check_rank_files(const PackCheckRequest& request, Files& files);

}  // namespace muster
