#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/culprit.h"
#include "core/model/severity.h"

// What one line of any log (or a few that say the same) is evidence for. Readers of lines make
// these values, core/explain/ weighs them against each other on one timeline.

namespace muster {

// What part the line plays where the run has failed.
enum class EventRole : std::uint8_t {
  root,          // can be the first cause: an exception, a lost GPU, a killed process
  cascade,       // follows from the failure of another: a timeout, a closed connection
  teardown,      // the end of a process that something else ended: SIGTERM, abort, "exiting"
  confirmation,  // no cause of its own, but says more of one: a counter, a state, a recovery action
  benign,        // looks like an error and is none
  context,       // what the run did: a step, a save that began, training that ended
};

constexpr std::string_view event_role_name(EventRole role) {
  constexpr std::array<std::string_view, 6> kNames = {"root",         "cascade", "teardown",
                                                      "confirmation", "benign",  "context"};
  return kNames[static_cast<std::size_t>(role)];
}
std::optional<EventRole> event_role_from_name(std::string_view name);

// When, in whatever clocks the line has.
struct EventTime {
  std::optional<WallTime> at;
  bool has_zone = false;               // false: local time of its host, read as if it were UTC
  bool has_date = true;                // false: a bare clock time on 1970-01-01
  std::optional<Duration> since_boot;  // of the kernel of its host
};

struct LogEvent {
  std::string rule;  // who read it: name of a row of the table, of the user's file, or of a reader
  Cause cause = Cause::undetermined;
  EventRole role = EventRole::context;
  std::optional<Severity> severity;  // where it is not the usual one of the cause
  // At most this sure is an answer that stands on this line alone; absent: the line is direct.
  std::optional<Confidence> confidence;
  EventTime time;
  EventTime above;  // of a line without a stamp: that of a step above it, where one is known

  std::string host;                  // empty: the line names none
  std::optional<std::int32_t> rank;  // of the whole job
  std::optional<std::int64_t> pid;
  Culprit subject;  // the finest thing that the line itself names to act on; none: nothing

  // What the line named beside: ("peer", "10.77.207.19"), ("seconds", "480"). Names are those of
  // the groups of its pattern, in their order; what did not match is left out.
  std::vector<std::pair<std::string, std::string>> words;

  std::string meaning;                // one clause in plain language; empty: that of the cause
  std::string advice;                 // what now, in words; empty: that of the cause
  std::vector<Action> actions;        // empty: those of the cause
  std::string text;                   // the line, at most limits::kEvidenceChars bytes
  std::string source;                 // file
  std::optional<std::uint64_t> line;  // from 1
  std::uint64_t repeats = 0;          // further lines of this source that say the same
  EventTime last;                     // of the last repeat

  std::string_view word(std::string_view name) const {
    for (const auto& [key, value] : words) {
      if (key == name) return value;
    }
    return {};
  }
};

}  // namespace muster
