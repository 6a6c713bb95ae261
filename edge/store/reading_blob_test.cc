#include "edge/store/reading_blob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace muster {
namespace {

int number(Metric m) {
  return m == Metric::step ? -1 : static_cast<int>(m) + 1;
}

std::vector<MetricReading> sample() {
  return {{Metric::power_w, Reading::of(627.02)},
          {Metric::power_limit_w, Reading::of(700)},
          {Metric::temperature_c, Reading::of(-3)},
          {Metric::util_gpu_percent, Reading::of(0)},
          {Metric::mem_used_bytes, Reading::of(84'825'604'096.0)},
          {Metric::sm_active_ratio, Reading::of(0.5)},
          {Metric::energy_j, Reading::of(1e300)},
          {Metric::fan_percent, Reading::absent(Absence::unsupported)},
          {Metric::mig_mode, Reading::absent(Absence::mig)}};
}

TEST(ReadingBlob, ComesBack) {
  const auto in = sample();
  const std::string blob = encode_readings(in, number);
  EXPECT_LT(blob.size(), 50U);
  const auto out = parse_readings(blob);
  EXPECT_TRUE(out.whole);
  ASSERT_EQ(out.readings.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(out.readings[i].number, number(in[i].metric));
    ASSERT_EQ(out.readings[i].reading.has_value(), in[i].reading.has_value());
    if (in[i].reading.has_value()) {
      EXPECT_EQ(out.readings[i].reading.value(), in[i].reading.value());
    } else {
      EXPECT_EQ(out.readings[i].reading.absence(), in[i].reading.absence());
    }
  }
}

TEST(ReadingBlob, WhatHasNoNumberIsLeftOutAndWhatIsNotFiniteIsMalformed) {
  const MetricReading in[] = {{Metric::step, Reading::of(1)},
                              {Metric::power_w, Reading::of(std::nan(""))},
                              {Metric::energy_j, Reading::of(HUGE_VAL)}};
  const auto out = parse_readings(encode_readings(in, number));
  ASSERT_EQ(out.readings.size(), 2U);
  for (const auto& r : out.readings) EXPECT_EQ(r.reading.absence(), Absence::malformed);
}

TEST(ReadingBlob, CutAtEveryByteLosesTheTailAlone) {
  const std::string blob = encode_readings(sample(), number);
  std::size_t before = 0;
  for (std::size_t n = 0; n <= blob.size(); ++n) {
    const auto out = parse_readings(std::string_view(blob).substr(0, n));
    EXPECT_GE(out.readings.size(), before);
    before = out.readings.size();
    if (before > 0) {
      EXPECT_EQ(out.readings[0].reading.value(), 627.02);
    }
  }
  EXPECT_EQ(before, sample().size());
}

TEST(ReadingBlob, FlippedBytesNeverCrashAndGiveFiniteNumbers) {
  const std::string blob = encode_readings(sample(), number);
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (int x = 1; x < 256; ++x) {
      std::string bad = blob;
      bad[i] = static_cast<char>(bad[i] ^ x);
      for (const auto& r : parse_readings(bad).readings) {
        EXPECT_TRUE(std::isfinite(r.reading.value_or(0)));
      }
    }
  }
}

TEST(ReadingBlob, Damage) {
  struct Row {
    const char* name;
    std::string blob;
  };
  const Row rows[] = {
      {"no form", std::string("\x01", 1)},
      {"unknown form", std::string("\x01\x63", 2)},
      {"unknown reason", std::string("\x01\x0f", 2)},
      {"endless whole number", "\x01\x10" + std::string(20, '\xff')},
      {"short float", std::string("\x01\x11\x00\x00", 4)},
      {"infinite float", std::string("\x01\x11\x00\x00\x80\x7f", 6)},
      {"not a number", "\x01\x12" + std::string(8, '\xff')},
  };
  for (const Row& row : rows) {
    const auto out = parse_readings(row.blob);
    EXPECT_FALSE(out.whole) << row.name;
    EXPECT_TRUE(out.readings.empty()) << row.name;
  }
  std::string many;
  for (int i = 0; i < 300; ++i) many += std::string("\x01\x00", 2);
  EXPECT_FALSE(parse_readings(many).whole);
  EXPECT_EQ(parse_readings(many).readings.size(), 256U);
}

}  // namespace
}  // namespace muster
