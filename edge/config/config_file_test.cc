#include "edge/config/config_file.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace muster {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(ConfigFile, SaysWhatIsWrongAndWhere) {
  struct Row {
    const char *name, *text, *want;  // the whole of the complaints
  };
  const Row rows[] = {
      {"unknown, near", "[triage]\nruel = \"continuous\"\n",
       "m.toml:2:1: [triage] ruel is not known; did you mean rule?\n"},
      {"unknown, of another section", "[triage]\nlisten = \"127.0.0.1:1\"\n",
       "m.toml:2:1: [triage] listen is not known; did you mean agent.listen?\n"},
      {"unknown, not near", "[triage]\nelephant = 1\n",
       "m.toml:2:1: [triage] elephant is not known\n"},
      {"unknown section", "\n[traige]\nrule = \"continuous\"\n",
       "m.toml:2:2: traige is not known; did you mean triage?\n"},
      {"outside of its section", "rule = \"continuous\"\n",
       "m.toml:1:1: rule is not known; did you mean triage.rule?\n"},
      {"a full name in quotes", "\"triage.rule\" = \"continuous\"\n",
       "m.toml:1:1: triage.rule is not known\n"},
      {"capitals", "[Triage]\n", "m.toml:1:2: Triage is not known; did you mean triage?\n"},
      {"an empty name", "\"\" = 1\n", "m.toml:1:1:  is not known\n"},
      {"an escape in a name", "\"\\u001b[2J\" = 1\n", "m.toml:1:1: \\x1b[2J is not known\n"},
      {"a value for a section", "triage = 5\n", "m.toml:1:1: [triage] is a section, not a value\n"},
      {"a list of sections", "[[triage]]\nrule = \"continuous\"\n",
       "m.toml:1:3: [triage] is a section, not a value\n"},
      {"a section for a value", "[home]\nx = 1\n",
       "m.toml:1:1: home: a path is expected, not a table\n"},
      {"a text for a number", "[triage]\ninterval_s = \"1\"\n",
       "m.toml:2:14: triage.interval_s: a number from 0.1 to 3600 is expected, not a text\n"},
      {"a truth for a number", "[triage]\ninterval_s = true\n",
       "m.toml:2:14: triage.interval_s: a number from 0.1 to 3600 is expected, not true or "
       "false\n"},
      {"a date for a number", "[triage]\ninterval_s = 2026-01-01\n",
       "m.toml:2:14: triage.interval_s: a number from 0.1 to 3600 is expected, not a time\n"},
      {"out of range", "[triage]\ninterval_s = 5000\n",
       "m.toml:2:14: triage.interval_s: a number from 0.1 to 3600 is expected, not 5000\n"},
      {"not a number", "[triage]\ninterval_s = nan\n",
       "m.toml:2:14: triage.interval_s: a number from 0.1 to 3600 is expected, not nan\n"},
      {"another word", "[triage]\nrule = \"both\"\n",
       "m.toml:2:8: triage.rule: continuous or two-samples is expected, not \"both\"\n"},
      {"a number for a word", "[triage]\nrule = 1\n",
       "m.toml:2:8: triage.rule: continuous or two-samples is expected, not a whole number\n"},
      {"a text for a list", "[triage]\ntz = \"UTC\"\n",
       "m.toml:2:6: triage.tz: a list of texts is expected, not a text\n"},
      {"a number in a list", "[triage]\ntz = [\"UTC\", 1]\n",
       "m.toml:2:14: triage.tz: a list of texts is expected, not a whole number\n"},
      {"a zero byte in a path", "home = \"/a\\u0000b\"\n",
       "m.toml:1:8: home: a path is expected, without control characters\n"},
      {"in the order of the file", "[triage]\nzz = 1\nrule = 1\n[agent]\naa = 1\n",
       "m.toml:2:1: [triage] zz is not known\n"
       "m.toml:3:8: triage.rule: continuous or two-samples is expected, not a whole number\n"
       "m.toml:5:1: [agent] aa is not known\n"},
  };
  for (const Row& row : rows) {
    const ConfigFile file = parse_config(row.text, "m.toml");
    EXPECT_EQ(joined(file.complaints), row.want) << row.name;
    EXPECT_TRUE(file.entries.empty()) << row.name;
  }
}

