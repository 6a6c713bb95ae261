#include "core/site/trial_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

struct Columns {
  char mark = '\t';
  std::size_t hosts = 0, result = 0, all = 0;
  std::optional<std::size_t> name, groups;
  std::string group_key;
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](auto word) { return text.find(word) != std::string_view::npos; });
}

std::optional<Columns> read_heading(std::string_view line) {
  for (const char mark : {'\t', '|', ','}) {
    const auto cells = split(line, mark);
    if (cells.size() < 3 || cells.size() > 32) continue;
    Columns out{.mark = mark,
                .hosts = 0,
                .result = 0,
                .all = cells.size(),
                .name = {},
                .groups = {},
                .group_key = ""};
    std::optional<std::size_t> hosts, result;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string word = to_lower(trim(cells[i]));
      if (word == "hosts" || word == "nodes" || word == "nodelist") hosts = i;
      if (word == "result" || word == "outcome" || word == "verdict") result = i;
      if (word == "run" || word == "trial" || word == "test" || word == "name" || word == "id") {
        out.name = i;
      }
      if (has_any(word, {"leaf", "rack", "rail", "switch", "pod", "zone", "block", "group"})) {
        out.groups = i;
        out.group_key = word.substr(0, 64);
      }
    }
    if (!hosts || !result) continue;
    out.hosts = *hosts;
    out.result = *result;
    return out;
  }
  return std::nullopt;
}

bool is_denied(std::string_view before) {
  const auto words = words_of(before);
  if (words.empty()) return false;
  constexpr std::array<std::string_view, 5> kNone = {"no", "not", "without", "0", "never"};
  return std::find(kNone.begin(), kNone.end(), words.back()) != kNone.end();
}

bool is_failure(std::string_view result) {
  const std::string text = to_lower(result);
  for (const std::string_view word :
       {"hang", "hung", "fail", "error", "crash", "timeout", "timed out", "abort", "deadlock"}) {
    const std::size_t at = text.find(word);
    if (at != std::string::npos && !is_denied(std::string_view(text).substr(0, at))) return true;
  }
  return false;
}

std::optional<TrialRun> read_row(SiteText& text, const Columns& columns, std::string_view line) {
  const auto cells = split(line, columns.mark);
  if (cells.size() != columns.all) return std::nullopt;
  TrialRun out;
  if (columns.name) out.name = short_text(cells[*columns.name]);
  std::string hosts(cells[columns.hosts]);
  std::replace(hosts.begin(), hosts.end(), ' ', ',');
  out.hosts = text.hosts_of(hosts);
  if (columns.groups) {
    out.group_key = columns.group_key;
    std::string groups(cells[*columns.groups]);
    std::replace(groups.begin(), groups.end(), ' ', ',');
    for (const std::string_view group : split(groups, ',')) {
      if (!trim(group).empty() && out.groups.size() < 1024) out.groups.emplace_back(trim(group));
    }
  }
  out.result = short_text(cells[columns.result]);
  out.failed = is_failure(out.result);
  if (out.hosts.empty() || out.result.empty()) return std::nullopt;
  return out;
}

}  // namespace

void read_trials(SiteText& text) {
  std::optional<Columns> columns;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    if (text.claimed(i) || text.line(i).empty()) continue;
    if (auto found = read_heading(text.line(i))) {
      columns = std::move(found);
      text.claim(i);
    } else if (columns) {
      if (auto row = read_row(text, *columns, text.line(i))) text.add(i, std::move(*row));
    }
  }
}

}  // namespace muster
