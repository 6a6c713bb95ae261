#include "tests/tidy/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace muster::tidy {
namespace {

constexpr int kFunctionLines = 70;
constexpr int kColumns = 100;

bool is_header(std::string_view path) {
  return path.ends_with(".h") || path.ends_with(".hpp");
}
bool is_source(std::string_view path) {
  return path.ends_with(".cc") || path.ends_with(".cpp");
}
bool is_cxx(std::string_view path) {
  return is_header(path) || is_source(path);
}
bool is_test(std::string_view path) {
  // thing_test.cc, and what several of them share: thing_test_kit.h.
  return path.find("_test.") != std::string_view::npos ||
         path.find("_test_") != std::string_view::npos || path.starts_with("tests/") ||
         path.starts_with("fuzz/") || path.starts_with("bench/");
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}
std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

struct Place {
  int rank;          // -1: no such folder in the table
  std::string area;  // who is a sibling of whom: "core/telemetry"
};

Place place_of(const std::string& path) {
  const auto pieces = split(path, '/');
  const std::string top(pieces.size() > 1 ? pieces[0] : "");
  const std::string second = top + "/" + std::string(pieces.size() > 2 ? pieces[1] : "");
  if (top == "base") return {0, top};
  if (second == "core/model") return {1, second};
  if (top == "core") return {2, second};
  if (top == "edge") return {3, second};
  if (top == "app") return {4, top};
  if (top == "cmd" || top == "train" || top == "python") return {5, top};
  if (top == "tests" || top == "fuzz" || top == "bench") return {6, "tests"};
  return {-1, top};
}

// Why `from` may not include `to`; empty when it may.
std::string why_not(const std::string& from, const std::string& to) {
  const Place a = place_of(from);
  const Place b = place_of(to);
  if (a.rank < 0) return "this folder has no rank: docs/DESIGN.md lists the folders";
  if (b.rank == 6) return is_test(from) ? "" : "only tests include what is made for tests";
  if (b.rank < 0) return "it lies in a folder without a rank";
  if (b.rank > a.rank) return fmt::format("rank {} may not include rank {}", a.rank, b.rank);
  if (a.area == "train") {
    static const std::set<std::string> kAllowed = {
        "base",      "core/model", "core/tokens", "core/blocks", "core/progress", "core/checkpoint",
        "core/cost", "edge/os",    "train"};
    return kAllowed.contains(b.area) ? "" : "train/ may not include " + b.area + "/";
  }
  if (a.rank != b.rank || a.area == b.area || b.area == "edge/os") return "";
  return fmt::format(
      "{} and {} are siblings: shared types move down to core/model/, joint work up "
      "to app/",
      a.area, b.area);
}

// A word of code: `word` not inside a longer name.
std::size_t find_word(std::string_view text, std::string_view word) {
  const auto part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::size_t at = text.find(word);
  while (at != std::string_view::npos) {
    const std::size_t end = at + word.size();
    const bool left = at > 0 && part_of_name(text[at - 1]) && part_of_name(word.front());
    const bool right = end < text.size() && part_of_name(text[end]) && part_of_name(word.back());
    if (!left && !right) return at;
    at = text.find(word, at + 1);
  }
  return at;
}

int line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// ---- third-party headers -----------------------------------------------------------------------

struct Owner {
  std::string_view header;  // the header, or the folder of headers with "/" at its end
  std::vector<std::string_view> places;
  bool in_headers = false;
};

// The one table of who may include what; docs/DESIGN.md gives the reasons.
const std::vector<Owner>& owners() {
  static const std::vector<Owner> kOwners = {
      {"fmt/core.h", {""}, true},
      {"tl/expected.hpp", {"base/"}, true},
      {"fmt/", {""}},
      {"CLI/", {"cmd/options.cc"}},
      {"toml++/", {"edge/config/toml_document.cc"}},
      {"httplib.h", {"edge/net/"}},
      {"sqlite3.h", {"edge/store/"}},
      {"zstd.h", {"edge/os/", "edge/record/"}},
      {"zlib.h", {"edge/"}},
      {"arrow/", {"edge/columns/"}},
      {"parquet/", {"edge/columns/"}},
      {"archive.h", {"edge/archive/"}},
      {"archive_entry.h", {"edge/archive/"}},
      {"openssl/", {"edge/", "core/"}},
      {"pugixml.hpp", {"core/"}},
      {"simdjson.h", {"core/"}},
      {"re2/", {"core/"}},
      {"xxhash.h", {"core/"}},
      {"immintrin.h", {"core/tokens/class_masks.cc"}},
      {"oneapi/dnnl/", {"train/math/"}},
      {"cuda_runtime.h", {"train/comm/nccl_exchange.cc"}},
      {"nccl.h", {"train/comm/nccl_exchange.cc"}},
      {"gtest/", {"tests/"}, true},
      {"gmock/", {"tests/"}, true},
      {"benchmark/", {"bench/"}},
  };
  return kOwners;
}

bool is_standard(std::string_view header) {
  return header.find('.') == std::string_view::npos && header.find('/') == std::string_view::npos;
}

// Headers of the C library and the kernel: for the edge and for tests.
bool is_system(std::string_view header) {
  static const std::set<std::string_view> kNames = {
      "unistd.h", "fcntl.h",  "glob.h",   "poll.h",   "dlfcn.h", "signal.h", "termios.h",
      "pty.h",    "utmp.h",   "netdb.h",  "spawn.h",  "time.h",  "errno.h",  "pthread.h",
      "sched.h",  "stdlib.h", "stdio.h",  "string.h", "pwd.h",   "dirent.h", "endian.h",
      "limits.h", "stdint.h", "stddef.h", "link.h"};
  static constexpr std::array<std::string_view, 6> kFolders = {"sys/",     "linux/", "net/",
                                                               "netinet/", "arpa/",  "sanitizer/"};
  return kNames.contains(header) ||
         std::any_of(kFolders.begin(), kFolders.end(),
                     [header](std::string_view folder) { return header.starts_with(folder); });
}

std::string third_party_fault(const std::string& path, const std::string& header) {
  for (const Owner& owner : owners()) {
    const bool hit =
        owner.header.ends_with('/') ? header.starts_with(owner.header) : header == owner.header;
    if (!hit) continue;
    if (is_header(path) && !owner.in_headers) return "belongs in a .cc, not in a header";
    if (is_test(path)) return "";  // a test may look at its subject through the library
    const bool owned =
        std::any_of(owner.places.begin(), owner.places.end(),
                    [&path](std::string_view place) { return path.starts_with(place); });
    return owned ? "" : fmt::format("belongs to {}", owner.places.front());
  }
  return "has no owner: add a row to tests/tidy/rules.cc and a reason to docs/DESIGN.md";
}

void add(Complaints& out, const std::string& path, int line, const std::string& text) {
  out.push_back(fmt::format("{}:{}: {}", path, line, text));
}

}  // namespace

