#include "core/site/settings_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kNameBytes = 256, kValueBytes = 4096;

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

bool is_name(std::string_view text) {
  const auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/';
  };
  return !text.empty() && text.size() <= kNameBytes && !(text[0] >= '0' && text[0] <= '9') &&
         text[0] != '-' && std::all_of(text.begin(), text.end(), part);
}

std::optional<Setting> assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) return std::nullopt;
  if (text.size() - equals > kValueBytes) return std::nullopt;
  return Setting{std::string(text.substr(0, equals)),
                 std::string(unquoted(text.substr(equals + 1)))};
}

std::string_view without_export(std::string_view line) {
  for (const std::string_view word : {"export ", "declare -x ", "setenv "}) {
    if (line.starts_with(word)) return trim(line.substr(word.size()));
  }
  return line;
}

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with(';') || line.starts_with("//");
}

// "dir=/ckpt size_gb=62 keep=2": all words are settings; a value with blanks is one word more.
std::vector<Setting> several(std::string_view line) {
  std::vector<Setting> out;
  for (const std::string_view word : words_of(line)) {
    auto setting = assignment(word);
    if (!setting || setting->value.empty()) return {};
    out.push_back(std::move(*setting));
  }
  return out;
}

// "largest id in data.bin=4711", "key = value": one '=' (or ':'), a short name, one value.
std::optional<Setting> note(std::string_view line, char mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = trim(line.substr(0, at));
  const std::string_view value = unquoted(line.substr(at + 1));
  const bool spoken =
      words_of(name).size() <= 8 && name.find_first_of("\"'()[]{}<>|=:") == std::string_view::npos;
  if (name.empty() || name.size() > kNameBytes || !spoken || value.size() > kValueBytes ||
      value.find('=') != std::string_view::npos) {
    return std::nullopt;
  }
  return Setting{std::string(name), std::string(value)};
}

bool has_ending(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](auto e) { return name.ends_with(e); });
}

std::vector<Setting> settings_of(std::string_view line, bool yaml) {
  line = without_export(line);
  if (std::vector<Setting> found = several(line); found.size() > 1) return found;
  if (auto one = assignment(line)) return {std::move(*one)};
  if (auto one = note(line, '=')) return {std::move(*one)};
  if (yaml) {
    if (auto one = note(line.starts_with("- ") ? line.substr(2) : line, ':')) {
      return {std::move(*one)};
    }
  }
  return {};
}

// "step=4 loss=2.1" and "time=... level=info msg=..." are lines of logs, and these say the same
// names again and again.
bool looks_like_log(const std::vector<std::pair<std::size_t, std::vector<Setting>>>& found) {
  constexpr std::array<std::string_view, 10> kOfLogs = {
      "step", "loss", "iter", "iteration", "epoch", "time", "ts", "level", "msg", "global_step"};
  std::set<std::string_view> names;
  std::size_t all = 0;
  for (const auto& [index, settings] : found) {
    for (const Setting& setting : settings) {
      if (std::find(kOfLogs.begin(), kOfLogs.end(), setting.name) != kOfLogs.end()) return true;
      names.insert(setting.name);
      ++all;
    }
  }
  return all >= 4 && names.size() * 2 <= all;
}

// ---- job scripts -------------------------------------------------------------------------------

constexpr std::array<std::string_view, 9> kLaunchers = {"srun",    "torchrun",    "mpirun",
                                                        "mpiexec", "deepspeed",   "accelerate",
                                                        "sbatch",  "ft_launcher", "python"};

// "--name=value", "--name value", "-N 2", "--flag".
void read_options(SiteText& text, std::size_t index, std::span<const std::string_view> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with('-') || word.size() < 2) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (!is_name(name)) continue;
    std::string_view value;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < words.size() && !words[i + 1].starts_with('-')) {
      value = words[i + 1];
    }
    text.add(index,
             Setting{std::string(name), std::string(unquoted(value.substr(0, kValueBytes)))});
  }
}

void read_script_line(SiteText& text, std::size_t index, std::string_view line) {
  if (line.starts_with("#SBATCH")) return read_options(text, index, words_of(line.substr(7)));
  if (is_comment(line)) return;
  line = without_export(line.substr(0, std::min(line.find(" #"), line.size())));
  const auto words = words_of(line);
  // Assignments in front of a command are its environment.
  std::size_t first = 0;
  while (first < words.size()) {
    auto setting = assignment(words[first]);
    if (!setting) break;
    text.add(index, std::move(*setting));
    ++first;
  }
  for (std::size_t i = first; i < words.size(); ++i) {
    std::string_view program = words[i].substr(words[i].rfind('/') + 1);
    while (program.starts_with('"') || program.starts_with('\'')) program.remove_prefix(1);
    if (program.starts_with("python")) program = "python";
    if (std::find(kLaunchers.begin(), kLaunchers.end(), program) == kLaunchers.end()) continue;
    return read_options(text, index, std::span(words).subspan(i + 1));
  }
}

}  // namespace

void read_settings(SiteText& text) {
  const bool yaml = has_ending(text.name(), {".yaml", ".yml"});
  const bool sections = has_ending(text.name(), {".ini", ".cfg", ".conf", ".toml"});
  std::vector<std::pair<std::size_t, std::vector<Setting>>> found;
  bool function = false;  // exported by bash: "BASH_FUNC_ml%%=() { ..." to "}"
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    if (line.starts_with("BASH_FUNC_")) function = true;
    const bool passed = function || line.empty() || text.claimed(i) || is_comment(line);
    if (function && line.ends_with('}')) function = false;
    if (passed) continue;
    if ((sections && line.starts_with('[') && line.ends_with(']')) || (yaml && line == "---")) {
      continue;
    }
    auto settings = settings_of(line, yaml);
    if (settings.empty()) return;
    found.emplace_back(i, std::move(settings));
  }
  if (found.empty() || looks_like_log(found)) return;
  for (std::size_t i = 0; i < text.lines().size(); ++i) text.claim(i);
  for (auto& [index, settings] : found) {
    for (Setting& setting : settings) text.add(index, std::move(setting));
  }
}

void read_job_script(SiteText& text) {
  bool script = false;
  for (std::size_t i = 0; i < text.lines().size() && !script; ++i) {
    script = text.line(i).starts_with("#SBATCH ") || (i == 0 && text.line(i).starts_with("#!"));
  }
  if (!script) return;
  // A command goes on behind a backslash: its options are read line by line.
  bool goes_on = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    text.claim(i);
    if (goes_on) {
      read_options(text, i, words_of(line));
    } else {
      read_script_line(text, i, line);
    }
    goes_on = line.ends_with('\\');
  }
}

}  // namespace muster
