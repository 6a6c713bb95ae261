#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edge/os/environment.h"
#include "edge/os/files.h"

namespace muster {

// What the command line says about where to look; empty: nothing.
struct ConfigChoice {
  std::string file;        // --config FILE
  std::string run_folder;  // --run DIR
};

struct ConfigLook {
  std::string path;
  std::string_view place;  // "--config", "MUSTER_CONFIG", "the folder of the run", ...
  // "read", "not there", "not permitted to look", or why it is not trusted
  std::string_view outcome;
};

struct FoundConfig {
  std::string path;  // empty: there is none, and `text` is empty
  std::string text;
  std::vector<ConfigLook> looks;        // in order; the last one is the file, where there is one
  std::vector<std::string> distrusted;  // a sentence for each file that was there and not trusted
};

// Looks in the order of docs/FORMATS.md and reads the first file that is there, alone. An error is
// that of a file which was named and is not there, or which is there and cannot be read (longer
// than limits::kConfigBytes: Errc::exhausted); places where nobody may look are passed over, and
// so is a file of the working folder that somebody else may have put there: whoever runs the
// program in /tmp did not ask for it. A named one may be a device or a pipe, a found one may not:
// it could block.
Result<FoundConfig> find_config(Files& files, const Environment& environment,
                                const ConfigChoice& choice);

}  // namespace muster
