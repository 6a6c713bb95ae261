#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/literal_search.h"
#include "core/comms/watchdog_reader.h"
#include "core/explain/explain.h"
#include "core/explain/rule_matcher.h"

namespace muster {

// Everything by which a line of a log is found worth reading, of all readers together. Borrows the
// rules; used by several threads at a time.
class LogAnchors {
 public:
  explicit LogAnchors(const RuleMatcher& rules);

  // What a literal of search() is for.
  struct Use {
    bool kernel = false, comms = false, event = false, step = false;
    std::optional<std::uint16_t> rule;  // of RuleMatcher::anchors()
  };

  const LiteralSearch& search() const { return search_; }
  const Use& use(std::size_t literal) const { return uses_[literal]; }
  const RuleMatcher& rules() const { return rules_; }

 private:
  std::vector<std::string> collect();

  const RuleMatcher& rules_;
  std::vector<Use> uses_;
  LiteralSearch search_;
};

// What one log told.
struct ScannedLog {
  LogSource source;
  std::vector<LogEvent> events;  // in the order of the lines
  std::vector<RankProcess> processes;
  std::vector<std::string> notes;
  // Some of it was understood: an event, steps of a run, lines of a kernel.
  bool known = false;
  std::string other;  // what it is that another verb understands; empty: nothing
};

// The bytes of one log, in pieces of any size -> its events. One line gives one event: that of the
// kernel's reader before all others; of an exception, the failure of a call or the end of a process
// a rule says more than the reader of ranks' logs, of collectives it does not. Memory does not grow
// with the log.
class LogScan {
 public:
  struct Options {
    std::string name, host;            // host: empty where not known
    std::optional<std::int32_t> rank;  // of a log of one rank
    std::optional<WallTime> written;
  };
  LogScan(const LogAnchors& anchors, Options options);
  ~LogScan();

  void feed(std::string_view bytes);
  // Once, at the end.
  ScannedLog finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether bytes are text of any kind, by the first of a file: logs with colours, holes of zeros and
// stray bytes are, images and programs are not.
bool looks_like_text(std::string_view head);

}  // namespace muster
