#include "edge/config/rules_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "edge/config/near_word.h"
#include "edge/config/toml_document.h"

namespace muster {
namespace {

constexpr std::size_t kShownChars = 80;
using Kind = TomlNode::Kind;

std::optional<CulpritKind> culprit_kind_from_name(std::string_view name) {
  for (int i = 0; i < static_cast<int>(CulpritKind::none); ++i) {
    const auto kind = static_cast<CulpritKind>(i);
    if (culprit_kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<Severity> severity_from_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Severity::critical); ++i) {
    const auto severity = static_cast<Severity>(i);
    if (severity_name(severity) == name) return severity;
  }
  return std::nullopt;
}

// Reads one file; the first complaint stays.
class RulesReader {
 public:
  explicit RulesReader(const std::string& name) : name_(name) { out_.name = name; }

  Result<RulesFile> read(const TomlNode& file) {
    only(file, "", {"rule"});
    const TomlNode* rules = file.find("rule");
    if (rules == nullptr) {
      complain(file.place, "no [[rule]] in it");
    } else if (is(*rules, Kind::list, "rule ([[rule]], one for each)")) {
      for (const TomlNode& one : rules->items) {
        if (is(one, Kind::table, "[[rule]]")) rule(one);
      }
    }
    if (error_) return *error_;
    return std::move(out_);
  }

 private:
  void rule(const TomlNode& table) {
    only(table, "rule",
         {"name", "anchor", "pattern", "cause", "role", "severity", "subject", "meaning", "advice",
          "actions", "match", "no_match"});
    LogRule rule;
    rule.name = text(table, "name");
    rule.anchor = text(table, "anchor");
    rule.pattern = text(table, "pattern");
    rule.meaning = text(table, "meaning");
    rule.advice = text(table, "advice");
    if (rule.name.empty()) complain(table.place, "a [[rule]] needs a name");
    if (rule.anchor.empty() && rule.pattern.empty()) {
      complain(table.place, fmt::format("rule {} needs a pattern or an anchor", shown(rule.name)));
    }
    words(table, rule);
    subject(table, rule);
    actions(table, rule);
    examples(table, "match", rule.name, out_.match);
    examples(table, "no_match", rule.name, out_.no_match);
    out_.rules.push_back(std::move(rule));
  }

  void words(const TomlNode& table, LogRule& rule) {
    if (const TomlNode* node = table.find("cause")) {
      const std::string word = text(table, "cause");
      const auto cause = cause_from_name(word);
      if (cause) rule.cause = *cause;
      if (!cause) unknown(*node, "cause", word, "muster findings lists them", causes());
    }
    if (const TomlNode* node = table.find("role")) {
      const std::string word = text(table, "role");
      const auto role = event_role_from_name(word);
      if (role) rule.role = *role;
      if (!role) {
        unknown(*node, "role", word, "root, cascade, teardown, confirmation, benign or context",
                {"root", "cascade", "teardown", "confirmation", "benign", "context"});
      }
    }
    const TomlNode* node = table.find("severity");
    if (node == nullptr) return;
    const std::string word = text(table, "severity");
    rule.severity = severity_from_name(word);
    if (!rule.severity) {
      unknown(*node, "severity", word, "ok, info, warning or critical",
              {"ok", "info", "warning", "critical"});
    } else if (!cause_row(rule.cause).allows(*rule.severity)) {
      complain(node->place, fmt::format("{} is never {}", cause_name(rule.cause), word));
    }
  }

  // "gpu:{host}/{gpu}"
  void subject(const TomlNode& table, LogRule& rule) {
    const TomlNode* node = table.find("subject");
    if (node == nullptr) return;
    const std::string word = text(table, "subject");
    const std::size_t colon = word.find(':');
    const auto kind = culprit_kind_from_name(word.substr(0, colon));
    if (!kind || colon == std::string::npos || colon + 1 == word.size()) {
      complain(node->place,
               "subject is KIND:ID, with rank, gpu, host, port, link, process, file, config or "
               "group as KIND and {words} of the pattern in ID");
      return;
    }
    rule.subject_kind = *kind;
    rule.subject_id = word.substr(colon + 1);
  }

