#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/comms/watchdog_reader.h"

namespace muster {

// Which rank a process of the job has, from what lines of all its logs show. Of communicators only
// the largest is the job.
class ProcessRanks {
 public:
  explicit ProcessRanks(std::span<const RankProcess> processes);

  void add(std::string_view host, std::int64_t pid, std::int32_t rank);
  // Absent where two have that number, and where one of them names no host and several are known:
  // their kernels count alike. "n3" and "n3.cluster.example" are one host.
  std::optional<std::int32_t> rank_of(std::string_view host, std::int64_t pid) const;

 private:
  std::map<std::int64_t, std::set<std::pair<std::string, std::int32_t>>> by_pid_;
  std::set<std::string> hosts_;
};

}  // namespace muster
