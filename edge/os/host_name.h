#pragma once

#include <optional>
#include <string>

namespace muster {

// What this machine calls itself; nothing where it has no name.
std::optional<std::string> own_host_name();

}  // namespace muster
