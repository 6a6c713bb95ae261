#include "core/telemetry/fleet.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

// The strongest name that the key carries, as text.
std::string strongest(const SeriesKey& key, std::string_view host) {
  const char kind = static_cast<char>('0' + static_cast<int>(key.kind));
  if (!key.uuid.empty()) return fmt::format("{}u{}/{}", kind, host, key.uuid);
  if (!key.pci.empty()) return fmt::format("{}p{}/{}", kind, host, normalize_pci(key.pci));
  if (!key.device.empty()) return fmt::format("{}d{}/{}", kind, host, key.device);
  if (key.index) return fmt::format("{}i{}/{}", kind, host, *key.index);
  if (key.rank) return fmt::format("{}r{}/{}", kind, host, *key.rank);
  return fmt::format("{}h{}", kind, host);
}

bool is_hex(std::string_view s) {
  return parse_hex("0x" + std::string(s)).has_value();
}

}  // namespace

std::string normalize_pci(std::string_view pci) {
  pci = trim(pci);
  if (pci.size() > 32) return {};
  if (pci.starts_with("PCI:") || pci.starts_with("pci:")) pci.remove_prefix(4);
  if (const std::size_t dot = pci.rfind('.'); dot != std::string_view::npos)
    pci = pci.substr(0, dot);
  auto parts = split(pci, ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0000");
  if (parts.size() != 3) return {};
  for (const std::string_view part : parts) {
    if (!is_hex(part)) return {};
  }
  if (parts[1].size() != 2 || parts[2].size() != 2 || parts[0].size() > 8) return {};
  const std::uint64_t domain = *parse_hex("0x" + std::string(parts[0]));
  return to_lower(domain > 0xFFFF ? fmt::format("{:08x}:{}:{}", domain, parts[1], parts[2])
                                  : fmt::format("{:04x}:{}:{}", domain, parts[1], parts[2]));
}

bool Fleet::same(SeriesId id, const SeriesKey& key, std::string_view host) const {
  const SeriesIdentity& s = series_[id];
  if (s.kind != key.kind || s.host != host) return false;
  if (!key.uuid.empty() || !s.uuid.empty()) return s.uuid == key.uuid;
  if (!key.pci.empty() || !s.pci.empty()) return false;  // spelling varies: take the slow path
  return s.device == key.device && s.index == key.index && s.rank == key.rank;
}

std::optional<SeriesId> Fleet::resolve(const SeriesKey& key, std::string_view default_host) {
  std::string_view host = key.host.empty() ? default_host : key.host;
  if (host.empty()) host = "this";
  if (!series_.empty()) {
    const SeriesId guess = next_[last_];
    if (same(guess, key, host)) {
      last_ = guess;
      learn(guess, key);
      return guess;
    }
  }
  std::string text = strongest(key, host);
  SeriesId id = 0;
  if (const auto it = by_key_.find(text); it != by_key_.end()) {
    id = it->second;
    learn(id, key);
  } else {
    if (series_.size() >= limits::kSeries) return std::nullopt;
    id = add(key, host, std::move(text));
  }
  next_[last_] = id;
  last_ = id;
  return id;
}

SeriesId Fleet::add(const SeriesKey& key, std::string_view host, std::string key_text) {
  // A GPU first known by index or PCI address alone becomes known by UUID: the same series, if no
  // other UUID has claimed it.
  if (key.kind == SeriesKind::gpu && (!key.uuid.empty() || !key.pci.empty())) {
    SeriesKey weaker = key;
    weaker.uuid = {};
    for (int pass = 0; pass < 2; ++pass, weaker.pci = {}) {
      if (weaker.pci.empty() && !weaker.index) continue;
      const auto it = by_key_.find(strongest(weaker, host));
      if (it == by_key_.end() || !series_[it->second].uuid.empty()) continue;
      if (!key.pci.empty() && !series_[it->second].pci.empty() &&
          series_[it->second].pci != normalize_pci(key.pci)) {
        continue;
      }
      by_key_.emplace(std::move(key_text), it->second);
      learn(it->second, key);
      return it->second;
    }
  }
  const auto id = static_cast<SeriesId>(series_.size());
  SeriesIdentity identity;
  identity.kind = key.kind;
  identity.host = host;
  series_.push_back(std::move(identity));
  next_.push_back(0);
  by_key_.emplace(std::move(key_text), id);
  learn(id, key);
  if (key.kind == SeriesKind::gpu) {
    // Later rows may know it by less: the PCI address or the index alone. The newest claim wins.
    SeriesKey weaker = key;
    weaker.uuid = {};
    if (!weaker.pci.empty()) by_key_.insert_or_assign(strongest(weaker, host), id);
    weaker.pci = {};
    if (weaker.index) by_key_.insert_or_assign(strongest(weaker, host), id);
  }
  return id;
}

void Fleet::learn(SeriesId id, const SeriesKey& key) {
  SeriesIdentity& s = series_[id];
  if (s.uuid.empty() && !key.uuid.empty()) s.uuid = key.uuid;
  if (s.pci.empty() && !key.pci.empty()) s.pci = normalize_pci(key.pci);
  if (key.index) s.index = key.index;
  if (key.rank) s.rank = key.rank;
  if (s.name.empty() && !key.name.empty()) s.name = key.name;
  if (s.device.empty() && !key.device.empty()) s.device = key.device;
  if (s.group.empty() && !key.group.empty()) s.group = key.group;
}

Culprit Fleet::culprit(SeriesId id) const {
  const SeriesIdentity& s = series_[id];
  switch (s.kind) {
    case SeriesKind::port:
      return {CulpritKind::port, s.host + "/" + s.device};
    case SeriesKind::node:
      return {CulpritKind::host, s.host};
    case SeriesKind::task:
      if (s.rank) return {CulpritKind::rank, std::to_string(*s.rank)};
      return {CulpritKind::host, s.host};
    case SeriesKind::gpu:
      break;
  }
  if (s.index) return {CulpritKind::gpu, fmt::format("{}/{}", s.host, *s.index)};
  if (!s.pci.empty()) return {CulpritKind::gpu, fmt::format("{}/{}", s.host, s.pci)};
  if (!s.uuid.empty()) return {CulpritKind::gpu, fmt::format("{}/{}", s.host, s.uuid)};
  if (s.rank) return {CulpritKind::rank, std::to_string(*s.rank)};
  return {CulpritKind::host, s.host};
}

}  // namespace muster
