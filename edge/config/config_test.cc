#include "edge/config/config.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/fake_environment.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

TEST(Config, EnvironmentOverFileOverDefault) {
  struct Row {
    const char* name;
    const char* text;
    std::map<std::string, std::string> environment;
    const char* key;
    const char* want;  // value and where
    const char* complaint = "";
  };
  const Row rows[] = {
      {"a wrong variable",
       "[triage]\nrule = \"two-samples\"\n",
       {{"MUSTER_TRIAGE_RULE", "both"}},
       "triage.rule",
       "\"two-samples\" muster.toml:2",
       "MUSTER_TRIAGE_RULE: continuous or two-samples is expected, not \"both\""},
      {"a wrong file",
       "[triage]\nrule = \"both\"\n",
       {},
       "triage.rule",
       "\"continuous\" default",
       "muster.toml:2:8: triage.rule: continuous or two-samples is expected, not \"both\""},
      {"a variable does not excuse the file",
       "[triage]\nrule = \"both\"\n",
       {{"MUSTER_TRIAGE_RULE", "two-samples"}},
       "triage.rule",
       "\"two-samples\" MUSTER_TRIAGE_RULE",
       "muster.toml:2:8: triage.rule: continuous or two-samples is expected, not \"both\""},
      {"nothing", "", {}, "triage.rule", "\"continuous\" default"},
      {"nothing, no default", "", {}, "triage.calibration", "- not set"},
      {"an empty variable",
       "",
       {{"MUSTER_TRIAGE_RULE", ""}},
       "triage.rule",
       "\"continuous\" default"},
      {"the file",
       "[triage]\ncalibration = \"c\"",
       {},
       "triage.calibration",
       "\"c\" muster.toml:2"},
      {"the variable",
       "[triage]\ncalibration = \"c\"",
       {{"MUSTER_TRIAGE_CALIBRATION", "e"}},
       "triage.calibration",
       "\"e\" MUSTER_TRIAGE_CALIBRATION"},
      {"a list is replaced whole",
       "[triage]\ntz = [\"a=UTC\", \"UTC\"]",
       {{"MUSTER_TRIAGE_TZ", "b=UTC"}},
       "triage.tz",
       "[\"b=UTC\"] MUSTER_TRIAGE_TZ"},
      {"a number", "", {{"MUSTER_AGENT_KEEP_H", "0.5"}}, "agent.keep_h", "0.5 MUSTER_AGENT_KEEP_H"},
      {"home", "home = \"/f\"", {{"MUSTER_HOME", "/e"}}, "home", "\"/e\" MUSTER_HOME"},
  };
  for (const Row& row : rows) {
    MemoryFiles files;
    files.add("muster.toml", row.text);
    const auto config = read_config(files, FakeEnvironment(row.environment), {});
    ASSERT_TRUE(config.has_value()) << row.name;
    const ConfigSetting& setting = config->setting(row.key);
    EXPECT_EQ((setting.value ? config_value_text(*setting.value) : "-") + " " + setting.where,
              row.want)
        << row.name;
    EXPECT_EQ(config->complaints.empty() ? "" : config->complaints[0], row.complaint) << row.name;
    EXPECT_LE(config->complaints.size(), 1U) << row.name;
  }
}

TEST(Config, HasEveryKeyInTheOrderOfTheTable) {
  MemoryFiles files;
  const auto config = read_config(files, FakeEnvironment({}), {});
  ASSERT_TRUE(config);
  ASSERT_EQ(config->settings.size(), config_table().size());
  for (std::size_t i = 0; i < config->settings.size(); ++i) {
    const ConfigSetting& setting = config->settings[i];
    EXPECT_EQ(setting.key, &config_table()[i]);
    EXPECT_EQ(setting.value.has_value(), setting.origin == ConfigOrigin::fallback);
  }
}

TEST(Config, AFileThatWasNamedAndIsNotThereIsAnError) {
  MemoryFiles files;
  EXPECT_FALSE(read_config(files, FakeEnvironment({}), {"gone", ""}));
}

}  // namespace
}  // namespace muster
