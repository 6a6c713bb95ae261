#include "core/blocks/plan_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/blocks/plan_names.h"
#include "core/model/json_reader.h"

namespace muster::blocks {
namespace {

using Word = std::string_view;

std::string kept_text(std::string_view text) {
  return std::string(text.substr(0, limits::kEvidenceChars));
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_comment(std::string_view line) {
  return line.empty() || line[0] == '#' || line[0] == ';' || line.starts_with("//") ||
         (line.front() == '[' && line.back() == ']');
}

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

// ---- settings ----------------------------------------------------------------------------------

using NameValue = std::pair<std::string_view, std::string_view>;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> out;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > begin) out.push_back(line.substr(begin, at - begin));
  }
  return out;
}

// "name = value", "name: value": one of a line, with what stands behind it in quotes or alone.
std::optional<NameValue> single_setting(std::string_view line) {
  const std::size_t at = line.find_first_of("=:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = unquoted(line.substr(0, at));
  std::string_view value = trim(line.substr(at + 1));
  const std::size_t comment = value.find(" #");
  if (comment != std::string_view::npos) value = trim(value.substr(0, comment));
  if (value.ends_with(',')) value = trim(value.substr(0, value.size() - 1));
  value = unquoted(value);
  if (!is_name(name) || words_of(value).size() > 1) return std::nullopt;
  return NameValue{name, value};
}

// All settings of a line; nothing where it holds something else.
std::optional<std::vector<NameValue>> settings_of(std::string_view line) {
  std::vector<NameValue> out;
  const std::vector<Word> words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = words[i];
    if (word.ends_with(',')) word.remove_suffix(1);
    const std::size_t at = word.find('=');
    const bool option = word.starts_with("--") && word.size() > 2;
    if (at != Word::npos && at > 0 && at + 1 < word.size() && is_name(word.substr(0, at))) {
      out.emplace_back(word.substr(0, at), unquoted(word.substr(at + 1)));
    } else if (option && is_name(word)) {
      // "--name value", or a flag.
      const bool value = i + 1 < words.size() && !words[i + 1].starts_with("--");
      out.emplace_back(word, value ? unquoted(words[i + 1]) : Word("true"));
      if (value) ++i;
    } else {
      out.clear();
      break;
    }
  }
  if (!out.empty()) return out;
  const auto single = single_setting(line);
  if (!single) return std::nullopt;
  return std::vector<NameValue>{*single};
}

// Whether the name was known.
bool take_setting(std::string_view name, std::string_view value, const PlanLine& seen,
                  PlanFacts& out) {
  const auto role = plan_role(name);
  if (!role) return false;
  while (name.starts_with('-')) name.remove_prefix(1);
  const auto known = plan_value(*role, value);
  if (known && out.settings.size() < limits::kSettings) {
    out.settings.push_back({*role, std::string(name), *known, seen});
  } else if (*role != PlanRole::id_bytes && *role != PlanRole::max_steps &&
             *role != PlanRole::forgiving && out.unread.size() < limits::kInputsNamed) {
    out.unread.push_back(seen);
  }
  return true;
}

