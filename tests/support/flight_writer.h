#pragma once

#include <string>

#include "core/flight/dump.h"

// Writes dumps of the flight recorder as PyTorch does, byte by byte: its pickle of protocol 2 with
// strings shared by value and frames shared by reference, and its JSON. What the reader is tried
// on. FlightDump::version decides which keys there are; known are "" (the bare list of torch 2.2),
// "1.4", "2.2", "2.3", "2.5", "2.9" and "2.10". What the values do not hold is made up: numbers of
// threads, the time at which a start was noticed.

namespace muster {

struct FlightWriting {
  bool frames = true;
  bool only_active = false;  // as asked for by TORCH_INCLUDE_ONLY_ACTIVE: nothing completed
};

std::string flight_pickle(const FlightDump& dump, FlightWriting writing = {});

// As _dump_fr_trace_json() gives it: keys in the order of the alphabet, no frames, no `entries`
// where there is none. Since version 2.5.
std::string flight_json(const FlightDump& dump, bool only_active = false);

}  // namespace muster