TEST(ConfigFile, WhatIsNoTomlHasOnePlace) {
  struct Row {
    const char *name, *text, *want;
  };
  const Row rows[] = {
      {"no value", "[triage]\nrule\n", "m.toml:2:"},
      {"twice", "home = \"/a\"\nhome = \"/b\"\n", "m.toml:2:"},
      {"open text", "home = \"/a\n", "m.toml:1:"},
      {"not UTF-8", "home = \"\xff\"\n", "m.toml:1:"},
      {"a binary file",
       "\x7f"
       "ELF\x01\x02",
       "m.toml:1:"},
      {"json", "{\"triage\": 1}", "m.toml:1:"},
  };
  for (const Row& row : rows) {
    const ConfigFile file = parse_config(row.text, "m.toml");
    ASSERT_EQ(file.complaints.size(), 1U) << row.name;
    EXPECT_TRUE(file.complaints[0].starts_with(row.want)) << row.name << file.complaints[0];
    EXPECT_TRUE(file.entries.empty()) << row.name;
  }
}

const char kGood[] =
    "# a comment\nhome = '/m'\n[agent]\nlisten = \"[::1]:0\"\nkeep_h = 48\n"
    "[triage]\ncalibration = \"cal/good.toml\"\ntz = [\"UTC\", \"n1=Asia/Seoul\"]\n"
    "interval_s = 0.5 # s\n";

std::string entries_of(const ConfigFile& file) {
  std::string out;
  for (const ConfigEntry& entry : file.entries) {
    out += std::to_string(entry.line) + " " + full_name(*entry.key) + " = " +
           config_value_text(entry.value) + "\n";
  }
  return out;
}

TEST(ConfigFile, ValuesWithTheirLines) {
  const ConfigFile file = parse_config(kGood, "etc/m.toml");
  EXPECT_EQ(joined(file.complaints), "");
  EXPECT_EQ(entries_of(file),
            "2 home = \"/m\"\n4 agent.listen = \"[::1]:0\"\n5 agent.keep_h = 48\n"
            "7 triage.calibration = \"etc/cal/good.toml\"\n"
            "8 triage.tz = [\"UTC\", \"n1=Asia/Seoul\"]\n9 triage.interval_s = 0.5\n");
}

TEST(ConfigFile, APathIsRelativeToTheFolderOfTheFile) {
  struct Row {
    const char *name, *file, *path, *want;
  };
  const Row rows[] = {{"of the machine", "/etc/muster/muster.toml", "c", "/etc/muster/c"},
                      {"of the working folder", "muster.toml", "../c", "../c"},
                      {"of the root", "/muster.toml", "c", "/c"},
                      {"absolute", "/etc/muster/muster.toml", "/c", "/c"}};
  for (const Row& row : rows) {
    const auto file = parse_config(std::string("home = \"") + row.path + "\"", row.file);
    ASSERT_EQ(file.entries.size(), 1U) << row.name;
    EXPECT_EQ(std::get<std::string>(file.entries[0].value), row.want) << row.name;
  }
}

TEST(ConfigFile, WrongValuesDoNotHideGoodOnes) {
  const ConfigFile file = parse_config("[agent]\nkeep_h = 0\ninterval_s = 2\nx = 1\n", "m");
  EXPECT_EQ(file.complaints.size(), 2U);
  EXPECT_EQ(entries_of(file), "3 agent.interval_s = 2\n");
}

TEST(ConfigFile, IsBounded) {
  EXPECT_TRUE(parse_config(std::string(limits::kConfigBytes, '\n'), "m").complaints.empty());
  EXPECT_EQ(joined(parse_config(std::string(limits::kConfigBytes + 1, '\n'), "m").complaints),
            "m: longer than 1048576 bytes\n");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "x" + std::to_string(i) + " = 1\n";
  const auto complaints = parse_config(many, "m").complaints;
  ASSERT_EQ(complaints.size(), 20U);
  EXPECT_EQ(complaints[18], "m:19:1: x18 is not known");
  EXPECT_EQ(complaints[19], "m: and 981 more");
  const ConfigFile deep = parse_config("x = " + std::string(100'000, '['), "m");
  EXPECT_EQ(deep.complaints.size(), 1U);
}

// A cut or changed file is never read as something that stands nowhere in it, and never a crash.
TEST(ConfigFile, CutAndFlippedAtEveryByte) {
  const std::string good = kGood;
  for (std::size_t n = 0; n < good.size(); ++n) {
    const ConfigFile cut = parse_config(good.substr(0, n), "m");
    EXPECT_LE(cut.entries.size() + cut.complaints.size(), 6U) << n;
    for (const char mask : {'\x01', '\x20', '\x40', '\x80'}) {
      std::string flipped = good;
      flipped[n] = static_cast<char>(flipped[n] ^ mask);
      const ConfigFile file = parse_config(flipped, "m");
      EXPECT_LE(file.entries.size(), 7U) << n;
      for (const ConfigEntry& entry : file.entries) {
        EXPECT_TRUE(check_config_value(*entry.key, entry.value)) << n;
      }
    }
  }
}

}  // namespace
}  // namespace muster