bool read_settings(const std::string& source, std::string_view bytes, PlanFacts& out) {
  PlanFacts found;
  bool known = false;
  std::uint64_t number = 0, understood = 0, others = 0;
  for (const std::string_view raw : split(bytes, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (is_comment(line)) continue;
    const auto settings = settings_of(line);
    ++(settings ? understood : others);
    if (!settings) continue;
    for (const auto& [name, value] : *settings) {
      known |= take_setting(name, value, {source, number, kept_text(line)}, found);
    }
  }
  if (!known || understood * 3 < (understood + others) * 2) return false;
  out.settings.insert(out.settings.end(), found.settings.begin(), found.settings.end());
  out.unread.insert(out.unread.end(), found.unread.begin(), found.unread.end());
  return true;
}

// ---- tables ------------------------------------------------------------------------------------

// What stands between the cells of a heading; ' ' for blanks.
char separator_of(std::string_view heading) {
  for (const char c : {'\t', ',', ';', '|'}) {
    if (heading.find(c) != std::string_view::npos) return c;
  }
  return ' ';
}

std::vector<Word> cells_of(std::string_view line, char separator) {
  if (separator == ' ') return words_of(line);
  if (separator == '|') {  // "| a | b |"
    if (line.starts_with('|')) line.remove_prefix(1);
    if (line.ends_with('|')) line.remove_suffix(1);
  }
  std::vector<Word> out;
  for (const std::string_view cell : split(line, separator)) out.push_back(unquoted(cell));
  return out;
}

struct Heading {
  char separator = ' ';
  std::vector<std::optional<PlanColumn>> columns;
};

// The first of two columns of one kind counts.
std::optional<Heading> heading_of(std::string_view line) {
  Heading out{separator_of(line), {}};
  bool rank = false, quantity = false;
  std::vector<PlanColumn> known;
  for (const Word cell : cells_of(line, out.separator)) {
    if (!cell.empty() && is_digit(cell.front())) return std::nullopt;  // a line of values
    auto column = plan_column(cell);
    if (column && std::find(known.begin(), known.end(), *column) != known.end()) column.reset();
    if (column) known.push_back(*column);
    rank |= column == PlanColumn::rank;
    quantity |= column && *column > PlanColumn::file;
    out.columns.push_back(column);
  }
  if (!rank || !quantity) return std::nullopt;
  return out;
}

std::optional<std::uint64_t>& place_of(PlanColumn column, RankRow& row) {
  switch (column) {
    case PlanColumn::samples:
      return row.samples;
    case PlanColumn::blocks:
      return row.blocks;
    case PlanColumn::tokens:
      return row.tokens;
    case PlanColumn::batches:
      return row.batches;
    case PlanColumn::steps:
      return row.steps;
    default:
      return row.bytes;
  }
}

// "3", "rank 3", "rank03".
std::optional<std::uint64_t> rank_number(std::string_view cell) {
  const std::string low = to_lower(cell);
  std::string_view text = low;
  if (text.starts_with("rank")) text = trim(text.substr(4));
  const auto number = parse_uint(text);
  if (!number || *number >= static_cast<std::uint64_t>(limits::kRanks)) return std::nullopt;
  return number;
}

bool read_row(const Heading& heading, const PlanLine& seen, std::string_view line, RankRow& row) {
  const std::vector<Word> cells = cells_of(line, heading.separator);
  if (cells.size() != heading.columns.size()) return false;
  row.seen = seen;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!heading.columns[i]) continue;
    const PlanColumn column = *heading.columns[i];
    if (column == PlanColumn::file) {
      row.file = cells[i];
      continue;
    }
    const auto number = column == PlanColumn::rank ? rank_number(cells[i]) : plan_number(cells[i]);
    if (!number) return false;
    if (column == PlanColumn::rank) {
      row.rank = *number;
    } else {
      place_of(column, row) = number;
    }
  }
  return true;
}

// ---- lines of ranks ----------------------------------------------------------------------------

// "rank 3: 47 samples", "rank=3 samples=47".
std::optional<RankRow> rank_line(std::string_view line) {
  std::vector<Word> words;
  for (const Word word : words_of(line)) {
    for (std::size_t at = 0; at <= word.size();) {
      const std::size_t end = std::min(word.find_first_of("=:(),;", at), word.size());
      if (end > at) words.push_back(word.substr(at, end - at));
      at = end + 1;
    }
  }
  if (words.size() < 4 || plan_column(words[0]) != PlanColumn::rank) return std::nullopt;
  const auto rank = rank_number(words[1]);
  if (!rank) return std::nullopt;
  RankRow row;
  row.rank = *rank;
  bool told = false;
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    const bool name_first = plan_number(words[i + 1]).has_value();
    const auto number = plan_number(words[name_first ? i + 1 : i]);
    const auto column = plan_column(words[name_first ? i : i + 1]);
    if (!number || !column || *column <= PlanColumn::file) continue;
    place_of(*column, row) = number;
    told = true;
    ++i;
  }
  return told ? std::optional(row) : std::nullopt;
}

void keep_row(RankRow row, PlanLine seen, PlanFacts& out) {
  if (out.rows.size() >= static_cast<std::size_t>(limits::kRanks)) return;
  row.seen = std::move(seen);
  out.rows.push_back(std::move(row));
}

