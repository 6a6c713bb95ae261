#pragma once

namespace muster::train {

// SIGTERM, SIGUSR1 and SIGINT ask a run to save and leave; a second SIGINT ends the process at
// once. For the process from then on: call it before there are other threads. A thread of its own
// takes the signals, so that none ever interrupts the mathematics: generated code of oneDNN keeps
// data below the stack pointer, where the handler of a signal would write.
void watch_stop_signals();
bool stop_requested();

}  // namespace muster::train