Complaints check_ranks(const Tree& tree) {
  std::set<std::string> paths;
  for (const SourceFile& file : tree) paths.insert(file.path);
  Complaints out;
  for (const SourceFile& file : tree) {
    if (!is_cxx(file.path)) continue;
    if (place_of(file.path).rank < 0) add(out, file.path, 1, "no rank is known for this folder");
    for (const Include& include : includes_of(file.text)) {
      if (!include.quoted) {
        if (paths.contains(include.header)) {
          add(out, file.path, include.line, include.header + " is ours: use quotes");
        }
        continue;
      }
      if (!paths.contains(include.header)) {
        add(out, file.path, include.line,
            include.header + " is no file of the tree (paths start at its root)");
        continue;
      }
      const std::string why = why_not(file.path, include.header);
      if (!why.empty()) add(out, file.path, include.line, include.header + ": " + why);
    }
  }
  return out;
}

Complaints check_purity(const Tree& tree) {
  static const std::set<std::string_view> kHeaders = {
      "fstream",           "iostream", "filesystem", "thread",    "mutex",
      "shared_mutex",      "future",   "random",     "semaphore", "latch",
      "condition_variable"};
  static constexpr std::array<std::string_view, 16> kCalls = {
      "now(",       "getenv",      "rand(",        "srand(",       "std::thread", "std::jthread",
      "fopen(",     "popen(",      "system(",      "time(nullptr", "time(NULL",   "sleep_for(",
      "fmt::print", "std::printf", "gettimeofday", "clock_gettime"};
  Complaints out;
  for (const SourceFile& file : tree) {
    const bool core = file.path.starts_with("core/") || file.path.starts_with("base/");
    if (!core || !is_cxx(file.path) || is_test(file.path)) continue;
    for (const Include& include : includes_of(file.text)) {
      if (kHeaders.contains(include.header) || is_system(include.header)) {
        add(out, file.path, include.line,
            fmt::format("<{}>: the core is told what it needs; I/O belongs to edge/",
                        include.header));
      }
    }
    const std::string code = code_only(file.text);
    for (std::string_view call : kCalls) {
      const std::size_t at = find_word(code, call);
      if (at == std::string::npos) continue;
      add(out, file.path, line_of(code, at),
          fmt::format("{}: no clock, chance, environment, thread or output in the core", call));
    }
  }
  return out;
}

