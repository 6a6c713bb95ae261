#include "edge/net/url.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

Error bad(std::string_view text, std::string_view why) {
  return make_error(Errc::invalid_input,
                    fmt::format("URL \"{}\": {}", escape_controls(text, 200), why));
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_ipv6_char(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.';
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_uint(text);
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

// "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT" into `url`; the reason where it is none of them.
std::optional<std::string_view> parse_authority(std::string_view text, Url& url) {
  if (text.find('@') != text.npos) return "user and password are not taken";
  const bool ipv6 = text.starts_with('[');
  const std::size_t end = ipv6 ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == text.npos) return "\"[\" without \"]\"";
  const std::string_view host = text.substr(ipv6 ? 1 : 0, ipv6 ? end - 1 : end);
  std::string_view rest = text.substr(ipv6 ? end + 1 : end);
  if (host.empty()) return "no host";
  if (!std::all_of(host.begin(), host.end(), ipv6 ? is_ipv6_char : is_name_char)) {
    return "a host of other characters than letters, digits, \".\", \"-\" and \"_\"";
  }
  url.host = std::string(host);
  if (rest.empty()) return std::nullopt;
  if (!rest.starts_with(':')) return "something other than a port after the host";
  const auto port = parse_port(rest.substr(1));
  if (!port) return "the port is no number from 1 to 65535";
  url.port = *port;
  return std::nullopt;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.size() > limits::kUrlBytes) return bad(text, "too long");
  if (equals_ignoring_case(text.substr(0, 8), "https://")) {
    return make_error(Errc::unsupported,
                      fmt::format("URL \"{}\": https is not built in", escape_controls(text, 200)));
  }
  if (!equals_ignoring_case(text.substr(0, kScheme.size()), kScheme)) {
    return bad(text, "it does not begin with http://");
  }
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    return bad(text, "blanks, control characters and bytes beyond ASCII must be %-encoded");
  }
  if (text.find('#') != text.npos) return bad(text, "a fragment means nothing to a server");
  text.remove_prefix(kScheme.size());
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  Url url;
  if (const auto why = parse_authority(text.substr(0, end), url)) return bad(text, *why);
  const std::string_view target = text.substr(end);
  url.target = (target.starts_with('/') ? "" : "/") + std::string(target);
  return url;
}

std::string to_string(const Url& url) {
  const bool ipv6 = url.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}{}", ipv6 ? "[" : "", url.host, ipv6 ? "]" : "", url.port,
                     url.target);
}

}  // namespace muster
