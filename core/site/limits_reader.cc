#include "core/site/limits_reader.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

struct Known {
  std::string_view name, unit;
  double conf = 1;  // what 1 in limits.conf means
  std::array<std::string_view, 4> printed;
};

constexpr Known kKnown[] = {
    {"nofile", "files", 1, {"open files", "Max open files", "file descriptors", "nofiles"}},
    {"memlock",
     "bytes",
     1024,
     {"max locked memory", "Max locked memory", "locked-in-memory size", "lockedmem"}},
    {"nproc", "processes", 1, {"max user processes", "Max processes", "processes", "process"}},
    {"stack", "bytes", 1024, {"stack size", "Max stack size", "stack", ""}},
    {"core", "bytes", 1024, {"core file size", "Max core file size", "core file size", "coredump"}},
    {"fsize", "bytes", 1024, {"file size", "Max file size", "file size", "file"}},
    {"as", "bytes", 1024, {"virtual memory", "Max address space", "address space", "vmemory"}},
    {"data", "bytes", 1024, {"data seg size", "Max data size", "data seg size", "data"}},
    {"rss", "bytes", 1024, {"max memory size", "Max resident set", "resident set size", "memory"}},
    {"cpu", "seconds", 60, {"cpu time", "Max cpu time", "cpu time", "time"}},
    {"sigpending", "signals", 1, {"pending signals", "Max pending signals", "", ""}},
    {"msgqueue", "bytes", 1, {"POSIX message queues", "Max msgqueue size", "", ""}},
    {"nice", "", 1, {"scheduling priority", "Max nice priority", "", ""}},
    {"rtprio", "", 1, {"real-time priority", "Max realtime priority", "", ""}},
    {"locks", "locks", 1, {"file locks", "Max file locks", "", ""}},
};

const Known* known(std::string_view printed) {
  for (const Known& row : kKnown) {
    if (equals_ignoring_case(row.name, printed)) return &row;
    for (const std::string_view name : row.printed) {
      if (!name.empty() && name == printed) return &row;
    }
  }
  return nullptr;
}

ResourceLimit named(std::string_view printed) {
  ResourceLimit out;
  const Known* row = known(printed);
  out.name = row != nullptr ? row->name : printed.substr(0, 64);
  if (row != nullptr) out.unit = row->unit;
  return out;
}

// "1024", "unlimited"; false: neither.
bool read_value(std::string_view word, double factor, std::optional<double>& value,
                bool& unlimited) {
  if (word == "unlimited" || word == "infinity" || word == "-1") {
    unlimited = true;
    return true;
  }
  const auto number = parse_uint(word);
  if (number) value = static_cast<double>(*number) * factor;
  return number.has_value();
}

// "kbytes", "512 bytes", "blocks", "microseconds": how much 1 is, in our unit. Blocks of bash's
// ulimit have 1024 bytes, but for core and file sizes under POSIX 512: then the size is not exact,
// and nothing of ours hangs on it.
std::optional<double> factor_of(std::string_view unit) {
  if (unit == "kbytes" || unit == "blocks" || unit == "KiB") return 1024;
  if (unit == "512 bytes" || unit == "512-blocks") return 512;
  if (unit == "bytes" || unit == "seconds" || unit == "microseconds" || unit.empty()) return 1;
  return std::nullopt;
}

