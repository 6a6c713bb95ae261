#include "edge/os/time_zone.h"

#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <mutex>

#include "base/text.h"

namespace muster {
namespace {

// Runs `use` with TZ set to `name`; the C library knows one zone per process at a time.
template <typename F>
auto with_zone(const std::string& name, F&& use) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* before = std::getenv("TZ");
  const std::string saved = before != nullptr ? before : "";
  if (!name.empty()) setenv("TZ", (":" + name).c_str(), 1);
  tzset();
  auto result = use();
  if (!name.empty()) {
    if (before != nullptr) {
      setenv("TZ", saved.c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  return result;
}

// "+09:00", "-0530", "+9"
bool parse_offset(std::string_view text, Duration& out) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  const bool west = text[0] == '-';
  text.remove_prefix(1);
  std::string digits;
  for (const char c : text) {
    if (c != ':') digits += c;
  }
  if (digits.size() == 1 || digits.size() == 2) digits += "00";
  if (digits.size() == 3) digits = "0" + digits;
  const auto value = parse_uint(digits);
  if (digits.size() != 4 || !value || *value % 100 > 59 || *value / 100 > 15) return false;
  out = std::chrono::hours(*value / 100) + std::chrono::minutes(*value % 100);
  if (west) out = -out;
  return true;
}

bool known_zone(const std::string& name) {
  if (name == "UTC" || name == "GMT") return true;
  if (name.find("..") != std::string::npos || name.front() == '/') return false;
  struct stat st{};
  return ::stat(("/usr/share/zoneinfo/" + name).c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

Duration offset_at(const std::string& name, std::int64_t local_s) {
  return with_zone(name, [&] {
    const std::time_t as_utc = static_cast<std::time_t>(local_s);
    std::tm fields{};
    gmtime_r(&as_utc, &fields);
    fields.tm_isdst = -1;
    const std::time_t moment = mktime(&fields);
    return Duration(std::chrono::seconds(local_s - static_cast<std::int64_t>(moment)));
  });
}

}  // namespace

Result<TimeZone> TimeZone::make(const std::string& name) {
  TimeZone zone;
  zone.name_ = name.empty() ? "the zone of this machine" : name;
  if (parse_offset(name, zone.fixed_)) return zone;
  if (!name.empty() && !known_zone(name)) {
    return make_error(Errc::not_found, "time zone " + name + ": not known on this machine");
  }
  zone.by_rules_ = true;
  if (!name.empty()) zone.name_ = name;
  return zone;
}

WallTime TimeZone::to_utc(WallTime local) const {
  if (!by_rules_) return local - fixed_;
  const std::int64_t seconds = wall_to_ns(local) / 1'000'000'000;
  if (seconds / 900 != cached_quarter_) {
    cached_quarter_ = seconds / 900;
    const bool own = name_ == "the zone of this machine";
    cached_ = offset_at(own ? "" : name_, seconds);
  }
  return local - cached_;
}

}  // namespace muster