  void actions(const TomlNode& table, LogRule& rule) {
    const TomlNode* node = table.find("actions");
    if (node == nullptr || !is(*node, Kind::list, "actions")) return;
    for (const TomlNode& item : node->items) {
      if (!is(item, Kind::text, "an action")) return;
      const auto action = action_from_name(item.text);
      if (action) rule.actions.push_back(*action);
      if (!action) {
        std::vector<std::string_view> names;
        for (const ActionRow& row : action_table()) names.push_back(row.name);
        unknown(item, "action", item.text, "muster findings lists them", names);
      }
    }
  }

  // ["a line", ...], or [[rule.match]] with line = "a line".
  void examples(const TomlNode& table, std::string_view key, const std::string& rule,
                std::vector<RuleExample>& out) {
    const TomlNode* node = table.find(key);
    if (node == nullptr || !is(*node, Kind::list, key)) return;
    for (const TomlNode& item : node->items) {
      if (item.kind == Kind::table) {
        only(item, fmt::format("rule.{}", key), {"line"});
        if (item.find("line") == nullptr) complain(item.place, "line is missing");
        out.push_back({rule, text(item, "line")});
      } else if (is(item, Kind::text, fmt::format("a line of {}", key))) {
        out.push_back({rule, item.text});
      }
    }
  }

  static std::vector<std::string_view> causes() {
    std::vector<std::string_view> names;
    for (const CauseRow& row : cause_table()) names.push_back(row.name);
    return names;
  }

  void unknown(const TomlNode& node, std::string_view what, const std::string& word,
               std::string_view where, const std::vector<std::string_view>& known) {
    const std::string_view meant = near_word(word, known);
    complain(node.place,
             fmt::format("no {} is called {}{} ({})", what, shown(word),
                         meant.empty() ? "" : fmt::format("; did you mean {}?", meant), where));
  }

  void only(const TomlNode& table, std::string_view section,
            const std::vector<std::string_view>& known) {
    for (const TomlMember& member : table.members) {
      if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
      const std::string_view meant = near_word(member.name, known);
      complain(
          member.place,
          fmt::format("{}{} is not known{}", section.empty() ? "" : fmt::format("[[{}]] ", section),
                      shown(member.name),
                      meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
    }
  }

  std::string text(const TomlNode& table, std::string_view key) {
    const TomlNode* node = table.find(key);
    return node != nullptr && is(*node, Kind::text, key) ? node->text : "";
  }

  bool is(const TomlNode& node, Kind kind, std::string_view what) {
    if (node.kind == kind) return true;
    complain(node.place, fmt::format("{} is {}, not {}", what, toml_kind_name(kind),
                                     toml_kind_name(node.kind)));
    return false;
  }

  static std::string shown(std::string_view text) { return escape_controls(text, kShownChars); }

  void complain(const TomlPlace& where, std::string_view what) {
    if (!error_) {
      error_ =
          make_error(Errc::invalid_input, fmt::format("{}: {}", toml_place(name_, where), what));
    }
  }

  const std::string& name_;
  RulesFile out_;
  std::optional<Error> error_;
};

}  // namespace

Result<RulesFile> parse_rules_file(std::string_view text, const std::string& name) {
  const auto document = parse_toml(text, name);
  if (!document) return document.error();
  return RulesReader(name).read(*document);
}

Result<RulesFile> read_rules_file(Files& files, const std::string& path) {
  const auto text = read_whole(files, path, limits::kConfigBytes, limits::kConfigPatience);
  if (!text) return within("reading the rules", text.error());
  return parse_rules_file(*text, path);
}

}  // namespace muster
