#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The hosts of a scheduler's list: "n[01-03,7],login1" -> n01 n02 n03 n7 login1. Leading zeros
// stay. At most limits::kSiteHosts; a bracket that is none is part of the name.
std::vector<std::string> expand_host_list(std::string_view text);

}  // namespace muster
