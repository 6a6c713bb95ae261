#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/model/finding.h"
#include "core/model/log_event.h"
#include "core/model/site_fact.h"

namespace muster {

// One file (or member of an archive) that was read for its lines.
struct LogSource {
  std::string name;                  // as the user gave it
  std::string host;                  // by its name or its lines; empty: not known
  std::optional<std::int32_t> rank;  // a log of one rank
  std::uint64_t lines = 0;
  EventTime first, last;  // stamps of its first and last stamped line
};

// How far the clock of a host is ahead of UTC, for its stamps without a zone.
struct ZoneOffset {
  std::string host;  // "" for all others
  Duration ahead{};
  // From this local time on, until the next one of the host; its first one holds before as well.
  WallTime from{};
  bool told = true;  // by the user; else a guess, which decides no order
};

struct ExplainInput {
  std::vector<LogSource> sources;
  std::vector<LogEvent> events;  // of each source in the order of its lines
  std::vector<SiteFact> facts;
  std::vector<ZoneOffset> zones;  // those of a host in the order of time
};

struct Explanation {
  std::vector<Finding> findings;  // [0] is the first cause; empty: nothing to explain
  std::vector<std::string> notes;
};

// The first cause of all that is told, with the chain from it to the last shout as its evidence.
//
// The earliest event of role `root` wins; what says the same on many ranks or hosts is one
// observation. Events of other roles never are the answer while a root stands, and alone they make
// at most what their own cause allows. Facts decide what lines leave open: a failed registration of
// memory beside a limit of 8 MiB is the limit. Order between hosts counts only where it is larger
// than what their clocks may differ by; otherwise both are named or the confidence falls.
Explanation explain(const ExplainInput& input);

}  // namespace muster
