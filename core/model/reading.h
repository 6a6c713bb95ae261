#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace muster {

// Why a value is not there. A missing value is one of these, never 0.
enum class Absence : std::uint8_t {
  not_reported,  // empty cell, "-", "N/A", "[N/A]": the source has nothing to say
  unsupported,   // "[Not Supported]", "deprecated": this GPU or driver cannot
  permission,    // "[Insufficient Permissions]"
  lost,          // "[GPU is lost]", NVML 15
  needs_reset,   // "[GPU requires reset]", NVML 16
  read_error,    // "[Unknown Error]", "ERR!", NVML 999
  timeout,       // the reader did not return in time
  blank,         // a blank sentinel of DCGM leaked out as a number
  malformed,     // a cell that is neither a number nor a known word
  mig,           // not available because MIG is on
};

constexpr std::string_view absence_name(Absence a) {
  constexpr std::string_view kNames[] = {"not reported", "unsupported", "no permission", "GPU lost",
                                         "needs reset",  "read error",  "timeout",       "blank",
                                         "malformed",    "MIG is on"};
  return kNames[static_cast<int>(a)];
}

// A number, or the reason why there is none.
class Reading {
 public:
  static constexpr Reading of(double value) { return Reading(value, Absence::not_reported, true); }
  static constexpr Reading absent(Absence why) { return Reading(0, why, false); }
  constexpr Reading() : Reading(0, Absence::not_reported, false) {}

  constexpr bool has_value() const { return has_; }
  double value() const {
    MUSTER_CHECK(has_, "a reading is looked at only where it is");
    return value_;
  }
  double value_or(double other) const { return has_ ? value_ : other; }
  Absence absence() const {
    MUSTER_CHECK(!has_, "a reading that is there has no reason to be absent");
    return why_;
  }

 private:
  constexpr Reading(double value, Absence why, bool has) : value_(value), why_(why), has_(has) {}
  double value_;
  Absence why_;
  bool has_;
};

}  // namespace muster
