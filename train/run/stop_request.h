#pragma once

namespace muster::train {

// SIGTERM, SIGUSR1 and SIGINT ask a run to save and leave; a second SIGINT ends the process at
// once. For the process from then on: nobody waits for signals, the loop asks at each step.
void watch_stop_signals();
bool stop_requested();

}  // namespace muster::train
