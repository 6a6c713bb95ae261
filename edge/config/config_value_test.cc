#include "edge/config/config_value.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ConfigValue, FromTheEnvironment) {
  struct Row {
    const char *name, *key, *text;
    const char* complaint;  // a part of it; nullptr: it is fine
    const char* shown = "";
  };
  const Row rows[] = {
      {"no number", "triage.interval_s", "fast", "a number from 0.1 to 3600 is expected, not \"f"},
      {"a unit", "triage.interval_s", "5 s", "not \"5 s\""},
      {"a blank in front", "triage.interval_s", " 5", "not \" 5\""},
      {"an empty number", "triage.interval_s", "", "not \"\""},
      {"too small", "triage.interval_s", "0.09", "not 0.09"},
      {"too large", "triage.interval_s", "3601", "not 3601"},
      {"below zero", "triage.interval_s", "-1", "not -1"},
      {"not a number", "triage.interval_s", "nan", "a number from"},
      {"infinite", "triage.interval_s", "inf", "a number from"},
      {"another word", "triage.rule", "both",
       "continuous or two-samples is expected, not \"both\""},
      {"capitals", "triage.rule", "Continuous", "not \"Continuous\""},
      {"an escape in a word", "triage.rule", "\x1b[2J", "\\x1b[2J"},
      {"an empty path", "triage.calibration", "", "a path is expected, not an empty text"},
      {"a control character", "triage.calibration", "a\nb", "control"},
      {"a home of the shell", "triage.calibration", "~/good.toml", "~ stands for nothing"},
      {"a control character in a list", "triage.tz", "UTC a\x7f", "control"},
      {"a number", "triage.interval_s", "0.5", nullptr, "0.5"},
      {"the smallest", "triage.interval_s", "0.1", nullptr, "0.1"},
      {"the largest", "triage.interval_s", "3600", nullptr, "3600"},
      {"a word", "triage.rule", "two-samples", nullptr, "\"two-samples\""},
      {"a path", "triage.calibration", "a \"b\"\\~", nullptr, "\"a \\\"b\\\"\\\\~\""},
      {"an empty list", "triage.tz", "  ", nullptr, "[]"},
      {"a list", "triage.tz", " UTC  n1=Asia/Seoul", nullptr, "[\"UTC\", \"n1=Asia/Seoul\"]"},
  };
  for (const Row& row : rows) {
    const auto value = parse_config_value(*find_config_key(row.key), row.text);
    ASSERT_EQ(value.has_value(), row.complaint == nullptr) << row.name;
    if (value) {
      EXPECT_EQ(config_value_text(*value), row.shown) << row.name;
    } else {
      EXPECT_EQ(value.error().code, Errc::invalid_input) << row.name;
      EXPECT_NE(value.error().context.find(row.complaint), std::string::npos)
          << row.name << ": " << value.error().context;
    }
  }
}

TEST(ConfigValue, EveryTextOfAListIsChecked) {
  const ConfigKey& texts = *find_config_key("triage.tz");
  EXPECT_FALSE(check_config_value(texts, std::vector<std::string>{"UTC", ""}));
  EXPECT_TRUE(check_config_value(texts, std::vector<std::string>{}));
}

}  // namespace
}  // namespace muster
