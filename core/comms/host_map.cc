#include "core/comms/host_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "core/comms/scan.h"
#include "core/model/json_reader.h"

namespace muster {
namespace {

using namespace comms;

constexpr std::size_t kHostBytes = 255;  // of a DNS name
constexpr std::size_t kMostAtOnce = limits::kSeries;

bool is_host(std::string_view text) {
  if (text.empty() || text.size() > kHostBytes) return false;
  bool name = false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_' && c != '.' && c != ':') return false;
    name = name || is_letter(c) || c == '.' || c == ':';
  }
  return name && text.front() != '-';
}

// "0-7,16"; nothing where a part is no range, or they are too many.
std::optional<std::vector<std::int32_t>> numbers_of(std::string_view ranges) {
  std::vector<std::int32_t> numbers;
  for (std::string_view piece : split(ranges, ',')) {
    piece = trim(piece);
    const auto first = take_rank(piece);
    auto last = first;
    if (first && take(piece, "-")) last = take_rank(piece);
    if (!first || !last || !piece.empty() || *last < *first) return std::nullopt;
    const auto count = static_cast<std::size_t>(*last - *first) + 1;
    if (count > kMostAtOnce - std::min(numbers.size(), kMostAtOnce)) return std::nullopt;
    for (std::int32_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

// "n01" or "n[01-04,07].ib"; none where it is neither.
std::vector<std::string> hosts_of(std::string_view text) {
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    if (!is_host(text)) return {};
    return {std::string(text)};
  }
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  const std::size_t digits = inside.find_first_not_of("0123456789");
  const std::size_t width = std::min({digits, inside.size(), kHostBytes});
  std::vector<std::string> hosts;
  const auto numbers = numbers_of(inside);
  if (!numbers) return {};
  for (const std::int32_t number : *numbers) {
    hosts.push_back(
        fmt::format("{}{:0{}}{}", text.substr(0, open), number, width, text.substr(close + 1)));
    if (!is_host(hosts.back())) return {};
  }
  return hosts;
}

class Builder {
 public:
  explicit Builder(HostMap& map) : map_(map) {}

  void put(std::int32_t rank, std::string_view host, std::string_view where) {
    if (map_.hosts.size() >= limits::kSeries && !map_.hosts.contains(rank)) {
      return complain(where, fmt::format("more than {} ranks", limits::kSeries));
    }
    const auto [found, fresh] = map_.hosts.emplace(rank, host);
    if (!fresh && found->second != host) {
      complain(where, fmt::format("rank {} is on {} and on {}", rank, found->second, host));
    }
  }
  void complain(std::string_view where, std::string_view what) {
    if (map_.complaints.size() < limits::kNotesOfLog) {
      map_.complaints.push_back(fmt::format("{}: {}", where, what));
    }
  }
  // "0-7,16" on one or more hosts; false, and nothing is put, where a part is no range or the
  // ranks are no multiple of the hosts.
  bool put_ranges(const std::vector<std::string>& hosts, std::string_view ranges,
                  std::string_view where) {
    const auto ranks = numbers_of(ranges);
    if (!ranks || hosts.empty() || ranks->size() % hosts.size() != 0) return false;
    const std::size_t each = ranks->size() / hosts.size();
    for (std::size_t i = 0; i < ranks->size(); ++i) put((*ranks)[i], hosts[i / each], where);
    return true;
  }

  bool line(std::string_view text, std::string_view where) {
    std::string_view rest = text;
    if (const auto rank = take_rank(rest)) {
      const bool stop = take(rest, ":") || take(rest, ",");
      const bool blank = !rest.empty() && (rest.front() == ' ' || rest.front() == '\t');
      rest = trim(rest);
      if ((stop || blank) && is_host(rest)) {
        put(*rank, rest, where);
        return true;
      }
    }
    // An address of a host has colons of its own.
    for (const std::size_t colon : {text.find(':'), text.rfind(':')}) {
      if (colon == std::string_view::npos) return false;
      const std::string_view left = trim(text.substr(0, colon));
      const std::string_view right = trim(text.substr(colon + 1));
      if (is_host(right) && put_ranges({std::string(right)}, left, where)) return true;
      if (put_ranges(hosts_of(left), right, where)) return true;
    }
    return false;
  }

 private:
  HostMap& map_;
};

void read_json(std::string_view bytes, Builder& builder) {
  const auto document = parse_json(bytes);
  if (!document) return builder.complain("JSON", document.error().context);
  const auto* object = document->get<JsonNode::Object>();
  if (!object) return builder.complain("JSON", "no object");
  for (const auto& [key, value] : *object) {
    std::string_view number = key;
    const auto rank = take_rank(number);
    const auto* host = value.get<std::string>();
    if (!rank || !number.empty() || !host || !is_host(*host)) {
      builder.complain("JSON", fmt::format("\"{}\" is no rank with a host", key.substr(0, 64)));
      continue;
    }
    builder.put(*rank, *host, "JSON");
  }
}

}  // namespace

HostMap parse_host_map(std::string_view bytes) {
  HostMap map;
  Builder builder(map);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && bytes[start] == '{') {
    read_json(bytes, builder);
    return map;
  }
  std::size_t number = 0;
  for (std::string_view line : split(bytes, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    if (!builder.line(line, fmt::format("line {}", number))) {
      builder.complain(fmt::format("line {}", number),
                       "neither \"rank host\" nor \"ranks: host\" nor \"host: ranks\"");
    }
    if (map.complaints.size() >= limits::kNotesOfLog) break;
  }
  return map;
}

bool looks_like_host_map(std::string_view bytes) {
  const HostMap map = parse_host_map(bytes);
  return !map.hosts.empty() && map.complaints.empty();
}

}  // namespace muster
