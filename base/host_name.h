#pragma once

#include <string>
#include <string_view>

namespace muster {

// A name of a host as it is compared: lower case, without its domain. Addresses stay whole.
std::string host_key(std::string_view host);

}  // namespace muster
