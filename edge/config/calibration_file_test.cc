#include "edge/config/calibration_file.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

Calibration sample() {
  Calibration c;
  c.source = "run \"a\"\n";
  c.longest_wait = std::chrono::seconds(118);
  c.longest_quiet = std::chrono::seconds(240);
  c.step_s = 4.95;
  c.period_s = 1;
  c.series = 16;
  c.bands.push_back({"NVIDIA B300 SXM6 AC", 1100.0, 140, 222, 740, 985, 0.02, 1000});
  c.bands.push_back({"node", std::nullopt, 0, 3600, 5000, 7000, 0.05, 10});
  return c;
}

TEST(CalibrationFile, ReadsWhatWasWritten) {
  const auto read = parse_calibration(encode_calibration(sample()), "c.toml");
  ASSERT_TRUE(read.has_value()) << read.error().context;
  EXPECT_EQ(*read, sample());
}

TEST(CalibrationFile, SaysWhatIsWrongAndWhere) {
  const std::string good = encode_calibration(sample());
  struct Row {
    const char *name, *from, *to, *want;
  };
  const Row rows[] = {
      {"another schema", "muster.calibration/1", "muster.calibration/2", "schema"},
      {"no toml", "schema =", "schema", "c.toml:1:"},
      {"what toml++ itself asserts", "[[bands]]", "[=]", "not TOML"},
      {"a missing band", "wait_max_w = 222.0\n", "", "wait_max_w is missing"},
      {"a text for a number", "compute_w = 985.0", "compute_w = \"985\"", "compute_w must be"},
      {"a negative number", "step_s = 4.95", "step_s = -4.95", "step_s must be"},
      {"not a number", "period_s = 1.000", "period_s = nan", "period_s must be"},
      {"bands that fall", "wait_max_w = 222.0", "wait_max_w = 900.0", "must rise"},
      {"no bands", "[[bands]]", "[[other]]", "no [[bands]]"},
  };
  for (const Row& row : rows) {
    std::string text = good;
    for (std::size_t at = 0; (at = text.find(row.from, at)) != std::string::npos;) {
      text.replace(at, std::string(row.from).size(), row.to);
      at += std::string(row.to).size();
    }
    ASSERT_NE(text, good) << row.name;
    const auto read = parse_calibration(text, "c.toml");
    ASSERT_FALSE(read.has_value()) << row.name;
    EXPECT_NE(read.error().context.find(row.want), std::string::npos)
        << row.name << ": " << read.error().context;
  }
}

TEST(CalibrationFile, CutAnywhereItIsAnErrorOrWhole) {
  const std::string good = encode_calibration(sample());
  for (std::size_t n = 0; n < good.size(); ++n) {
    const auto read = parse_calibration(good.substr(0, n), "c.toml");
    EXPECT_TRUE(!read || read->bands.size() <= 2u) << n;
  }
}

}  // namespace
}  // namespace muster
