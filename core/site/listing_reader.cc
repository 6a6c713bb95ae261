#include "core/site/listing_reader.h"

#include <optional>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kPathBytes = 4096;

bool is_mode(std::string_view word) {
  if (word.size() < 10 || word.size() > 11) return false;
  if (std::string_view("-dlbcps").find(word[0]) == std::string_view::npos) return false;
  return word.substr(1, 9).find_first_not_of("rwxsStT-") == std::string_view::npos;
}

bool is_month(std::string_view word) {
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  return word.size() == 3 && kMonths.find(word) != std::string_view::npos;
}

// How many words the time takes: "Jul 20 03:12", "20 Jul 2025", "2026-07-20 03:12", "2026-07-20
// 03:12:00.000000000 +0000".
std::size_t time_words(const std::vector<std::string_view>& words, std::size_t at) {
  if (at + 2 < words.size() && (is_month(words[at]) || is_month(words[at + 1]))) return 3;
  const bool date = at + 1 < words.size() && words[at].size() == 10 && words[at][4] == '-';
  if (!date) return 0;
  const bool zone = at + 2 < words.size() && words[at + 2].size() == 5 &&
                    (words[at + 2][0] == '+' || words[at + 2][0] == '-');
  return zone ? 3 : 2;
}

std::optional<FolderEntry> long_row(std::string_view line, std::string_view folder) {
  auto words = words_of(line, 16);
  std::size_t mode = 0;
  while (mode < words.size() && mode < 3 && !is_mode(words[mode])) {
    if (!parse_uint(words[mode])) return std::nullopt;
    ++mode;
  }
  // links owner group size, then the time and the name.
  const std::size_t size = mode + 4;
  if (size + 2 >= words.size() || !is_mode(words[mode]) || !parse_uint(words[mode + 1])) {
    return std::nullopt;
  }
  const std::size_t time = time_words(words, size + 1);
  const std::size_t name = size + 1 + time;
  if (time == 0 || name >= words.size()) return std::nullopt;
  std::string_view path = line.substr(static_cast<std::size_t>(words[name].data() - line.data()));
  FolderEntry out;
  out.kind = words[mode][0];
  out.size_bytes = parse_uint(words[size]);
  if (out.kind == 'l') {
    const std::size_t arrow = path.find(" -> ");
    if (arrow != std::string_view::npos) out.target = std::string(path.substr(arrow + 4));
    path = path.substr(0, arrow);
  }
  if (path.size() > kPathBytes || out.target.size() > kPathBytes) return std::nullopt;
  const bool whole = folder.empty() || path.starts_with('/');
  out.path = whole ? std::string(path) : std::string(folder) + "/" + std::string(path);
  return out;
}

// "4096  /ckpt/run7/a.pt"
std::optional<FolderEntry> short_row(std::string_view line) {
  const auto words = words_of(line, 2);
  if (words.size() < 2 || !(words[1].starts_with('/') || words[1].starts_with("./"))) {
    return std::nullopt;
  }
  FolderEntry out;
  out.size_bytes = parse_uint(words[0]);
  if (!out.size_bytes || words[1].size() > kPathBytes) return std::nullopt;
  out.path = std::string(words[1]);
  return out;
}

// "/ckpt/run7:" or "'a folder':"; empty: none.
std::string_view heading_of(std::string_view line) {
  if (line.size() < 2 || !line.ends_with(':') || line.size() > kPathBytes) return {};
  line.remove_suffix(1);
  if (line.size() > 2 && line.front() == '\'' && line.back() == '\'') {
    line = line.substr(1, line.size() - 2);
  }
  const bool path = line.find('/') != std::string_view::npos || line == "." ||
                    line.find(' ') == std::string_view::npos;
  return path && line.find(": ") == std::string_view::npos ? line : std::string_view();
}

bool is_total(std::string_view line) {
  return line.starts_with("total ") && line.find(' ', 6) == std::string_view::npos;
}

}  // namespace

void read_listing(SiteText& text) {
  std::string_view folder;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.empty() || text.claimed(i)) continue;
    const std::string_view next = i + 1 < text.lines().size() ? text.line(i + 1) : "";
    const std::string_view heading = heading_of(line);
    if (!heading.empty() && (is_total(next) || next.empty() || long_row(next, ""))) {
      folder = heading;
      if (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
      if (is_total(next) || !next.empty()) text.claim(i);
    } else if (is_total(line)) {
      text.claim(i);
    } else if (auto row = long_row(line, folder)) {
      const std::string_view last = std::string_view(row->path).substr(row->path.rfind('/') + 1);
      if (last == "." || last == "..") {
        text.claim(i);
      } else {
        text.add(i, std::move(*row));
      }
    } else if (auto found = short_row(line)) {
      text.add(i, std::move(*found));
    }
  }
}

}  // namespace muster
