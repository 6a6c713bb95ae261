#include "core/site/driver_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

// "535.183.06", "470.57"
bool is_version(std::string_view text) {
  const auto pieces = split(text, '.');
  if (pieces.size() < 2 || pieces.size() > 4 || text.size() > 32) return false;
  return std::all_of(pieces.begin(), pieces.end(),
                     [](auto p) { return parse_uint(p).has_value(); });
}

std::optional<std::string> version_behind(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  for (const std::string_view word : words_of(line.substr(at + mark.size()), 8)) {
    if (is_version(word)) return std::string(word);
  }
  return std::nullopt;
}

std::vector<std::string_view> cells(std::string_view line) {
  for (const char mark : {'\t', ',', '|'}) {
    if (line.find(mark) != std::string_view::npos) {
      auto out = split(line, mark);
      for (std::string_view& cell : out) cell = trim(cell);
      return out;
    }
  }
  return words_of(line);
}

struct Columns {
  std::size_t host = 0, driver = 0;
};

std::optional<Columns> read_heading(std::string_view line) {
  const auto words = cells(line);
  if (words.size() < 2 || words.size() > 32) return std::nullopt;
  std::optional<std::size_t> host, driver;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = to_lower(words[i]);
    if (word == "host" || word == "node" || word == "hostname" || word == "nodename") host = i;
    if (word == "driver" || word == "driver_version" || word == "nvidia_driver" ||
        word == "driver version") {
      driver = i;
    }
  }
  if (!host || !driver) return std::nullopt;
  return Columns{*host, *driver};
}

}  // namespace

void read_drivers(SiteText& text) {
  std::optional<Columns> table;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.starts_with("NVRM version: ")) {
      if (auto version = version_behind(line, "Kernel Module")) {
        text.add(i, DriverVersion{true, std::move(*version)});
      }
    } else if (line.starts_with("GCC version:")) {
      text.claim(i);  // the other line of /proc/driver/nvidia/version
    } else if (line.find("NVIDIA-SMI ") != std::string_view::npos) {
      const auto kernel = version_behind(line, "Driver Version:");
      if (kernel) text.add(i, DriverVersion{true, *kernel});
    } else if (line.starts_with("NVML library version:")) {
      if (auto version = version_behind(line, ":")) {
        text.add(i, DriverVersion{false, std::move(*version)});
      }
    } else if (const auto heading = read_heading(line)) {
      table = heading;
      text.claim(i);
    } else if (table && !line.empty()) {
      const auto words = cells(line);
      if (words.size() <= std::max(table->host, table->driver)) continue;
      if (!is_version(words[table->driver]) || words[table->host].empty()) continue;
      text.add(i, DriverVersion{true, std::string(words[table->driver])}, words[table->host]);
    }
  }
}

}  // namespace muster
