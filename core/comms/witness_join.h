#pragma once

#include <string>
#include <vector>

#include "core/comms/watchdog_reader.h"

namespace muster {

struct JoinedWitnesses {
  std::vector<RankWitness> witnesses;  // in the order of the logs and their lines
  std::vector<std::string> notes;
};

// What several logs tell together. A line that names a process gets the rank of that process; a
// line that stays without a rank becomes a note, never a guess. The end of a process is dropped
// where its rank tells more: SIGABRT after a watchdog line is the watchdog's own doing.
JoinedWitnesses join_witnesses(std::vector<LogReading> logs);

}  // namespace muster
