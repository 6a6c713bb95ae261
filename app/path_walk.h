#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

// Which files stand behind paths that somebody gave: files, and all in folders, which are walked
// limits::kFolderDepth deep. Links inside of folders are passed over with a note, so that nothing
// outside of a folder is read. A path counts once.
class PathWalk {
 public:
  struct Item {
    std::string path;
    int mark = 0;  // of the path that led here
    WallTime modified{};
  };

  explicit PathWalk(Files& files) : files_(files) {}

  // "-" is standard input.
  void path(const std::string& path, int mark = 0);

  std::vector<Item> items;       // in the order of the paths, folders by name
  std::optional<Error> failure;  // the first; each is blind as well
  std::vector<Blind> blind;
  std::vector<std::string> notes;

 private:
  void fail(const std::string& path, const Error& error);
  void add(const std::string& path, int mark, WallTime modified);
  void folder(const std::string& path, int mark, std::size_t depth);

  Files& files_;
  std::set<std::string> known_;
  std::size_t links_ = 0;
  bool full_ = false;
};

}  // namespace muster
