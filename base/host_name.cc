#include "base/host_name.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"

namespace muster {
namespace {

bool looks_like_address(std::string_view text) {
  return std::count(text.begin(), text.end(), '.') == 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

std::string host_key(std::string_view host) {
  if (looks_like_address(host) || host.find(':') != std::string_view::npos) return to_lower(host);
  return to_lower(host.substr(0, host.find('.')));
}

}  // namespace muster
