#include "core/comms/process_ranks.h"

#include "base/host_name.h"

namespace muster {

ProcessRanks::ProcessRanks(std::span<const RankProcess> processes) {
  std::int64_t largest = 0;
  for (const RankProcess& p : processes) largest = std::max(largest, p.of_ranks);
  for (const RankProcess& p : processes) {
    if (p.of_ranks == 0 || p.of_ranks == largest) add(p.host, p.pid, p.rank);
  }
}

void ProcessRanks::add(std::string_view host, std::int64_t pid, std::int32_t rank) {
  const std::string key = host_key(host);
  if (!key.empty()) hosts_.insert(key);
  by_pid_[pid].emplace(key, rank);
}

std::optional<std::int32_t> ProcessRanks::rank_of(std::string_view host, std::int64_t pid) const {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return std::nullopt;
  const std::string key = host_key(host);
  const std::size_t others = hosts_.size() - hosts_.count(key);
  const bool several = hosts_.size() > 1 || (!key.empty() && others > 0);
  std::set<std::int32_t> ranks;
  for (const auto& [of_host, rank] : found->second) {
    const bool unknown = !several && (key.empty() || of_host.empty());
    if (of_host == key || unknown) ranks.insert(rank);
  }
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

}  // namespace muster
