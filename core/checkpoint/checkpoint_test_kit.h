#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/checkpoint/checkpoint_groups.h"
#include "core/checkpoint/checkpoint_judge.h"

// Checkpoints from a listing in words, for tests.

namespace muster::checkpoint {

// One file a word: "run/step-5/model.safetensors", "NAME#SIZE", "NAME!" torn, "NAME?" not read,
// "NAME>TEXT" a tracker, "NAME/" a folder. Sound where nothing is said, 100 bytes long.
struct ListedRun {
  std::vector<Checkpoint> checkpoints;
  JudgeFacts facts;
};

inline FileFacts listed_word(std::string_view word, std::string& path) {
  const std::size_t end = word.find_first_of("#!?>");
  path = std::string(word.substr(0, end));
  FileFacts out = listed_file(path, 100);
  if (out.state != FileState::torn) out.state = FileState::sound;
  if (out.kind == FileKind::other || out.kind == FileKind::dcp_shard)
    out.state = FileState::unchecked;
  if (end == std::string_view::npos) return out;
  const std::string rest(word.substr(end + 1));
  if (word[end] == '#') {
    out.bytes = parse_uint(rest);
    out.state = FileState::unread;
  } else if (word[end] == '!') {
    out.state = FileState::torn;
    out.fault = "cut";
  } else if (word[end] == '?') {
    out.state = FileState::unread;
    out.fault = "permission denied";
  } else {
    out.text = rest;
  }
  return out;
}

inline ListedRun listed_run(std::string_view words) {
  std::vector<FoundPath> paths;
  std::vector<FileFacts> files;
  for (const std::string_view word : split(words, ' ')) {
    if (word.empty()) continue;
    std::string path;
    FileFacts facts = listed_word(word, path);
    const bool folder = path.ends_with('/');
    if (folder) path.pop_back();
    paths.push_back({path, 0, folder});
    files.push_back(std::move(facts));
  }
  ListedRun out;
  const CheckpointGroups groups = group_checkpoints(paths);
  for (const CheckpointGroup& group : groups.groups) {
    Checkpoint made;
    made.path = group.path;
    made.run = group.run;
    made.single_file = group.single_file;
    made.temporary = is_temporary_name(last_part(group.path));
    made.step = step_of_name(last_part(group.path));
    for (const std::size_t member : group.members) {
      FileFacts file = files[member];
      const std::string& path = paths[member].path;
      if (!group.single_file) file.name = path.substr(group.path.size() + 1);
      if (file.kind == FileKind::trainer_state) file.step = made.step;
      made.files.push_back(std::move(file));
    }
    out.checkpoints.push_back(std::move(made));
  }
  for (const std::size_t member : groups.trackers) {
    FileFacts file = files[member];
    file.name = std::string(last_part(paths[member].path));
    out.facts.trackers.emplace_back(std::string(folder_part(paths[member].path)), file);
  }
  return out;
}

}  // namespace muster::checkpoint
