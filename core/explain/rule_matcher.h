#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/explain/log_line.h"
#include "core/explain/log_rule.h"
#include "core/model/log_event.h"

namespace muster {

// Rules, compiled once, that turn lines into events. May be used by several threads at a time.
//
// A pattern is searched in the message of a line, and where it is not there, in the whole line (a
// syslog tag names the program). The first rule of the list that matches wins. Words are cut at
// limits::kRuleWordBytes, the text of the event at limits::kEvidenceChars.
class RuleMatcher {
 public:
  // Errc::invalid_input, "rule NAME: why", for a pattern that is none, a name that comes twice, an
  // anchor that is shorter than LiteralSearch takes, a rule that has neither anchor nor pattern, a
  // template that quotes a word that the pattern does not have, and what is beyond the limits.
  static Result<RuleMatcher> make(std::vector<LogRule> rules);
  ~RuleMatcher();
  RuleMatcher(RuleMatcher&&) noexcept;
  RuleMatcher& operator=(RuleMatcher&&) noexcept;

  // The anchors of all rules, each once. What match() is given are indices of this list.
  const std::vector<std::string>& anchors() const;
  // A rule has no anchor: every line has to be looked at.
  bool needs_all_lines() const;

  // The event of a line in which these anchors stand.
  std::optional<LogEvent> match(const LogLine& line, std::span<const std::uint16_t> anchors) const;
  // The same where nobody has searched for anchors.
  std::optional<LogEvent> match(const LogLine& line) const;

 private:
  struct State;
  explicit RuleMatcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The anchor that a pattern has in itself: the longest run of bytes that stands in every text that
// it matches. Empty where there is none of LiteralSearch::kMinBytes, or the pattern ignores case.
std::string anchor_of_pattern(std::string_view pattern);

}  // namespace muster