// "max locked memory           (kbytes, -l) 8192", "open files (-n) 1024"
std::optional<ResourceLimit> bash_line(std::string_view line) {
  const std::size_t open = line.rfind('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  std::string_view inside = line.substr(open + 1, close - open - 1);
  const std::size_t dash = inside.rfind('-');
  if (dash == std::string_view::npos || dash + 2 != inside.size()) return std::nullopt;
  inside = inside.substr(0, dash);
  while (inside.ends_with(' ') || inside.ends_with(',')) inside.remove_suffix(1);
  const auto factor = factor_of(inside);
  ResourceLimit out = named(trim(line.substr(0, open)));
  const std::string_view value = trim(line.substr(close + 1));
  if (!factor || out.name.empty()) return std::nullopt;
  if (!read_value(value, *factor, out.soft, out.soft_unlimited)) return std::nullopt;
  return out;
}

// "-n: file descriptors              1024", "-l: locked-in-memory size (kbytes)  64"
std::optional<ResourceLimit> zsh_line(std::string_view line) {
  if (line.size() < 5 || line[0] != '-' || line[2] != ':') return std::nullopt;
  const std::size_t blank = line.rfind(' ');
  std::string_view name = trim(line.substr(3, blank - 3));
  double factor = 1;
  if (name.ends_with(')')) {
    const std::size_t open = name.rfind('(');
    if (open == std::string_view::npos) return std::nullopt;
    const auto unit = factor_of(name.substr(open + 1, name.size() - open - 2));
    if (!unit) return std::nullopt;
    factor = *unit;
    name = trim(name.substr(0, open));
  }
  ResourceLimit out = named(name);
  if (!read_value(line.substr(blank + 1), factor, out.soft, out.soft_unlimited)) {
    return std::nullopt;
  }
  return out;
}

// "Max open files            1024                 1048576              files"
std::optional<ResourceLimit> proc_line(std::string_view line) {
  if (!line.starts_with("Max ")) return std::nullopt;
  const auto words = words_of(line);
  // The unit may be missing: "Max nice priority 0 0".
  for (const std::size_t unit : {std::size_t{1}, std::size_t{0}}) {
    if (words.size() < 4 + unit) continue;
    const std::string_view hard = words[words.size() - 1 - unit];
    const std::string_view soft = words[words.size() - 2 - unit];
    const auto end = static_cast<std::size_t>(soft.data() - line.data());
    ResourceLimit out = named(trim(line.substr(0, end)));
    if (unit == 1) out.unit = std::string(words.back().substr(0, 32));
    if (read_value(soft, 1, out.soft, out.soft_unlimited) &&
        read_value(hard, 1, out.hard, out.hard_unlimited)) {
      return out;
    }
  }
  return std::nullopt;
}

// "MEMLOCK    max locked-in-memory address space  8388608 8388608 bytes"
std::optional<ResourceLimit> prlimit_line(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 4 || known(words[0]) == nullptr) return std::nullopt;
  for (const std::size_t unit : {std::size_t{1}, std::size_t{0}}) {
    if (words.size() < 3 + unit) continue;
    ResourceLimit out = named(words[0]);
    if (unit == 1) out.unit = std::string(words.back().substr(0, 32));
    if (read_value(words[words.size() - 2 - unit], 1, out.soft, out.soft_unlimited) &&
        read_value(words[words.size() - 1 - unit], 1, out.hard, out.hard_unlimited)) {
      return out;
    }
  }
  return std::nullopt;
}

// "* soft memlock unlimited", "@users - nofile 65536"
std::optional<ResourceLimit> conf_line(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 4 || (words[1] != "soft" && words[1] != "hard" && words[1] != "-")) {
    return std::nullopt;
  }
  const Known* row = known(words[2]);
  if (row == nullptr) return std::nullopt;
  ResourceLimit out = named(row->name);
  if (words[1] != "hard" && !read_value(words[3], row->conf, out.soft, out.soft_unlimited)) {
    return std::nullopt;
  }
  if (words[1] != "soft" && !read_value(words[3], row->conf, out.hard, out.hard_unlimited)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

void read_limits(SiteText& text) {
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    const auto words = words_of(line, 4);
    const bool heading =
        (line.starts_with("Limit ") && line.find("Soft Limit") != std::string_view::npos) ||
        (line.starts_with("RESOURCE ") && line.find(" SOFT ") != std::string_view::npos);
    if (heading) text.claim(i);
    if (heading || words.size() < 2 || text.claimed(i)) continue;
    for (const auto read : {bash_line, zsh_line, proc_line, conf_line, prlimit_line}) {
      if (auto limit = read(line)) {
        text.add(i, std::move(*limit));
        break;
      }
    }
  }
}

}  // namespace muster
