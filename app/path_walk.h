#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/folder_walk.h"
#include "base/result.h"
#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

// Which files stand behind paths that somebody gave: files, and all in folders (folder_walk.h).
// A path counts once.
class PathWalk {
 public:
  struct Item {
    std::string path;
    int mark = 0;  // of the path that led here
    WallTime modified{};
    std::size_t below =
        0;  // where the part of `path` begins that was found in a folder; 0: none was

    // Whatever has taken its place since, no link that was found in a folder is followed.
    Result<std::unique_ptr<ByteStream>> open(Files& files) const;
  };

  explicit PathWalk(Files& files) : files_(files), folders_(files, {}) {}

  // "-" is standard input.
  void path(const std::string& path, int mark = 0);
  // After the last path: fills `blind` and `notes`.
  void finish();

  std::vector<Item> items;       // in the order of the paths, folders by name
  std::optional<Error> failure;  // the first; each is blind as well
  std::vector<Blind> blind;
  std::vector<std::string> notes;

 private:
  void add(Item item);

  Files& files_;
  FolderWalk folders_;
  std::set<std::string> known_;
};

}  // namespace muster
