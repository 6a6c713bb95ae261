#include "core/site/host_list.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

void add(std::vector<std::string>& out, std::string_view host) {
  if (host.empty() || host.size() > 253 || out.size() >= limits::kSiteHosts) return;
  out.emplace_back(host);
}

// "01-03" or "7" between `head` and `tail`; false: it is neither.
bool add_range(std::vector<std::string>& out, std::string_view head, std::string_view range,
               std::string_view tail) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  if (!is_number(low) || !is_number(high)) return false;
  const auto first = parse_uint(low), last = parse_uint(high);
  for (std::uint64_t i = *first; i <= *last && out.size() < limits::kSiteHosts; ++i) {
    add(out, fmt::format("{}{:0{}}{}", head, i, low.size(), tail));
  }
  return true;
}

void add_entry(std::vector<std::string>& out, std::string_view entry) {
  const std::size_t open = entry.find('[');
  const std::size_t close = entry.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return add(out, entry);
  const std::size_t before = out.size();
  for (const std::string_view range : split(entry.substr(open + 1, close - open - 1), ',')) {
    if (add_range(out, entry.substr(0, open), trim(range), entry.substr(close + 1))) continue;
    out.resize(before);
    return add(out, entry);
  }
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (!end && text[i] == '[') inside = true;
    if (!end && text[i] == ']') inside = false;
    if (!end && (text[i] != ',' || inside)) continue;
    add_entry(out, trim(text.substr(from, i - from)));
    from = i + 1;
  }
  return out;
}

}  // namespace muster
