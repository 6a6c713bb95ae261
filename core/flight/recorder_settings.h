#pragma once

#include <string>
#include <string_view>

namespace muster {

// The lines to put into the environment of the ranks so that the next hang leaves dumps, for a
// PyTorch of this version ("2.6.0"; empty or unreadable: for the current one). Names and defaults
// by release: the recorder was off before 2.7, and its newer variables have other names.
std::string recorder_settings(std::string_view torch_version);

}  // namespace muster
