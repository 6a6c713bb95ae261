#include "edge/config/toml_document.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace muster {
namespace {

std::string dotted(int parts) {
  std::string out = "a";
  for (int i = 1; i < parts; ++i) out += ".a";
  return out;
}

TEST(TomlDocument, RefusesWhatIsNotTomlAndSaysWhere) {
  struct Row {
    const char* name;
    std::string text;
    const char* want;
  };
  const Row rows[] = {
      {"no value", "a\n", "f:1:"},
      {"twice", "a = 1\na = 2\n", "f:2:"},
      {"open text", "\na = \"b\n", "f:2:"},
      {"not UTF-8", "a = \"\xff\"", "f:1:"},
      {"a name that begins with no letter", "[=]", "f:1:1: not TOML: a name"},
      {"a name that is missing further down", "# x\na = 1\n[b]\n [ = ]\nc = 2\n[d]\n",
       "f:4:1: not TOML: a name"},
      {"a control character for a name", "[\x01]", "f:1:1: not TOML: a name"},
      {"a letter of another script for a name", "[\xc3\xa9]", "f:1:1: not TOML: a name"},
      {"lists that nest too deep", "a = " + std::string(100'000, '['), "f:1:"},
      {"a name of many parts", "\n" + dotted(17) + " = 1", "f:2:1: a name of more than 16 parts"},
      {"a heading of many parts", "[" + dotted(500'000) + "]", "f:1:1: a name of more than"},
      {"behind a text", "b = \"\"\"\n\\\"\"\"\"\"\"\n" + dotted(17), "f:3:1: a name of more"},
      {"behind a comment", "# \"\n" + dotted(17) + " = 1", "f:2:1: a name of more"},
      {"in an inline table", "b = {" + dotted(17) + " = 1}", "f:1:1: a name of more"},
  };
  for (const Row& row : rows) {
    const auto document = parse_toml(row.text, "f");
    ASSERT_FALSE(document.has_value()) << row.name;
    EXPECT_TRUE(document.error().context.starts_with(row.want))
        << row.name << ": " << document.error().context;
  }
}

TEST(TomlDocument, IsBounded) {
  const std::string fits(limits::kConfigBytes, '\n');
  EXPECT_TRUE(parse_toml(fits, "f"));
  const auto document = parse_toml(fits + "\n", "f");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, Errc::exhausted);
  EXPECT_TRUE(parse_toml(dotted(16) + " = 1", "f"));
  EXPECT_TRUE(parse_toml("a = \"" + std::string(100, '.') + "\" # " + std::string(100, '.'), "f"));
  EXPECT_TRUE(
      parse_toml("a = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, "
                 "1.5, 1.5, 1.5, 1.5, 1.5]",
                 "f"));
}

// A letter behind the backslash that joins lines is no blank; toml++ by itself does not know.
TEST(TomlDocument, LettersOfOtherScripts) {
  const auto document = parse_toml("a = \"\"\"x\\\n \xc3\xa9\"\"\" # \xc3\xa9\n", "f");
  ASSERT_TRUE(document) << document.error().context;
  EXPECT_EQ(document->find("a")->text, "x\xc3\xa9");
  for (const char* bad :
       {"\xc3\xa9", "a\xc3\xa9 = 1", "a = 1\xc3\xa9", "a = \xd2\x99", "[\xd2\x99]",
        "a = \"\"\"\\\xc3\xa9\"\"\"", "a \xc3\xa9= 1", "[a]\xc2\xa1"}) {
    EXPECT_FALSE(parse_toml(bad, "f")) << bad;
  }
}

TEST(TomlDocument, ValuesWithTheirPlaces) {
  const auto document = parse_toml(
      "z = 'x'\n[t]\ni = 7\nn = 0.5\nb = true\nd = 2026-01-01\nl = [1, \"a\"]\na = {k = 1}\n", "f");
  ASSERT_TRUE(document) << document.error().context;
  ASSERT_EQ(document->members.size(), 2U);
  EXPECT_EQ(document->members[0].name, "z");
  EXPECT_EQ(document->members[0].node.text, "x");
  const TomlNode& table = document->members[1].node;
  std::string said;
  for (const TomlMember& m : table.members) {
    said += toml_place(m.name, m.place) + " " +
            toml_place(std::string(toml_kind_name(m.node.kind)), m.node.place) + "\n";
  }
  EXPECT_EQ(said,
            "i:3:1 a whole number:3:5\nn:4:1 a number:4:5\nb:5:1 true or false:5:5\n"
            "d:6:1 a time:6:5\nl:7:1 a list:7:5\na:8:1 a table:8:5\n");
  EXPECT_EQ(table.find("i")->integer, 7);
  EXPECT_EQ(table.find("i")->number, 7);
  EXPECT_EQ(table.find("n")->number, 0.5);
  EXPECT_EQ(table.find("l")->items[1].text, "a");
  EXPECT_EQ(table.find("a")->find("k")->integer, 1);
  EXPECT_EQ(table.find("x"), nullptr);
  EXPECT_EQ(table.find("i")->find("x"), nullptr);
}

}  // namespace
}  // namespace muster
