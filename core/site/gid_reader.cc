#include "core/site/gid_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

// Ports and indices of real adapters are far below.
std::optional<int> small_number(std::string_view text) {
  const auto value = parse_uint(text);
  if (!value || *value > 100'000) return std::nullopt;
  return static_cast<int>(*value);
}

bool is_gid(std::string_view text) {
  return text.size() >= 3 && text.size() <= 64 && std::count(text.begin(), text.end(), ':') >= 2 &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

bool is_ipv4(std::string_view text) {
  return text.size() <= 15 && std::count(text.begin(), text.end(), '.') == 3 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<GidEntry> table_row(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 5) return std::nullopt;
  const auto port = small_number(words[1]), index = small_number(words[2]);
  if (!port || !index || !is_gid(words[3])) return std::nullopt;
  GidEntry out;
  out.device = std::string(words[0].substr(0, 64));
  out.port = *port;
  out.index = *index;
  out.gid = std::string(words[3]);
  std::size_t at = 4;
  if (is_ipv4(words[at])) out.ipv4 = std::string(words[at++]);
  if (at >= words.size() || words[at].size() > 16) return std::nullopt;
  out.type = std::string(words[at]);
  return out;
}

// "GID[  3]:\t\t::ffff:10.77.1.6, RoCE v2"
std::optional<GidEntry> devinfo_row(std::string_view line) {
  if (!line.starts_with("GID[")) return std::nullopt;
  const std::size_t close = line.find("]:");
  if (close == std::string_view::npos) return std::nullopt;
  const auto index = small_number(trim(line.substr(4, close - 4)));
  std::string_view rest = trim(line.substr(close + 2));
  const std::size_t comma = std::min(rest.find(','), rest.size());
  if (!index || !is_gid(rest.substr(0, comma))) return std::nullopt;
  GidEntry out;
  out.index = *index;
  out.gid = std::string(rest.substr(0, comma));
  const std::string_view kind = trim(rest.substr(std::min(comma + 1, rest.size())));
  if (kind.ends_with("v2")) out.type = "v2";
  if (kind.ends_with("v1") || kind == "IB/RoCE v1") out.type = "v1";
  const std::size_t last = out.gid.rfind(':');
  if (is_ipv4(std::string_view(out.gid).substr(last + 1))) out.ipv4 = out.gid.substr(last + 1);
  return out;
}

}  // namespace

void read_gids(SiteText& text) {
  bool table = false;
  std::string device;
  int port = 1;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    const auto words = words_of(line, 5);
    if (words.size() == 5 && words[0] == "DEV" && words[1] == "PORT" && words[2] == "INDEX") {
      table = true;
      text.claim(i);
    } else if (table && (line.starts_with("---") || line.starts_with("n_gids_found="))) {
      text.claim(i);
    } else if (table) {
      if (auto row = table_row(line)) text.add(i, std::move(*row));
    } else if (words.size() == 2 && words[0] == "hca_id:") {
      device = std::string(words[1].substr(0, 64));
      text.claim(i);
    } else if (!device.empty() && words.size() == 2 && words[0] == "port:") {
      port = small_number(words[1]).value_or(port);
      text.claim(i);
    } else if (!device.empty()) {
      if (auto row = devinfo_row(line)) {
        row->device = device;
        row->port = port;
        text.add(i, std::move(*row));
      } else if (line.find(":\t") != std::string_view::npos || line.ends_with(':')) {
        text.claim(i);  // another attribute of the adapter
      }
    }
  }
}

}  // namespace muster
