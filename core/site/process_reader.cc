#include "core/site/process_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

struct Columns {
  std::size_t pid = 0, all = 0;
  std::optional<std::size_t> state, wait, command;
};

std::optional<std::size_t> column(const std::vector<std::string_view>& words,
                                  std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(names.begin(), names.end(), words[i]) != names.end()) return i;
  }
  return std::nullopt;
}

std::optional<Columns> read_heading(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 2 || words.size() > 32) return std::nullopt;
  Columns out;
  const auto pid = column(words, {"PID"});
  out.state = column(words, {"STAT", "S"});
  out.wait = column(words, {"WCHAN"});
  out.command = column(words, {"COMMAND", "CMD", "ARGS", "COMM"});
  out.all = words.size();
  const bool last = !out.command || *out.command + 1 == words.size();
  if (!pid || !last || (!out.command && !out.state)) return std::nullopt;
  out.pid = *pid;
  return out;
}

std::optional<ProcessRow> read_row(const Columns& columns, std::string_view line) {
  const auto words = words_of(line, columns.all);
  if (words.size() < columns.all) return std::nullopt;
  const auto pid = parse_uint(words[columns.pid]);
  if (!pid || *pid == 0 || *pid > (1u << 30)) return std::nullopt;
  ProcessRow out;
  out.pid = static_cast<std::int64_t>(*pid);
  if (columns.state) out.state = std::string(words[*columns.state].substr(0, 16));
  if (columns.wait && words[*columns.wait] != "-") {
    out.wait = std::string(words[*columns.wait].substr(0, 64));
  }
  if (columns.command) out.command = std::string(words[*columns.command].substr(0, 512));
  return out;
}

}  // namespace

void read_processes(SiteText& text) {
  std::optional<Columns> columns;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (const auto found = read_heading(line)) {
      columns = found;
      text.claim(i);
    } else if (line.empty()) {
      columns.reset();
    } else if (columns) {
      if (auto row = read_row(*columns, line)) text.add(i, std::move(*row));
    } else if (line.starts_with("top - ") || line.starts_with("Tasks: ") ||
               line.starts_with("%Cpu(s)") || line.starts_with("MiB ") ||
               line.starts_with("KiB ")) {
      text.claim(i);
    }
  }
}

}  // namespace muster
