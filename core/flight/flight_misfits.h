#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/flight/flight_values.h"

// Counts the fields of a dump that have another type than they should, and so are absent.

namespace muster {

class FlightMisfits {
 public:
  void reset() { counts_ = {}; }
  void count(FlightWord key) { ++counts_[static_cast<std::size_t>(key)]; }
  // One note a key: "duration_ms: not what it should be in 3 places, left out there".
  void add_notes(std::vector<std::string>& notes) const;

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(FlightWord::count)> counts_{};
};

}  // namespace muster
