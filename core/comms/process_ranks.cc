#include "core/comms/process_ranks.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

// Addresses stay whole.
std::string host_key(std::string_view host) {
  const bool name = host.find_first_not_of("0123456789.:") != std::string_view::npos;
  return to_lower(name ? host.substr(0, host.find('.')) : host);
}

}  // namespace

ProcessRanks::ProcessRanks(std::span<const RankProcess> processes) {
  std::int64_t largest = 0;
  for (const RankProcess& p : processes) largest = std::max(largest, p.of_ranks);
  for (const RankProcess& p : processes) {
    if (p.of_ranks == 0 || p.of_ranks == largest) add(p.host, p.pid, p.rank);
  }
}

void ProcessRanks::add(std::string_view host, std::int64_t pid, std::int32_t rank) {
  by_pid_[pid].emplace(host_key(host), rank);
}

std::optional<std::int32_t> ProcessRanks::rank_of(std::string_view host, std::int64_t pid) const {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return std::nullopt;
  std::set<std::int32_t> ranks;
  for (const auto& [of_host, rank] : found->second) {
    if (host.empty() || of_host.empty() || of_host == host_key(host)) ranks.insert(rank);
  }
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

}  // namespace muster
