#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace muster {

// Zones by name ("Asia/Seoul", "UTC", "" for the zone of this machine) or by offset ("+09:00").
// The rules are those of the machine's zone files.
class TimeZone {
 public:
  // Errc::not_found for a name that the machine does not know.
  static Result<TimeZone> make(const std::string& name);

  // A local time that was read as if it were UTC -> the moment it means. In the hour that comes
  // twice the first is meant; in the hour that does not exist, the moment an hour later.
  WallTime to_utc(WallTime local) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Duration fixed_{};  // by offset
  bool by_rules_ = false;
  // Times of one recording lie close together: the offset is looked up once per quarter of an hour.
  mutable std::int64_t cached_quarter_ = -1;
  mutable Duration cached_{};
};

}  // namespace muster
