#include "core/site/gpu_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

// "00000000:87:00.0", "0000:5e:00.0"
bool is_bus_id(std::string_view text) {
  const auto pieces = split(text, ':');
  return pieces.size() == 3 && (pieces[0].size() == 8 || pieces[0].size() == 4) &&
         pieces[1].size() == 2 && pieces[2].size() == 4 && pieces[2][2] == '.' &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

struct Section {
  std::string_view heading;
  bool prefix = false;  // its fields are ambiguous without it
  bool active = false;  // only what is "Active"
};

constexpr std::array kSections = {
    Section{"Remapped Rows"},
    Section{"Retired Pages"},
    Section{"ECC Errors"},
    Section{"Volatile", true},
    Section{"Aggregate", true},
    Section{"ECC Mode", true},
    Section{"MIG Mode", true},
    Section{"Fabric", true},
    Section{"Clocks Event Reasons", false, true},
    Section{"Clocks Throttle Reasons", false, true},
    Section{"SRAM Sources", true},
    Section{"GPU Recovery Action"},
};

const Section* section_of(std::string_view heading) {
  const auto* found = std::find_if(kSections.begin(), kSections.end(),
                                   [&](const Section& s) { return s.heading == heading; });
  return found == kSections.end() ? nullptr : found;
}

// "    Uncorrectable Error     : 8" -> its two halves.
std::optional<std::pair<std::string_view, std::string_view>> field_of(std::string_view line) {
  const std::size_t mark = line.find(" : ");
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view name = trim(line.substr(0, mark)), value = trim(line.substr(mark + 3));
  if (name.empty() || value.empty() || name.size() > 64 || value.size() > 255) return std::nullopt;
  return std::pair(name, value);
}

void read_query(SiteText& text) {
  std::string gpu;
  const Section* section = nullptr;
  std::size_t depth = 0;
  bool query = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string_view content = line.substr(indent);
    if (content.empty()) continue;
    if (indent == 0 && content.starts_with("GPU ") && is_bus_id(content.substr(4))) {
      gpu = std::string(content.substr(4));
      section = nullptr;
      query = true;
      text.claim(i);
      continue;
    }
    if (content.find("NVSMI LOG") != std::string_view::npos) query = true;
    const auto field = field_of(line);
    if (!field) {
      const Section* found = section_of(content);
      if (found != nullptr || (section != nullptr && indent <= depth)) {
        section = found;
        depth = indent;
      }
      if (found != nullptr || query) text.claim(i);
      continue;
    }
    const auto& [name, value] = *field;
    if (section != nullptr && indent <= depth) section = nullptr;
    const Section* own = section != nullptr ? section : section_of(name);
    if (own == nullptr) {
      if (query) text.claim(i);
      continue;
    }
    text.claim(i);
    const bool absent = value == "N/A" || value == "Not Supported" || value == "[N/A]";
    if (absent || (own->active && value != "Active")) continue;
    const std::string shown =
        (own->prefix ? std::string(own->heading) + " " : std::string()) + std::string(name);
    text.add(i, GpuState{gpu, shown, std::string(value)});
  }
}

// "| N/A   30C    P0    70W / 700W |      0MiB / 81559MiB |      0%      Default |"
void read_table(SiteText& text) {
  bool table = false;
  std::string gpu;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.find("NVIDIA-SMI ") != std::string_view::npos && line.starts_with('|')) {
      table = true;
      text.claim(i);
      continue;
    }
    if (!table || line.empty()) continue;
    const bool rule = line.starts_with('+') || line.starts_with("|=") || line.starts_with("|-");
    if (!rule && !line.starts_with('|')) continue;
    text.claim(i);
    const auto cells = split(line, '|');
    if (rule || cells.size() < 4) continue;
    for (const std::string_view word : words_of(cells[2], 8)) {
      if (!is_bus_id(word)) continue;
      gpu = std::string(word);
      const auto last = words_of(cells[3], 4);
      if (!last.empty() && parse_uint(last[0])) {
        text.add(i, GpuState{gpu, "Volatile Uncorr. ECC", std::string(last[0])});
      }
    }
    if (line.find("ERR!") != std::string_view::npos) {
      text.add(i, GpuState{gpu, "reading", "ERR!"});
    }
  }
}

// "Unable to determine the device handle for GPU0000:5e:00.0: Unknown Error"
void read_complaints(SiteText& text) {
  constexpr std::string_view kMark = "nable to determine the device handle for ";
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    const std::size_t at = line.substr(0, 64).find(kMark);
    if (at == std::string_view::npos || at > 1) continue;
    std::string_view rest = line.substr(at + kMark.size());
    if (rest.starts_with("GPU") || rest.starts_with("gpu")) rest.remove_prefix(3);
    rest = trim(rest);
    const std::size_t colon = rest.find(": ");
    std::string_view gpu = rest.substr(0, colon);
    if (!is_bus_id(gpu)) continue;
    const std::string_view why =
        colon == std::string_view::npos ? std::string_view() : trim(rest.substr(colon + 2));
    text.add(i, GpuState{std::string(gpu), "device handle", std::string(why.substr(0, 255))});
  }
}

void read_list(SiteText& text) {
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.starts_with("GPU ") && line.find("(UUID: GPU-") != std::string_view::npos) {
      text.claim(i);
    }
  }
}

}  // namespace

void read_gpu_states(SiteText& text) {
  read_query(text);
  read_table(text);
  read_complaints(text);
  read_list(text);
}

}  // namespace muster
