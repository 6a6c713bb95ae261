#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/flight/dump.h"

namespace muster {

// Newest time stamp of its records; FlightEntry::kAbsent where there is none.
std::int64_t newest_stamp(const FlightDump& dump);

// Where the last life of the process begins: numbers of records start again after a reset.
std::size_t last_life_of(const FlightDump& dump);

// The same records, written at one moment in two forms (pickle and JSON).
bool same_ring(const FlightDump& a, const FlightDump& b);

// Whether two dumps of one rank are of two processes that were alive at one time: they have records
// of one time and none in common. Such are of two jobs, or their names count ranks anew on each
// host.
bool alive_at_once(const FlightDump& a, const FlightDump& b);

// The members of the group of all ranks, as this dump tells them; null: it does not.
const std::vector<std::int32_t>* world_of(const FlightDump& dump);

// Dumps of several runs, or of attempts of one, lie in one place: those that end more than half an
// hour before the rest, and of which a rank has left a newer one too, are of an earlier run. So are
// those that end no later than a process of a rank of which a newer process has left one too, and
// those of a job of other ranks that ended before the newest one began.
class EarlierRuns {
 public:
  explicit EarlierRuns(std::span<const FlightDump> dumps);

  bool holds(const FlightDump& dump) const;
  // One sentence that counts and names them; empty: there are none.
  std::string note() const;

 private:
  void find_gap(std::span<const FlightDump> dumps);
  void find_newer_processes(std::span<const FlightDump> dumps);
  void find_other_worlds(std::span<const FlightDump> dumps);

  std::int64_t from_ = FlightEntry::kAbsent;  // where the newest run begins
  std::size_t dumps_ = 0;
  std::set<std::string> places_;  // folders and archives
};

}  // namespace muster
