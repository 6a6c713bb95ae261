#include "core/explain/joins.h"

#include "base/text.h"

namespace muster {

std::span<const Join> join_table() {
  static const std::vector<Join> kTable = [] {
    std::vector<Join> all;
    for (const auto part : {limit_joins(), gpu_joins(), network_joins(), data_joins(), job_joins(),
                            cluster_joins()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kTable;
}

Claim* find_claim(std::vector<Claim>& claims, Cause cause) {
  for (Claim& claim : claims) {
    if (claim.cause == cause && !claim.follows) return &claim;
  }
  return nullptr;
}

std::string host_of(const Scene& scene, const Claim& claim) {
  return claim.events.empty() ? "" : scene.host(claim.events.front());
}

std::string path_of(const LogEvent& event) {
  for (const std::string_view name : {"path", "file", "folder"}) {
    const std::string_view word = trim(event.word(name));
    if (!word.empty()) return std::string(word);
  }
  return event.subject.kind == CulpritKind::file ? event.subject.id : "";
}

bool lies_in(std::string_view path, std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty() || !path.starts_with(folder)) return false;
  return folder == "/" || path.size() == folder.size() || path[folder.size()] == '/';
}

}  // namespace muster
