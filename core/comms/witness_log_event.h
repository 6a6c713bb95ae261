#pragma once

#include "core/comms/watchdog_reader.h"
#include "core/model/log_event.h"

namespace muster {

// What a rank's log tells among the events of all logs. Its rule is the name of its kind
// ("collective_timeout"), its words are "seq", "op", "group", "enqueued", "completed", "pending",
// "code", "timeout_ms", "ran_ms" and "numel_in", where the line has them. The end of a process that
// says nothing but its status is teardown, with the word "signal" where a signal ended it.
LogEvent log_event_of(const LogWitness& witness);

}  // namespace muster
