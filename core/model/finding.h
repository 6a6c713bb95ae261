#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/culprit.h"
#include "core/model/severity.h"

// The one form of an answer (docs/FORMATS.md, muster.report/1).

namespace muster {

// One thing that was seen, with the way back to it. `text` may hold bytes from outside: renderers
// escape it, nobody executes it.
struct Evidence {
  std::string source;                 // path, URL or "nvml", as the user gave it
  std::optional<std::uint64_t> line;  // from 1; absent where lines mean nothing
  std::string text;
};

struct Finding {
  Severity severity = Severity::info;
  Confidence confidence = Confidence::low;
  Cause cause = Cause::undetermined;
  std::vector<Culprit> culprits;  // empty is the same as {none}
  std::string summary;            // one line: what, who, since when, with units
  std::optional<WallTime> since;  // when it began, on the clock of its source
  std::vector<Evidence> evidence;
  std::vector<Action> actions;  // the first is the most important
  std::string next;             // the command or measurement that comes next, in words
};

// Something that could not be read. Never counted as healthy.
struct Blind {
  std::string source;
  std::string reason;
  // What was blind could hide a critical finding; alone it then gives exit status 3.
  bool hides_critical = false;
};

struct Report {
  std::string verb;               // "triage"
  std::vector<Finding> findings;  // [0] is the answer; empty: nothing is wrong
  std::vector<Blind> blind;
  // What was read and with which assumptions (calibration source, zone, inferred GPU count): one
  // short line each, for people.
  std::vector<std::string> notes;
};

// Orders findings: severity, then confidence, then the order in which they were added; hints of low
// confidence stand below warnings that are sure.
void sort_findings(std::vector<Finding>& findings);

}  // namespace muster
