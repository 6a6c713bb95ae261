#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

struct FolderRules {
  bool hidden = true;  // names that begin with a dot are taken too
  bool links = false;  // links to files are taken; those to folders never are: they may go round
  std::size_t most_files = limits::kFolderFiles;
};

// Goes through the folders of one diagnosis, by name, at most limits::kFolderDepth deep. What is
// passed over is told: in `blind`; links, pipes and devices in `notes`, the first
// limits::kNotesOfLog of them.
class FolderWalk {
 public:
  FolderWalk(Files& files, FolderRules rules) : files_(files), rules_(rules) {}

  // Every file below `path`, as `path`/NAME. The bound on files is that of all calls together.
  void walk(const std::string& path,
            const std::function<void(const std::string& path, const FileInfo&)>& on_file);

  std::vector<Blind> blind;
  std::vector<std::string> notes;
  std::size_t not_noted() const { return passed_ - notes.size(); }  // passed over beyond that bound
  std::optional<Error> failure;  // the first folder or file that could not be looked at

 private:
  using OnFile = std::function<void(const std::string&, const FileInfo&)>;
  void folder(const std::string& path, std::size_t depth, const OnFile& on_file);
  void entry(const std::string& path, std::size_t depth, const OnFile& on_file);
  void pass_over(const std::string& path, std::string_view why);
  void fail(const std::string& path, const Error& error);

  Files& files_;
  FolderRules rules_;
  std::size_t taken_ = 0, passed_ = 0;
  bool full_ = false;
};

}  // namespace muster