Complaints check_third_party(const Tree& tree) {
  Complaints out;
  for (const SourceFile& file : tree) {
    if (!is_cxx(file.path)) continue;
    for (const Include& include : includes_of(file.text)) {
      if (include.quoted || is_standard(include.header)) continue;
      if (is_system(include.header)) {
        const bool app = file.path.starts_with("app/");
        if (app)
          add(out, file.path, include.line,
              include.header + ": app/ reaches the system through edge/");
        continue;
      }
      const std::string fault = third_party_fault(file.path, include.header);
      if (!fault.empty()) add(out, file.path, include.line, include.header + " " + fault);
    }
  }
  return out;
}

Complaints check_registered(const Tree& tree) {
  // Folder -> words of its CMakeLists.txt.
  std::map<std::string, std::set<std::string>> words;
  for (const SourceFile& file : tree) {
    if (name_of(file.path) != "CMakeLists.txt") continue;
    std::set<std::string>& set = words[folder_of(file.path)];
    for (std::string_view line : split(file.text, '\n')) {
      line = line.substr(0, line.find('#'));
      std::string word;
      for (const char c : std::string(line) + " ") {
        const bool blank = c == ' ' || c == '\t' || c == '(' || c == ')' || c == '"';
        if (!blank) word += c;
        if (blank && !word.empty()) set.insert(std::exchange(word, ""));
      }
    }
  }
  Complaints out;
  for (const SourceFile& file : tree) {
    if (!is_source(file.path)) continue;
    bool named = false;
    for (const auto& [folder, set] : words) {
      const std::string prefix = folder.empty() ? "" : folder + "/";
      if (!file.path.starts_with(prefix)) continue;
      named = named || set.contains(file.path.substr(prefix.size()));
    }
    if (!named) add(out, file.path, 1, "no CMakeLists.txt names this file");
  }
  return out;
}

Complaints check_headers(const Tree& tree) {
  std::set<std::string> included;
  for (const SourceFile& file : tree) {
    for (const Include& include : includes_of(file.text)) {
      if (include.header != file.path) included.insert(include.header);
    }
  }
  Complaints out;
  std::map<std::string, std::string> stems;
  for (const SourceFile& file : tree) {
    if (!is_header(file.path)) continue;
    if (!included.contains(file.path)) add(out, file.path, 1, "nobody includes this header");
    const std::string code = without_comments(file.text);
    if (!trim(code.substr(0, code.find('\n', code.find('#')))).ends_with("#pragma once")) {
      add(out, file.path, 1, "a header begins with #pragma once");
    }
    const std::string stem = to_lower(file.path.substr(0, file.path.rfind('.')));
    const auto [it, fresh] = stems.emplace(stem, file.path);
    if (!fresh) add(out, file.path, 1, "has the same name as " + it->second);
  }
  return out;
}

Complaints check_lengths(const Tree& tree) {
  Complaints out;
  for (const SourceFile& file : tree) {
    if (!is_cxx(file.path)) continue;
    for (const Function& function : functions_of(file.text)) {
      if (function.length > kFunctionLines) {
        add(out, file.path, function.line,
            fmt::format("a function of {} lines; {} at most", function.length, kFunctionLines));
      }
    }
    int number = 0;
    for (const std::string_view line : split(file.text, '\n')) {
      ++number;
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      });
      if (columns > kColumns) {
        add(out, file.path, number, fmt::format("{} columns; {} at most", columns, kColumns));
      }
    }
  }
  return out;
}

Complaints check_leftovers(const Tree& tree) {
  // Spelled in two pieces, so that this file does not complain of itself.
  static const std::vector<std::string> kNotes = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "XX"
      "X:"};
  static const std::vector<std::string> kHomes = {
      "/ho"
      "me/",
      "/ro"
      "ot/",
      "/Us"
      "ers/"};
  Complaints out;
  for (const SourceFile& file : tree) {
    int number = 0;
    for (const std::string_view line : split(file.text, '\n')) {
      ++number;
      for (const std::string& note : kNotes) {
        if (find_word(line, note) != std::string_view::npos) {
          add(out, file.path, number, note + ": finish it, or file an issue");
        }
      }
      for (const std::string& home : kHomes) {
        if (line.find(home) != std::string_view::npos) {
          add(out, file.path, number, home + ": a path of one machine");
        }
      }
      if (line.ends_with(' ') || line.ends_with('\t')) {
        add(out, file.path, number, "blanks at the end of the line");
      }
    }
  }
  return out;
}

Complaints check_documents(const Tree& tree) {
  Complaints out;
  for (const SourceFile& file : tree) {
    if (file.path.ends_with(".md") && !file.text.starts_with("# ")) {
      add(out, file.path, 1, "a document begins with a title: # ...");
    }
  }
  return out;
}

}  // namespace muster::tidy
