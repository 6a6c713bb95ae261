#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edge/os/work_file.h"

namespace muster {

// A file that appears whole under its name or not at all: it grows under a name of its own beside
// it, then is renamed, never over something that is there. Not thread safe.
class NewFile {
 public:
  // Errc::invalid_input where `path` is taken.
  static Result<NewFile> begin(const std::string& path);
  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // what was not kept is removed

  // Pieces may be of single bytes: they are gathered.
  Status append(std::string_view bytes);
  // Past a loss of power.
  Status keep();

 private:
  NewFile(std::string path, std::string place, std::unique_ptr<WorkFile> file);
  Status flush();

  std::string path_, place_;
  std::unique_ptr<WorkFile> file_;
  std::string held_;
};

}  // namespace muster
