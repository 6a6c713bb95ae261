#pragma once

#include <cstdint>
#include <string>

#include "core/flight/dump.h"

// Which line of the user's program issued a call.

namespace muster {

// The innermost frame that is the user's own: not of torch, not of the interpreter or an installed
// package. Where there is none, the innermost of all; nothing for an empty stack.
const FlightFrame* user_frame(const FlightDump& dump, const FlightStack& stack);

// The same place of the program gives the same number on all ranks: the stack's own user frames
// (function, file, line). 0: no frames.
std::uint64_t call_site(const FlightDump& dump, const FlightStack& stack);

// Whether the stack stands outside the training step: a save, a checkpoint, an evaluation, a
// tear-down; by the words in the names of the two innermost functions that are the user's own.
bool outside_the_step(const FlightDump& dump, const FlightStack& stack);

// "save_checkpoint train.py:310"; empty for nothing.
std::string describe_frame(const FlightFrame* frame);

}  // namespace muster
