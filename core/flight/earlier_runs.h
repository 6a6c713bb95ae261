#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "core/flight/dump.h"

namespace muster {

// Newest time stamp of its records; FlightEntry::kAbsent where there is none.
std::int64_t newest_stamp(const FlightDump& dump);

// The same records, written at one moment in two forms (pickle and JSON).
bool same_ring(const FlightDump& a, const FlightDump& b);

// Dumps of several runs, or of attempts of one, lie in one place: those that end more than half an
// hour before the rest, and of which a rank has left a newer one too, are of an earlier run. So are
// those that end no later than a process of a rank of which a newer process has left one too.
class EarlierRuns {
 public:
  explicit EarlierRuns(std::span<const FlightDump> dumps);

  bool holds(const FlightDump& dump) const;
  // One sentence that counts and names them; empty: there are none.
  std::string note() const;

 private:
  void find_gap(std::span<const FlightDump> dumps);
  void find_newer_processes(std::span<const FlightDump> dumps);

  std::int64_t from_ = FlightEntry::kAbsent;  // where the newest run begins
  std::size_t dumps_ = 0;
  std::set<std::string> places_;  // folders and archives
};

}  // namespace muster
