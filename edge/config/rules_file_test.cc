#include "edge/config/rules_file.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string said(const std::string& text) {
  const auto file = parse_rules_file(text, "r.toml");
  return file ? "" : file.error().context;
}

TEST(RulesFile, BadFilesSayWhereAndWhy) {
  const std::string begin = "[[rule]]\nname = \"a\"\npattern = \"x\"\n";
  struct Row {
    const char* name;
    std::string text, says;
  };
  const Row rows[] = {
      {"empty", "", "no [[rule]]"},
      {"no TOML", "[[rule", "r.toml:1:"},
      {"another key", "rules = 1", "rules is not known; did you mean rule?"},
      {"one table", "[rule]\nname = \"a\"", "is a list, not a table"},
      {"a list of texts", "rule = [\"a\"]", "[[rule]] is a table, not a text"},
      {"no name", "[[rule]]\npattern = \"x\"", "r.toml:1:1: a [[rule]] needs a name"},
      {"nothing to find", "[[rule]]\nname = \"a\"", "rule a needs a pattern or an anchor"},
      {"a number", "[[rule]]\nname = 7", "name is a text, not a whole number"},
      {"misspelt key", begin + "cuase = \"disk_full\"", "did you mean cause?"},
      {"unknown cause", begin + "cause = \"disk_ful\"",
       "r.toml:4:9: no cause is called disk_ful; did"},
      {"unknown role", begin + "role = \"main\"", "no role is called main"},
      {"unknown severity", begin + "severity = \"bad\"", "no severity is called bad"},
      {"severity that the cause never has", begin + "cause = \"disk_full\"\nseverity = \"ok\"",
       "disk_full is never ok"},
      {"subject without kind", begin + "subject = \"{gpu}\"", "subject is KIND:ID"},
      {"subject without id", begin + "subject = \"gpu:\"", "subject is KIND:ID"},
      {"subject of no kind", begin + "subject = \"none:x\"", "subject is KIND:ID"},
      {"unknown action", begin + "actions = [\"pray\"]", "no action is called pray"},
      {"actions no list", begin + "actions = \"none\"", "actions is a list"},
      {"example no text", begin + "match = [1]", "a line of match is a text"},
      {"example without line", begin + "[[rule.match]]\ntext = \"x\"",
       "[[rule.match]] text is not"},
  };
  for (const Row& row : rows) {
    EXPECT_NE(said(row.text).find(row.says), std::string::npos)
        << row.name << ": " << said(row.text);
    EXPECT_NE(said(row.text), "") << row.name;
  }
}

TEST(RulesFile, Whole) {
  const auto file = parse_rules_file(R"(
[[rule]]
name = "quota"
anchor = "quota of "
pattern = 'quota of (?P<user>\w+) on (?P<path>\S+)'
cause = "disk_full"
role = "root"
severity = "critical"
subject = "file:{path}"
meaning = "{user} has no room left on {path}"
advice = "ask {user}"
actions = ["free_disk", "watch"]
match = ["quota of eva on /home"]
no_match = ["quota of /home"]

[[rule]]
name = "plain"
pattern = "something else"
[[rule.match]]
line = "one"
[[rule.match]]
line = "two"
)",
                                     "r.toml");
  ASSERT_TRUE(file) << file.error().context;
  ASSERT_EQ(file->rules.size(), 2u);
  const LogRule& rule = file->rules[0];
  EXPECT_EQ(rule.name, "quota");
  EXPECT_EQ(rule.anchor, "quota of ");
  EXPECT_EQ(rule.cause, Cause::disk_full);
  EXPECT_EQ(rule.role, EventRole::root);
  EXPECT_EQ(rule.severity, Severity::critical);
  EXPECT_EQ(rule.subject_kind, CulpritKind::file);
  EXPECT_EQ(rule.subject_id, "{path}");
  EXPECT_EQ(rule.actions, (std::vector{Action::free_disk, Action::watch}));
  EXPECT_EQ(file->rules[1].role, EventRole::root);
  EXPECT_EQ(file->rules[1].cause, Cause::undetermined);
  ASSERT_EQ(file->match.size(), 3u);
  EXPECT_EQ(file->match[2].rule, "plain");
  EXPECT_EQ(file->match[2].line, "two");
  ASSERT_EQ(file->no_match.size(), 1u);
}

TEST(RulesFile, CutAnywhereItIsRefusedOrRead) {
  const std::string text =
      "[[rule]]\nname = \"a\"\npattern = 'b'\nmatch = [\"b\"]\n[[rule.no_match]]\nline = \"c\"\n";
  for (std::size_t end = 0; end < text.size(); ++end) {
    const auto file = parse_rules_file(text.substr(0, end), "r.toml");
    EXPECT_TRUE(!file || file->rules.size() == 1) << end;
  }
}

}  // namespace
}  // namespace muster
