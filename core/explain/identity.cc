#include "core/explain/identity.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::int32_t kTwoRanks = -1;  // one pid, two ranks: containers count by themselves

template <typename Key, typename Value>
void learn(std::map<Key, Value>& map, const Key& key, const Value& value,
           const Value& nothing = {}) {
  const auto [it, added] = map.emplace(key, value);
  if (!added && it->second != value) it->second = nothing;
}

}  // namespace

std::string pci_key(std::string_view pci) {
  std::string low = to_lower(trim(pci));
  if (low.starts_with("pci:")) low.erase(0, 4);
  const auto hex = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f');
    });
  };
  auto pieces = split(low, ':');
  if (pieces.size() == 2 && pieces[0].size() == 2) pieces.insert(pieces.begin(), "0000");
  if (pieces.size() != 3 || !hex(pieces[0]) || !hex(pieces[1])) return "";
  const auto device = split(pieces[2], '.');
  if (device.size() > 2 || !hex(device[0]) || device[0].size() != 2) return "";
  std::string domain(pieces[0]);
  if (domain.size() == 8 && domain.starts_with("0000")) domain.erase(0, 4);
  const std::string function(device.size() == 2 ? device[1] : "0");
  return domain + ":" + std::string(pieces[1]) + ":" + std::string(device[0]) + "." + function;
}

std::string address_of(std::string_view peer) {
  peer = trim(peer);
  peer = peer.substr(0, peer.find('<'));
  if (peer.starts_with('[')) return std::string(peer.substr(1, peer.find(']') - 1));
  if (std::count(peer.begin(), peer.end(), ':') == 1) peer = peer.substr(0, peer.find(':'));
  return std::string(peer);
}

bool is_loopback(std::string_view peer) {
  const std::string address = to_lower(address_of(peer));
  return address.starts_with("127.") || address.starts_with("localhost") || address == "::1" ||
         address == "0.0.0.0" || address == "::" || address.starts_with("::ffff:127.");
}

bool names_task(const LogEvent& event) {
  for (const std::string_view mark : {": task ", ": tasks "}) {
    const std::size_t at = event.text.find(mark);
    if (at == std::string::npos || at + mark.size() >= event.text.size()) continue;
    if (is_digit(event.text[at + mark.size()])) return true;
  }
  return false;
}

Identity::Identity(const ExplainInput& input) {
  for (const LogSource& source : input.sources) {
    const std::string host = name(source.host);
    if (!source.rank || *source.rank < 0 || *source.rank > limits::kRanks) continue;
    ranks_.insert(*source.rank);
    world_ = std::max(world_.value_or(0), *source.rank + 1);
    if (!host.empty()) learn(host_of_rank_, *source.rank, host);
  }
  for (const SiteFact& fact : input.facts) take_fact(fact);
  std::map<std::string_view, const LogSource*> sources;
  for (const LogSource& source : input.sources) sources.emplace(source.name, &source);
  for (const LogEvent& event : input.events) {
    const auto it = sources.find(event.source);
    take_event(event, it == sources.end() ? nullptr : it->second);
  }
  // A map of ranks that has no hole tells how many there are.
  std::int32_t next = 0;
  for (const auto& [rank, host] : host_of_rank_) next += rank == next ? 1 : 0;
  if (next > 0 && next == static_cast<std::int32_t>(host_of_rank_.size()) && !world_) world_ = next;
}

std::string Identity::name(std::string_view host) {
  if (host.empty()) return "";
  return hosts_.emplace(host_key(host), std::string(host)).first->second;
}

void Identity::take_fact(const SiteFact& fact) {
  name(fact.host);  // known from now on
  if (const auto* address = std::get_if<HostAddress>(&fact.value)) {
    learn(addresses_, to_lower(address->address), name(address->host));
  } else if (const auto* place = std::get_if<RankPlace>(&fact.value)) {
    const std::string on = name(place->host);
    const std::int32_t last = std::min(place->last, limits::kRanks);
    for (std::int32_t rank = std::max(place->first, 0); rank <= last; ++rank) {
      if (++places_ > limits::kRankPlaces) return;
      ranks_.insert(rank);
      if (!on.empty()) learn(host_of_rank_, rank, on);
      if (place->first == place->last && !place->pci.empty()) {
        learn(pci_of_rank_, rank, pci_key(place->pci));
      }
    }
  } else if (const auto* setting = std::get_if<Setting>(&fact.value)) {
    const std::string key = to_lower(setting->name);
    const auto value = parse_int(setting->value);
    if ((key == "world_size" || key == "ntasks") && value && *value > 0 &&
        *value < limits::kRanks) {
      world_ = static_cast<std::int32_t>(*value);
    }
  }
}

