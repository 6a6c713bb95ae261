#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edge/os/work_file.h"

// A folder that is made piece by piece, over hours, and published at once: until then it has
// another name, and whoever looks for it finds nothing or all of it. real_work_folders() is the
// machine; tests/support has one in memory that loses its power on purpose.

namespace muster {

class WorkFolder {
 public:
  virtual ~WorkFolder() = default;
  // Made where it is missing. `name` is that of a file in this folder.
  virtual Result<std::unique_ptr<WorkFile>> open(const std::string& name) = 0;
  virtual bool has(const std::string& name) = 0;
  // Whole or not at all, and past a loss of power.
  virtual Status write_whole(const std::string& name, std::string_view bytes) = 0;
  // A file that is not there is no failure.
  virtual Status remove(const std::string& name) = 0;
  // Takes the folder away with the files that were opened or written in it, and with no others.
  virtual Status discard() = 0;
  // Gives the folder its name. Errc::invalid_input, and nothing happens, where something has it.
  virtual Status publish(const std::string& path) = 0;
};

class WorkFolders {
 public:
  virtual ~WorkFolders() = default;
  // Something has this name.
  virtual bool has(const std::string& path) = 0;
  // Makes the folder `path`, mode 0755 less the umask; Errc::invalid_input where something is
  // there.
  virtual Result<std::unique_ptr<WorkFolder>> make(const std::string& path) = 0;
  // Takes one that make() made. Errc::unavailable while another process has it.
  virtual Result<std::unique_ptr<WorkFolder>> take(const std::string& path) = 0;
};

// A process that dies lets go of its folder.
WorkFolders& real_work_folders();

}  // namespace muster
