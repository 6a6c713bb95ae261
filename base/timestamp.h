#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

// Time stamps as people and tools write them. Many sources carry no zone (nvidia-smi, dmesg -T);
// those come back with `has_zone == false` and are read as if they were UTC: the caller shifts them
// by the zone it knows for that host and says so.

namespace muster {

struct ParsedTime {
  WallTime at;
  bool has_zone = false;
  bool has_date = true;  // false: "14:02:11" alone, counted from 1970-01-01
};

// Reads the whole of `text`:
//   2026-08-01T10:00:00.123Z  2026-08-01 10:00:00,123  2026/07/25 23:32:09.703  20260801 10:00:00
//   2026-08-01T10:00:00+09:00  10:00:00  10:00:00.5  Mon Aug  1 12:00:00 2026
// Seconds since the epoch are numbers, not time stamps: not read here. 24:00:00, month 13 and other
// impossible dates give nothing; second 60 is read as 59.999999999.
std::optional<ParsedTime> parse_timestamp(std::string_view text);

// 1 to 12 of "Jan" to "Dec" at the front of `text`; nothing for any other.
std::optional<int> parse_month(std::string_view text);

// The moment of a stamp without a year ("Aug  1 11:28:41" of syslog, "E0801 11:28:41.118" of glog):
// in the year that lies nearest before `written`, when the file was last written, give or take two
// days for zones and clocks that differ. Read as if it were UTC. `clock` as in "10:00:00.5", of
// which no more than nanoseconds count. Nothing for a date that is none.
std::optional<WallTime> in_year_before(WallTime written, int month, int day,
                                       std::string_view clock);

// "2026-08-01T10:00:00Z", with milliseconds if `millis`.
std::string format_rfc3339(WallTime at, bool millis = false);
// "10:00:00"
std::string format_clock(WallTime at);
// For people: "850 ms", "12.5 s", "3 min 36 s", "2 h 51 min", "3 d 4 h".
std::string format_duration(Duration d);

}  // namespace muster