void Identity::take_event(const LogEvent& event, const LogSource* source) {
  std::string host = name(event.host);
  if (host.empty() && source != nullptr) host = name(source->host);
  std::optional<std::int32_t> rank = event.rank;
  if (!rank && source != nullptr) rank = source->rank;
  const auto size = parse_int(event.word("nranks"));
  if (size && *size > 1 && *size < limits::kRanks) {
    world_ = std::max(world_.value_or(0), static_cast<std::int32_t>(*size));
  }
  if (!rank || *rank < 0 || *rank > limits::kRanks || names_task(event)) return;
  ranks_.insert(*rank);
  if (!event.host.empty()) learn(host_of_rank_, *rank, host);
  if (event.pid) {
    learn(rank_of_process_, {*event.pid, host_key(host)}, *rank, kTwoRanks);
  }
  const std::string pci = pci_key(event.word("pci"));
  if (!pci.empty()) learn(pci_of_rank_, *rank, pci);
}

std::string Identity::host_of_rank(std::int32_t rank) const {
  const auto it = host_of_rank_.find(rank);
  return it == host_of_rank_.end() ? "" : it->second;
}

std::string Identity::pci_of_rank(std::int32_t rank) const {
  const auto it = pci_of_rank_.find(rank);
  return it == pci_of_rank_.end() ? "" : it->second;
}

std::optional<std::int32_t> Identity::rank_of_process(std::string_view host,
                                                      std::int64_t pid) const {
  std::optional<std::int32_t> found;
  for (auto it = rank_of_process_.lower_bound({pid, ""});
       it != rank_of_process_.end() && it->first.first == pid; ++it) {
    const auto& [key, rank] = *it;
    // Where there are several hosts, a pid of one says nothing of a rank on an unknown one.
    const bool unplaced = key.second.empty() && hosts_.size() <= 1;
    if (!host.empty() && key.second != host_key(host) && !unplaced) continue;
    if (rank == kTwoRanks || (found && *found != rank)) return std::nullopt;
    found = rank;
  }
  return found;
}

std::optional<std::int32_t> Identity::rank_of_gpu(std::string_view host,
                                                  std::string_view pci) const {
  const std::string key = pci_key(pci);
  std::optional<std::int32_t> found;
  for (const auto& [rank, of_rank] : pci_of_rank_) {
    if (key.empty() || of_rank != key) continue;
    const std::string on = host_of_rank(rank);
    if (!host.empty() && !on.empty() && host_key(on) != host_key(host)) continue;
    if (found) return std::nullopt;
    found = rank;
  }
  return found;
}

std::string Identity::host_of_peer(std::string_view peer) const {
  const std::string address = to_lower(address_of(peer));
  if (address.empty()) return "";
  const auto by_address = addresses_.find(address);
  if (by_address != addresses_.end()) return by_address->second;
  const auto by_name = hosts_.find(host_key(address));
  if (by_name != hosts_.end()) return by_name->second;
  // A name of a host with that of its adapter behind it.
  for (std::size_t dash = address.rfind('-'); dash != address.npos && dash > 0;
       dash = address.rfind('-', dash - 1)) {
    const auto host = hosts_.find(address.substr(0, dash));
    if (host != hosts_.end()) return host->second;
  }
  return "";
}

std::vector<std::int32_t> Identity::ranks_on(std::string_view host) const {
  std::vector<std::int32_t> out;
  for (const auto& [rank, on] : host_of_rank_) {
    if (!on.empty() && host_key(on) == host_key(host)) out.push_back(rank);
  }
  return out;
}

}  // namespace muster
