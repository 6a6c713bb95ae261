#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/flight/dump.h"

namespace muster {

// Which of the dumps that lie in one place are judged together: those of the newest run, one for
// each rank. Of several dumps of a rank
// - equal ones are copies and count once,
// - of one process the newest counts, of equally new ones the one that is whole, has more, or holds
//   stacks; the answer says which was left out,
// - those of several back ends are joined (back_ends.h), if they were written at one time,
// - those of two processes that were alive at one time are of two jobs: then nobody can tell.
struct DumpChoice {
  std::vector<const FlightDump*> dumps;  // by rank; some of them point into `made`
  std::deque<FlightDump> made;
  std::vector<std::string> notes;
  std::string two_jobs;  // what shows them; empty: there is one
};

// Dumps without a rank, those that were begun and not written, and those whose name misleads are
// left out with a note. The choice holds views into `dumps`.
DumpChoice choose_dumps(std::span<const FlightDump> dumps);

}  // namespace muster
