#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "app/triage_run.h"

namespace muster {

// The time that a round may take at least, however short the interval is.
inline constexpr Duration kLeastRound = std::chrono::milliseconds(500);

// When the sources of a round that is due now must have answered: an interval later, and soon after
// the `end` of the run.
MonoTime round_deadline(MonoTime due, Duration interval, std::optional<MonoTime> end);

struct LiveOptions {
  Duration interval = std::chrono::seconds(1);
  // Stop after; nothing: at the `end` of the sources, or when stopped.
  std::optional<Duration> length;
  // Files are read on as they grow; without it they are read once, before the first poll.
  bool follow = false;
  // Waits for the next round in place of the clock; false ends the run.
  std::function<bool(MonoTime until)> rest;
};

// Polls live sources (and files that grow) once an interval, and judges after every round. `each`
// gets every answer and says whether to go on. A source that fails is blind until it answers again;
// it never ends the others. The answer of the last round is returned; Errc of the source where none
// could even be opened, or, without `follow`, where none had given anything by the end.
Result<TriageAnswer> triage_live(const TriageRequest& request, const LiveOptions& options,
                                 Files& files, Clock& clock, const std::stop_token& stop,
                                 const std::function<bool(const TriageAnswer&)>& each);

// What an answer says in short: equal texts mean that nothing changed for the reader. The phase and
// shape of the moment count for a reader of the screen; the document has neither.
std::string answer_digest(const TriageAnswer& answer, bool screen);

}  // namespace muster
