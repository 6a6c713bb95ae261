#pragma once

#include <stop_token>
#include <string>

#include "app/live_run.h"

namespace muster {

struct TopOptions {
  Duration interval = std::chrono::seconds(1);
  bool colour = true;
};

// Takes the terminal and draws every answer until `q` or a stop; the terminal is given back in
// every case. While a slow source is asked (at most an interval, or half a second), keys wait.
// Returns the last answer; Errc::unavailable where the terminal went away.
Result<TriageAnswer> top_loop(const TriageRequest& request, const TopOptions& options, Files& files,
                              Clock& clock, const std::stop_token& stop);

// One frame as plain text, without keys: every source is read to its end or asked once. Every row
// of the table is there.
Result<std::string> top_once(const TriageRequest& request, std::size_t columns, Files& files,
                             Clock& clock, const std::stop_token& stop);

}  // namespace muster