// Two thirds of the lines or more are of a rank; the others are settings, or are not understood.
bool read_rank_lines(const std::string& source, std::string_view bytes, PlanFacts& out) {
  PlanFacts found;
  std::uint64_t number = 0, others = 0;
  for (const std::string_view raw : split(bytes, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (is_comment(line)) continue;
    const PlanLine seen{source, number, kept_text(line)};
    if (auto row = rank_line(line)) {
      keep_row(std::move(*row), seen, found);
      continue;
    }
    ++others;
    if (to_lower(line).starts_with("rank") && found.unread.size() < limits::kInputsNamed) {
      found.unread.push_back(seen);
      continue;
    }
    for (const auto& [name, value] : settings_of(line).value_or(std::vector<NameValue>{})) {
      take_setting(name, value, seen, found);
    }
  }
  if (found.rows.empty() || found.rows.size() < 2 * others) return false;
  std::move(found.rows.begin(), found.rows.end(), std::back_inserter(out.rows));
  std::move(found.settings.begin(), found.settings.end(), std::back_inserter(out.settings));
  std::move(found.unread.begin(), found.unread.end(), std::back_inserter(out.unread));
  return true;
}

// ---- JSON --------------------------------------------------------------------------------------

std::string json_text(const JsonNode& node) {
  if (const auto* text = node.get<std::string>()) return *text;
  if (const auto* flag = node.get<bool>()) return *flag ? "true" : "false";
  if (const auto* number = node.get<std::int64_t>()) return std::to_string(*number);
  if (const auto* number = node.get<std::uint64_t>()) return std::to_string(*number);
  if (const auto* number = node.get<double>()) return std::to_string(*number);
  return "";
}

bool take_array(const std::string& source, const JsonNode::Array& items, PlanFacts& out);

// {"rank": 2, "samples": 47}
std::optional<RankRow> rank_object(const JsonNode::Object& object) {
  RankRow row;
  bool rank = false, told = false;
  for (const auto& [name, node] : object) {
    const auto column = plan_column(name);
    const std::string value = json_text(node);
    if (!column || value.empty()) continue;
    if (*column == PlanColumn::file) {
      row.file = value;
    } else if (*column == PlanColumn::rank) {
      const auto number = rank_number(value);
      if (!number) return std::nullopt;
      row.rank = *number;
      rank = true;
    } else if (const auto number = plan_number(value)) {
      place_of(*column, row) = number;
      told = true;
    }
  }
  return rank && told ? std::optional(row) : std::nullopt;
}

bool take_object(const std::string& source, std::uint64_t line, const JsonNode::Object& object,
                 PlanFacts& out) {
  if (auto row = rank_object(object)) {
    keep_row(std::move(*row), {source, line, "an object of a rank"}, out);
    return true;
  }
  bool known = false;
  for (const auto& [name, node] : object) {
    if (const auto* inner = node.get<JsonNode::Object>()) {
      known |= take_object(source, line, *inner, out);
    }
    if (const auto* items = node.get<JsonNode::Array>()) known |= take_array(source, *items, out);
    const std::string value = json_text(node);
    if (value.empty()) continue;
    known |= take_setting(name, value, {source, line, kept_text(name + " = " + value)}, out);
  }
  return known;
}

bool take_array(const std::string& source, const JsonNode::Array& items, PlanFacts& out) {
  bool known = false;
  for (const JsonNode& item : items) {
    if (const auto* object = item.get<JsonNode::Object>()) {
      known |= take_object(source, 0, *object, out);
    }
  }
  return known;
}

bool read_json(const std::string& source, std::string_view bytes, PlanFacts& out) {
  if (const auto document = parse_json(bytes)) {
    if (const auto* object = document->get<JsonNode::Object>()) {
      return take_object(source, 0, *object, out);
    }
    const auto* items = document->get<JsonNode::Array>();
    return items != nullptr && take_array(source, *items, out);
  }
  // One object a line.
  PlanFacts found;
  std::uint64_t number = 0;
  for (const std::string_view raw : split(bytes, '\n')) {
    ++number;
    if (trim(raw).empty()) continue;
    const auto document = parse_json(raw);
    const auto* object = document ? document->get<JsonNode::Object>() : nullptr;
    auto row = object != nullptr ? rank_object(*object) : std::nullopt;
    if (!row) return false;
    keep_row(std::move(*row), {source, number, kept_text(trim(raw))}, found);
  }
  std::move(found.rows.begin(), found.rows.end(), std::back_inserter(out.rows));
  return true;
}

// ---- tables, line by line ----------------------------------------------------------------------

bool is_rule(std::string_view line) {
  return line.find_first_not_of("-+|=: \t") == std::string_view::npos;
}

bool read_table(const std::string& source, std::string_view bytes, PlanFacts& out) {
  std::optional<Heading> heading;
  std::uint64_t number = 0;
  for (const std::string_view raw : split(bytes, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || is_rule(line)) continue;
    if (!heading) {
      std::string_view names = line;  // "# rank bytes"
      if (names.starts_with('#')) names = trim(names.substr(1));
      heading = heading_of(names);
      if (!heading && is_comment(line)) continue;
      if (!heading) return false;
      continue;
    }
    if (is_comment(line)) continue;
    RankRow row;
    const PlanLine seen{source, number, kept_text(line)};
    if (out.rows.size() < static_cast<std::size_t>(limits::kRanks) &&
        read_row(*heading, seen, line, row)) {
      out.rows.push_back(std::move(row));
    } else if (out.unread.size() < limits::kInputsNamed) {
      out.unread.push_back(seen);
    }
  }
  return heading.has_value();
}

}  // namespace

bool read_plan(const std::string& source, std::string_view bytes, PlanFacts& out) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::string_view text = trim(bytes);
  if (text.starts_with('{') || text.starts_with("[{") || text.starts_with("[\n")) {
    return read_json(source, bytes, out);
  }
  return read_table(source, bytes, out) || read_rank_lines(source, bytes, out) ||
         read_settings(source, bytes, out);
}

}  // namespace muster::blocks
