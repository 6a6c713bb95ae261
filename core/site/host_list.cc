#include "core/site/host_list.h"

#include <fmt/core.h>

#include <optional>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::size_t kNameBytes = 253;  // of a DNS name

void add(std::vector<std::string>& out, std::string_view host) {
  if (host.empty() || host.size() > kNameBytes || out.size() >= limits::kSiteHosts) return;
  out.emplace_back(host);
}

struct Range {
  std::string_view low, high;
};

// "01-03" or "7"; nothing: it is neither.
std::optional<Range> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const Range range{low, dash == std::string_view::npos ? low : text.substr(dash + 1)};
  if (!is_number(range.low) || !is_number(range.high)) return std::nullopt;
  return range;
}

void add_range(std::vector<std::string>& out, std::string_view head, const Range& range,
               std::string_view tail) {
  const auto first = parse_uint(range.low), last = parse_uint(range.high);
  for (std::uint64_t i = *first; i <= *last && out.size() < limits::kSiteHosts; ++i) {
    const std::string host = fmt::format("{}{:0{}}{}", head, i, range.low.size(), tail);
    if (host.size() > kNameBytes) return;  // those that follow are no shorter
    add(out, host);
  }
}

void add_entry(std::vector<std::string>& out, std::string_view entry) {
  const std::size_t open = entry.find('[');
  const std::size_t close = entry.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return add(out, entry);
  const std::string_view head = entry.substr(0, open), tail = entry.substr(close + 1);
  // All are looked at before one is written out, and names that are too long not at all: time
  // stays in proportion to the text and the hosts.
  std::vector<Range> ranges;
  for (const std::string_view text : split(entry.substr(open + 1, close - open - 1), ',')) {
    const auto range = range_of(trim(text));
    if (!range) return add(out, entry);
    ranges.push_back(*range);
  }
  if (head.size() + tail.size() >= kNameBytes) return;
  for (const Range& range : ranges) add_range(out, head, range, tail);
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
