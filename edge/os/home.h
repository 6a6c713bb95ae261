#pragma once

#include <string>

#include "base/result.h"
#include "edge/os/environment.h"

namespace muster {

// The folder of what this program keeps: $MUSTER_HOME, else `configured` (`home` of muster.toml,
// where it has one), else ~/.local/state/muster. No I/O. An unset $HOME or a path that is not
// absolute is Errc::invalid_input: the folder would depend on where the program was started.
Result<std::string> home_path(const Environment& environment, const std::string& configured = "");

// The same folder, made with mode 0700 where it is missing (folders above it too). One that is not
// ours, or that group or others can write, is Errc::permission with the command that repairs it:
// whoever can write there could plant a run that is then started.
Result<std::string> open_home(const Environment& environment, const std::string& configured = "");

}  // namespace muster
