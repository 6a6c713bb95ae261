#include "core/site/disk_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/site/sizes.h"

namespace muster {
namespace {

struct Heading {
  bool inodes = false, type = false, human = false;
  double block = 1024;
};

std::optional<Heading> read_heading(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 6 || words[0] != "Filesystem" || words[words.size() - 1] != "on") {
    return std::nullopt;
  }
  Heading out;
  out.type = words[1] == "Type";
  std::string_view unit = words[out.type ? 2 : 1];
  if (unit == "Inodes") {
    out.inodes = true;
    out.block = 1;
  } else if (unit == "Size") {
    out.human = true;
  } else {
    const std::size_t dash = unit.find("-blocks");
    const auto size =
        dash == std::string_view::npos ? std::nullopt : read_size(unit.substr(0, dash));
    if (!size || *size <= 0) return std::nullopt;
    out.block = *size;
  }
  return out;
}

// One number of a row; `grain` becomes how exact it is.
std::optional<double> cell(const Heading& heading, std::string_view word, double& grain) {
  if (heading.human || heading.inodes) {
    const auto value = read_size(word);
    if (value) grain = std::max(grain, size_grain(word));
    return value;
  }
  const auto value = parse_double(word);
  if (!value || *value < 0) return std::nullopt;
  grain = std::max(grain, heading.block);
  return *value * heading.block;
}

bool is_percent(std::string_view word) {
  return word == "-" || (word.ends_with('%') && parse_uint(word.substr(0, word.size() - 1)));
}

// What stands behind the device (and its type): three numbers, a share and the mount.
bool read_row(const Heading& heading, std::string_view rest, DiskSpace& out) {
  const auto words = words_of(rest, 5);
  if (words.size() < 5 || !is_percent(words[3]) || !words[4].starts_with('/')) return false;
  out.inodes = heading.inodes;
  out.block_bytes = 1;
  const auto fits = [](std::string_view word, const std::optional<double>& value) {
    return value.has_value() || word == "-";
  };
  out.size = cell(heading, words[0], out.block_bytes);
  out.used = cell(heading, words[1], out.block_bytes);
  // Root may use what is kept back: then df prints less than nothing, which is nothing.
  const bool negative = words[2].starts_with('-') && words[2].size() > 1;
  out.avail = negative ? std::optional(0.0) : cell(heading, words[2], out.block_bytes);
  if (!fits(words[0], out.size) || !fits(words[1], out.used) || !fits(words[2], out.avail)) {
    return false;
  }
  out.mount = std::string(words[4]);
  return true;
}

}  // namespace

void read_disks(SiteText& text) {
  std::optional<Heading> heading;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (const auto found = read_heading(line)) {
      heading = found;
      text.claim(i);
      continue;
    }
    if (!heading) continue;
    if (line.empty()) {
      heading.reset();
      continue;
    }
    DiskSpace space;
    const auto words = words_of(line, 2);
    space.device = std::string(words[0].substr(0, 255));
    std::string_view rest = words.size() > 1 ? words[1] : std::string_view();
    std::size_t last = i;
    if (rest.empty() && i + 1 < text.lines().size()) rest = text.line(last = i + 1);
    if (heading->type) {
      const auto typed = words_of(rest, 2);
      rest = typed.size() > 1 ? typed[1] : std::string_view();
    }
    if (!read_row(*heading, rest, space)) continue;
    if (last != i) text.claim(i);
    text.add(last, std::move(space));
    i = last;
  }
}

}  // namespace muster
