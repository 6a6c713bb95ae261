#include "core/checkpoint/checkpoint_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"

namespace muster::checkpoint {
namespace {

// Folders of a path from the one that was given down, the outermost first.
std::vector<std::string> chain_of(const FoundPath& found) {
  std::vector<std::string> out;
  std::string_view at = found.folder ? std::string_view(found.path) : folder_part(found.path);
  while (!at.empty() && at.size() >= found.below) {
    out.emplace_back(at);
    const std::string_view above = folder_part(at);
    if (above == at) break;
    at = above;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

bool is_number(std::string_view base) {
  return !base.empty() && std::all_of(base.begin(), base.end(), is_digit);
}

// "ep0-ba480-rank3.pt" -> "ep0-ba480-rank*.pt"
std::string without_rank(const std::string& path) {
  const std::size_t at = path.rfind("rank");
  if (at == std::string::npos || at < path.rfind('/') + 1) return path;
  std::size_t end = at + 4;
  while (end < path.size() && is_digit(path[end])) ++end;
  return end == at + 4 ? path : path.substr(0, at + 4) + "*" + path.substr(end);
}

bool is_strong(FileKind kind) {
  return kind == FileKind::safetensors || kind == FileKind::index || kind == FileKind::dcp_shard ||
         kind == FileKind::dcp_metadata || kind == FileKind::manifest ||
         kind == FileKind::trainer_state;
}

class Grouping {
 public:
  explicit Grouping(const std::vector<FoundPath>& paths) : paths_(paths) {}

  CheckpointGroups group() {
    for (const FoundPath& found : paths_) {
      chains_.push_back(chain_of(found));
      find_numbered(found, chains_.back());
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      find_collections(chains_[i]);
      if (!paths_[i].folder) look_at_folder(paths_[i]);
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) place(i);
    CheckpointGroups out;
    out.trackers = std::move(trackers_);
    for (auto& [path, group] : groups_) {
      if (group.single_file && group.members.size() == 1) {
        group.path = paths_[group.members.front()].path;
      }
      out.groups.push_back(std::move(group));
    }
    return out;
  }

 private:
  void find_numbered(const FoundPath& found, const std::vector<std::string>& chain);
  bool tells_step(const std::string& folder) const;
  void find_collections(const std::vector<std::string>& chain);
  void look_at_folder(const FoundPath& found);
  void place(std::size_t i);
  void add(const std::string& path, bool single_file, std::size_t member);
  std::string whole_of(std::string folder, std::size_t below) const;

  const std::vector<FoundPath>& paths_;
  std::set<std::string> numbered_;  // folders
  std::vector<std::vector<std::string>> chains_;
  std::set<std::string> collections_;  // folders with a step in their name and others below
  std::set<std::string> weights_;      // folders with files that only checkpoints have
  std::map<std::string, CheckpointGroup> groups_;
  std::vector<std::size_t> trackers_;
};

void Grouping::find_collections(const std::vector<std::string>& chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto step = step_of_name(last_part(chain[i]));
    if (!step || is_temporary_name(last_part(chain[i]))) continue;
    for (std::size_t j = i + 1; j < chain.size(); ++j) {
      const auto other = step_of_name(last_part(chain[j]));
      if (other && *other != *step && !is_component_name(last_part(chain[j]))) {
        collections_.insert(chain[i]);
      }
    }
  }
}

// Much else is numbered: attempts of a run, workers, versions. A number alone is a step only where
// weights lie in it.
void Grouping::find_numbered(const FoundPath& found, const std::vector<std::string>& chain) {
  const FileKind kind = kind_of_file(found.path);
  if (found.folder || (!is_strong(kind) && kind != FileKind::torch)) return;
  for (const std::string& folder : chain) {
    if (is_number(last_part(folder))) numbered_.insert(folder);
  }
}

bool Grouping::tells_step(const std::string& folder) const {
  const std::string_view base = last_part(folder);
  if (is_number(base)) return numbered_.contains(folder);
  return step_of_name(base).has_value() || is_temporary_name(base);
}

// Parts are looked for below the folder that they are parts of.
std::string Grouping::whole_of(std::string folder, std::size_t below) const {
  while (is_component_name(last_part(folder))) {
    const std::string_view above = folder_part(folder);
    if (above.empty() || above.size() < below || above == folder) break;
    folder = std::string(above);
  }
  return folder;
}

void Grouping::look_at_folder(const FoundPath& found) {
  if (found.below >= found.path.size()) return;
  const FileKind kind = kind_of_file(found.path);
  const std::string_view base = last_part(found.path);
  const bool bins = kind == FileKind::torch && base.find("pytorch_model") != std::string_view::npos;
  const bool stepped = kind == FileKind::safetensors && step_of_name(base);
  if ((is_strong(kind) && !stepped) || bins || base.ends_with("model_states.pt") ||
      base == "model_optim_rng.pt" || base == "common.pt") {
    weights_.insert(whole_of(std::string(folder_part(found.path)), found.below));
  }
}

void Grouping::place(std::size_t i) {
  const FoundPath& found = paths_[i];
  for (const std::string& folder : chains_[i]) {
    if (tells_step(folder) && !collections_.contains(folder)) return add(folder, false, i);
  }
  if (found.folder) return;
  if (found.below >= found.path.size()) return add(found.path, true, i);  // given by its name
  const FileKind kind = kind_of_file(found.path);
  // Beside an export it may name the checkpoints that lie there too.
  if (kind == FileKind::tracker) return trackers_.push_back(i);
  const std::string whole = whole_of(std::string(folder_part(found.path)), found.below);
  if (weights_.contains(whole)) {
    return add(whole, false, i);
  }
  const bool single = kind == FileKind::torch || kind == FileKind::safetensors;
  if (single) add(without_rank(found.path), true, i);
}

void Grouping::add(const std::string& path, bool single_file, std::size_t member) {
  CheckpointGroup& group = groups_[path];
  group.path = path.empty() ? "." : path;
  group.run = std::string(folder_part(path));
  group.single_file = single_file;
  if (!paths_[member].folder) group.members.push_back(member);
}

}  // namespace

CheckpointGroups group_checkpoints(const std::vector<FoundPath>& paths) {
  return Grouping(paths).group();
}

}  // namespace muster::checkpoint
