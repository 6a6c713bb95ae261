#include "base/timestamp.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

struct Good {
  const char* text;
  const char* rfc3339;
  bool zone, date;
};

TEST(ParseTimestamp, ReadsTheFormsOfTheTools) {
  const Good rows[] = {
      {"2026-08-01T10:00:00Z", "2026-08-01T10:00:00.000Z", true, true},
      {"2026-08-01T10:00:00.123456Z", "2026-08-01T10:00:00.123Z", true, true},
      {"2026-08-01T10:00:00+09:00", "2026-08-01T01:00:00.000Z", true, true},
      {"2026-08-01T10:00:00-0530", "2026-08-01T15:30:00.000Z", true, true},
      {"2026-08-01 10:00:00,123", "2026-08-01T10:00:00.123Z", false, true},
      {"2025/07/26 23:32:09.703", "2025-07-26T23:32:09.703Z", false, true},
      {"20260801 10:00:00", "2026-08-01T10:00:00.000Z", false, true},
      {"Sat Aug  1 12:00:00 2026", "2026-08-01T12:00:00.000Z", false, true},
      {"10:00:01.5", "1970-01-01T10:00:01.500Z", false, false},
      {"2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z", true, true},
      {"2026-12-31T23:59:60Z", "2026-12-31T23:59:59.999Z", true, true},
  };
  for (const Good& row : rows) {
    const auto time = parse_timestamp(row.text);
    ASSERT_TRUE(time.has_value()) << row.text;
    EXPECT_EQ(format_rfc3339(time->at, true), row.rfc3339) << row.text;
    EXPECT_EQ(time->has_zone, row.zone) << row.text;
    EXPECT_EQ(time->has_date, row.date) << row.text;
  }
}

TEST(ParseTimestamp, RejectsTheRest) {
  for (const char* bad :
       {"", "2026", "1715275642063", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2026-08-01T24:00:00Z", "2026-08-01T10:60:00Z", "2026-08-01T10:00:00Zjunk",
        "2026-08-01T10:00:00+25:00", "2026-08-01", "1:2:3", "10:00", "Mon Foo  1 12:00:00 2026",
        "2025/07/26 23:32:0", "202", "2025/07/26 23:32:09.", "9999-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_timestamp(bad).has_value()) << bad;
  }
}

TEST(FormatDuration, ReadsAtAGlance) {
  EXPECT_EQ(format_duration(seconds_to_duration(0.85)), "850 ms");
  EXPECT_EQ(format_duration(seconds_to_duration(9.94)), "9.9 s");
  EXPECT_EQ(format_duration(seconds_to_duration(119)), "119 s");
  EXPECT_EQ(format_duration(seconds_to_duration(216)), "3 min 36 s");
  EXPECT_EQ(format_duration(seconds_to_duration(10260)), "2 h 51 min");
  EXPECT_EQ(format_duration(seconds_to_duration(273600)), "3 d 4 h");
}

}  // namespace
}  // namespace muster
