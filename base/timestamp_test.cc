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

TEST(InYearBefore, TakesTheYearThatLiesNearestBefore) {
  const WallTime written = parse_timestamp("2026-03-02T12:00:00Z")->at;
  const struct {
    int month, day;
    const char* clock;
    const char* rfc3339;  // empty: nothing
  } rows[] = {
      {0, 1, "10:00:00", ""},
      {13, 1, "10:00:00", ""},
      {2, 29, "10:00:00", ""},
      {-1, 1, "10:00:00", ""},
      {3, 0, "10:00:00", ""},
      {3, 1, "", ""},
      {3, 1, "10:00", ""},
      {3, 1, "10:00:00 UTC", ""},
      {3, 2, "12:00:00", "2026-03-02T12:00:00.000Z"},
      {3, 4, "12:00:00", "2026-03-04T12:00:00.000Z"},
      {3, 4, "12:00:01", "2025-03-04T12:00:01.000Z"},
      {12, 31, "23:59:59.118203377", "2025-12-31T23:59:59.118Z"},
      {2, 28, "10:00:00.1234567891234", "2026-02-28T10:00:00.123Z"},
  };
  for (const auto& row : rows) {
    const auto at = in_year_before(written, row.month, row.day, row.clock);
    EXPECT_EQ(at ? format_rfc3339(*at, true) : "", row.rfc3339)
        << row.month << "-" << row.day << " " << row.clock;
  }
}

TEST(ParseMonth, KnowsTwelve) {
  for (const char* bad : {"", "Ja", "jan", "Foo", "anJ"}) EXPECT_FALSE(parse_month(bad)) << bad;
  EXPECT_EQ(parse_month("Jan"), 1);
  EXPECT_EQ(parse_month("May15"), 5);
  EXPECT_EQ(parse_month("December"), 12);
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
