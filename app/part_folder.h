#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edge/os/work_folder.h"

namespace muster {

// A new folder of data: made as OUT.part beside OUT, taken away again with what was made in it
// unless it is kept. A process that is killed leaves OUT.part.
class PartFolder {
 public:
  // Errc::invalid_input where OUT or OUT.part is there. Slashes at the end of `out` mean nothing.
  static Result<PartFolder> begin(WorkFolders& folders, const std::string& out);
  PartFolder(PartFolder&&) noexcept = default;
  PartFolder& operator=(PartFolder&&) = delete;
  ~PartFolder();

  WorkFolder& folder() { return *folder_; }
  // Gives it its name, after the sync() of all files in it.
  Status keep();

 private:
  PartFolder(std::unique_ptr<WorkFolder> folder, std::string out);

  std::unique_ptr<WorkFolder> folder_;  // nothing: kept, or moved from
  std::string out_;
};

// Why what is at `part` cannot be begun anew: another process is working in it, or it was left by
// one that died; then `way_out` says what to do.
Error left_over(WorkFolders& folders, const std::string& part, std::string_view way_out);

// `out` without the slashes at its end, and the name under which it is made.
std::string folder_name(std::string out);
std::string part_name(const std::string& out);

}  // namespace muster
