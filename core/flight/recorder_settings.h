#pragma once

#include <string>
#include <string_view>

namespace muster {

// The command that sets the environment of the ranks so that the next hang leaves dumps, for a
// PyTorch of this version ("2.6.0"; empty or unreadable: for the current one). Names by release:
// its newer variables have other names. Empty: that PyTorch has no recorder (before 2.2).
std::string recorder_settings(std::string_view torch_version);

}  // namespace muster
