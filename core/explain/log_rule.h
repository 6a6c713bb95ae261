#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/log_event.h"

namespace muster {

// One kind of line: the words by which it is known and what it means. The built-in ones are tables
// of rows (rules_*.cc, by subject), the user's come from a file (docs/FORMATS.md, rules.toml).
//
// `pattern` (RE2) is searched in the message behind the envelope of the line (stamp, rank, host,
// "[E801 ...]"), never anchored by itself. Its named groups become the words of the event; these
// names also fill fields of it: rank, host, pid. `subject_id`, `meaning` and `advice` may quote
// words as {name}; {host}, {rank} and {pid} are those of the event, from the line or its envelope.
// Where a word that `subject_id` wants is not known, the event has no subject.
struct LogRule {
  std::string name;     // "cuda_out_of_memory", unique
  std::string anchor;   // stands in every line that the pattern matches, byte for byte; the rarer
                        // its words the better: lines without any anchor are never looked at
  std::string pattern;  // empty: the anchor alone is enough
  Cause cause = Cause::undetermined;
  EventRole role = EventRole::root;
  std::optional<Severity> severity;
  CulpritKind subject_kind = CulpritKind::none;
  std::string subject_id;  // "{host}/{gpu}"
  std::string meaning;     // "a CUDA allocation of {size} failed"
  std::string advice;
  std::vector<Action> actions;
};

// A line that a rule must or must not match; every row of every table has at least one of each in
// the tests, and `muster explain --test-rules FILE` runs those of a user's file.
struct RuleExample {
  std::string rule;  // empty: no rule may match
  std::string line;
};

// In the order in which they are tried: the first match of a line wins.
std::span<const LogRule> builtin_rules();

}  // namespace muster
