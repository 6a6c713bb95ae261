#include "edge/config/config_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "edge/config/config_value.h"

namespace muster {
namespace {

TEST(ConfigTable, NamesAreWellFormedAndStandOnce) {
  // Variables of the environment that mean something else.
  std::set<std::string> variables = {"MUSTER_CONFIG",  "MUSTER_RUN",  "MUSTER_ATTEMPT",
                                     "MUSTER_REQUIRE", "MUSTER_JOBS", "MUSTER_NVML"};
  std::set<std::string> sections;
  std::string_view section = "none yet";
  for (const ConfigKey& key : config_table()) {
    const std::string name = full_name(key);
    EXPECT_EQ(find_config_key(name), &key) << name << " stands twice";
    EXPECT_TRUE(variables.insert(environment_name(key)).second) << environment_name(key);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_."), std::string::npos) << name;
    EXPECT_FALSE(key.meaning.empty()) << name;
    if (key.section == section) continue;
    EXPECT_TRUE(sections.emplace(key.section).second) << "section in two parts: " << name;
    EXPECT_TRUE(!key.section.empty() || sections.size() == 1) << "without a section: first";
    section = key.section;
  }
}

TEST(ConfigTable, EveryKeySaysWhatItMayBe) {
  for (const ConfigKey& key : config_table()) {
    const std::string name = full_name(key);
    EXPECT_EQ(key.type == ConfigType::word, !key.words.empty()) << name;
    EXPECT_EQ(key.type == ConfigType::number, key.min < key.max) << name;
    EXPECT_FALSE(expected_value(key).empty()) << name;
    if (!key.fallback.empty()) {
      EXPECT_TRUE(parse_config_value(key, key.fallback)) << name;
    }
  }
}

TEST(ConfigTable, TheRuleOfTheVariables) {
  EXPECT_EQ(environment_name(*find_config_key("triage.interval_s")), "MUSTER_TRIAGE_INTERVAL_S");
  EXPECT_EQ(environment_name(*find_config_key("home")), "MUSTER_HOME");
  for (const char* unknown : {"", ".", "triage", "triage.", "interval_s", ".home", "Home"}) {
    EXPECT_EQ(find_config_key(unknown), nullptr) << unknown;
  }
}

// docs/FORMATS.md holds the table; what it says is what the program does.
TEST(ConfigTable, IsTheOneOfTheDocument) {
  std::string want = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const ConfigKey& key : config_table()) {
    const std::string fallback = key.fallback.empty() ? "" : fmt::format("`{}`", key.fallback);
    want += fmt::format("| `{}` | {} | {} | {} |\n", full_name(key), expected_value(key), fallback,
                        key.meaning);
  }
  std::ifstream in(MUSTER_SOURCE_DIR "/docs/FORMATS.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(document.find("\n\n" + want + "\n"), std::string::npos) << want;
}

}  // namespace
}  // namespace muster
