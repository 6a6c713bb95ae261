#include "base/timestamp.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "base/text.h"

namespace muster {
namespace {

// A cursor over the text; every read either advances or fails.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool number(std::size_t min_digits, std::size_t max_digits, int& out) {
    std::size_t n = 0;
    int value = 0;
    while (n < max_digits && n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9') {
      value = value * 10 + (rest_[n] - '0');
      ++n;
    }
    if (n < min_digits) return false;
    rest_.remove_prefix(n);
    out = value;
    return true;
  }
  bool one_of(std::string_view set) {
    if (rest_.empty() || set.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view w) {
    if (!rest_.starts_with(w)) return false;
    rest_.remove_prefix(w.size());
    return true;
  }
  void blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

struct Fields {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  std::int64_t nanos = 0;
  int offset_minutes = 0;
  bool has_zone = false, has_date = true;
};

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool read_fraction(Cursor& c, std::int64_t& nanos) {
  if (!c.one_of(".,")) return true;
  std::int64_t scale = 100'000'000;
  int digit = 0;
  int count = 0;
  while (c.number(1, 1, digit)) {
    nanos += scale * digit;
    scale /= 10;
    ++count;
  }
  return count > 0;
}

bool read_zone(Cursor& c, Fields& f) {
  c.blanks();
  if (c.rest().empty()) return true;
  f.has_zone = true;
  if (c.word("UTC") || c.one_of("Zz")) return c.rest().empty();
  const bool west = c.rest().starts_with('-');
  int hours = 0, minutes = 0;
  if (!c.one_of("+-") || !c.number(2, 2, hours)) return false;
  c.one_of(":");
  c.number(2, 2, minutes);
  if (hours > 15 || minutes > 59) return false;
  f.offset_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
  return c.rest().empty();
}

bool read_clock(Cursor& c, Fields& f) {
  return c.number(2, 2, f.hour) && c.one_of(":") && c.number(2, 2, f.minute) && c.one_of(":") &&
         c.number(2, 2, f.second) && read_fraction(c, f.nanos);
}

bool read_iso(Cursor c, Fields& f) {
  if (!c.number(4, 4, f.year)) return false;
  const bool compact = !c.one_of("-/");
  if (!c.number(2, 2, f.month) || (!compact && !c.one_of("-/")) || !c.number(2, 2, f.day)) {
    return false;
  }
  return c.one_of("Tt _") && read_clock(c, f) && read_zone(c, f);
}

bool read_clock_only(Cursor c, Fields& f) {
  f.has_date = false;
  return read_clock(c, f) && read_zone(c, f);
}

// "Mon Aug  1 12:00:00 2026", as `dmesg -T` and ctime print it.
bool read_ctime(Cursor c, Fields& f) {
  if (c.rest().size() < 20) return false;
  c.one_of("MTWFS");
  c.one_of("aeouhrin");
  c.one_of("abcdefghijklmnopqrstuvwxyz");
  c.blanks();
  const auto month = parse_month(c.rest());
  if (!month || !c.word(c.rest().substr(0, 3))) return false;
  f.month = *month;
  c.blanks();
  if (!c.number(1, 2, f.day)) return false;
  c.blanks();
  if (!read_clock(c, f)) return false;
  c.blanks();
  return c.number(4, 4, f.year) && c.rest().empty();
}

std::optional<ParsedTime> to_time(const Fields& f) {
  using namespace std::chrono;
  const year_month_day date{year(f.year), month(static_cast<unsigned>(f.month)),
                            day(static_cast<unsigned>(f.day))};
  if (!date.ok() || f.year < 1970 || f.year > 2200) return std::nullopt;
  if (f.hour > 23 || f.minute > 59 || f.second > 60) return std::nullopt;
  const bool leap = f.second == 60;
  const std::int64_t whole =
      static_cast<std::int64_t>(sys_days(date).time_since_epoch().count()) * 86400 + f.hour * 3600 +
      f.minute * 60 + (leap ? 59 : f.second) - f.offset_minutes * 60;
  const std::int64_t ns = whole * 1'000'000'000 + (leap ? 999'999'999 : f.nanos);
  return ParsedTime{wall_from_ns(ns), f.has_zone, f.has_date};
}

struct Civil {
  int year;
  unsigned month, day;
  std::int64_t hour, minute, second, millis;
};

Civil civil_of(WallTime at) {
  using namespace std::chrono;
  const std::int64_t ns = wall_to_ns(at);
  std::int64_t secs = ns / 1'000'000'000;
  std::int64_t rest = ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --secs;
  }
  std::int64_t day_count = secs / 86400;
  std::int64_t in_day = secs % 86400;
  if (in_day < 0) {
    in_day += 86400;
    --day_count;
  }
  const year_month_day date{sys_days(days(static_cast<int>(day_count)))};
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          in_day / 3600,
          in_day / 60 % 60,
          in_day % 60,
          rest / 1'000'000};
}

}  // namespace

std::optional<ParsedTime> parse_timestamp(std::string_view text) {
  text = trim(text);
  for (const auto read : {read_iso, read_clock_only, read_ctime}) {
    Fields f;
    if (read(Cursor(text), f)) return to_time(f);
  }
  return std::nullopt;
}

std::optional<int> parse_month(std::string_view text) {
  for (std::size_t m = 0; m < kMonths.size(); ++m) {
    if (text.starts_with(kMonths[m])) return static_cast<int>(m) + 1;
  }
  return std::nullopt;
}

std::optional<WallTime> in_year_before(WallTime written, int month, int day,
                                       std::string_view clock) {
  constexpr std::size_t kClockChars = 18;  // "11:28:40.118203377"
  constexpr Duration kAhead = std::chrono::hours(48);
  const int year = civil_of(written).year;
  for (const int y : {year, year - 1}) {
    const auto time = parse_timestamp(
        fmt::format("{:04}-{:02}-{:02} {}", y, month, day, clock.substr(0, kClockChars)));
    if (time && !time->has_zone && time->at <= written + kAhead) return time->at;
  }
  return std::nullopt;
}

std::string format_rfc3339(WallTime at, bool millis) {
  const Civil c = civil_of(at);
  const std::string head = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year, c.month,
                                       c.day, c.hour, c.minute, c.second);
  return millis ? fmt::format("{}.{:03}Z", head, c.millis) : head + "Z";
}

std::string format_clock(WallTime at) {
  const Civil c = civil_of(at);
  return fmt::format("{:02}:{:02}:{:02}", c.hour, c.minute, c.second);
}

std::string format_duration(Duration d) {
  const double s = duration_to_seconds(d);
  if (s < 0) return "-" + format_duration(-d);
  if (s < 1) return fmt::format("{:.0f} ms", s * 1e3);
  if (s < 10) return fmt::format("{:.1f} s", s);
  if (s < 120) return fmt::format("{:.0f} s", s);
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

}  // namespace muster
