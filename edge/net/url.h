#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// The address of one page of plain HTTP.
struct Url {
  std::string host;          // name, IPv4, or IPv6 without its brackets
  std::uint16_t port = 80;   // 1 to 65535
  std::string target = "/";  // path and query, as they go into the request line
};

// "http://HOST[:PORT][/PATH][?QUERY]", at most limits::kUrlBytes. Pure. Refused: another scheme
// (https is Errc::unsupported: not built in), user and password (they would end up in evidence and
// in process lists), a fragment, blanks, control characters and bytes beyond ASCII (they could
// split a request line).
Result<Url> parse_url(std::string_view text);

// As parse_url reads it, for messages.
std::string to_string(const Url& url);

}  // namespace muster
