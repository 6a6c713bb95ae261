#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/culprit.h"
#include "core/model/telemetry_row.h"

// Who is who: every series (GPU, port, task, node) that any source has spoken of, under one number.
// A GPU is the same GPU by UUID first, then by PCI address, then by index on its host; where a
// source learns a better key later, the series keeps its number. An index that moves to another
// UUID (the driver renumbers after a loss) is another series.

namespace muster {

using SeriesId = std::uint32_t;

struct SeriesIdentity {
  SeriesKind kind = SeriesKind::gpu;
  std::string host;  // "this" where no source named one
  std::string uuid;
  std::string pci;  // normalized "0000:3b:00"
  std::optional<int> index;
  std::optional<int> rank;
  std::string device;
  std::string name;  // model
  std::string group;
};

// "00000000:3B:00.0" -> "0000:3b:00"; domains above 16 bits keep 8 digits. Empty if it is no
// address.
std::string normalize_pci(std::string_view pci);

class Fleet {
 public:
  // The number of the series that `key` names, new or known; nothing once limits::kSeries is
  // reached. `default_host` stands in where the key names no host.
  std::optional<SeriesId> resolve(const SeriesKey& key, std::string_view default_host);

  const SeriesIdentity& identity(SeriesId id) const { return series_[id]; }
  std::size_t size() const { return series_.size(); }

  // For reports: gpu "n1/3" (or the PCI address), port "n1/mlx5_0/1", rank "112" for a task.
  Culprit culprit(SeriesId id) const;

 private:
  SeriesId add(const SeriesKey& key, std::string_view host, std::string key_text);
  void learn(SeriesId id, const SeriesKey& key);
  bool same(SeriesId id, const SeriesKey& key, std::string_view host) const;

  std::vector<SeriesIdentity> series_;
  std::unordered_map<std::string, SeriesId> by_key_;
  // Sources speak of their series in the same order again and again: after `last_` the next one is
  // usually next_[last_], checked by comparing the key instead of hashing it.
  std::vector<SeriesId> next_;
  SeriesId last_ = 0;
};

}  // namespace muster
