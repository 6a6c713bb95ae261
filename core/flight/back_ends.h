#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/flight/dump.h"

// A process may have a recorder for each of its back ends (NCCL for the GPUs, Gloo for the rest),
// and one group may speak through several. Calls of one back end are compared with those of the
// same one only: each counts its own, and nobody waits in one for a call of the other.

namespace muster {

// Libraries whose calls meet: all of NCCL's are one. Empty: not told.
std::string_view back_end_of(std::string_view library);

// Of the first entry that tells one; empty where none does. Points into the dump.
std::string_view main_back_end_of(const FlightDump& dump);

// Of each group of the dump: that of its first entry that tells one; empty where none does. The
// views point into the dump.
std::vector<std::string_view> back_ends_of_groups(const FlightDump& dump);

// Whether entries of two back ends stand under one group.
bool mixes_back_ends(const FlightDump& dump);

// Dumps of one process as one: the entries of all in the order of their times (in that of `parts`
// where some have none), those of an earlier life left out; groups of their own for each back end.
// Record ids are given anew, and tell of lost and of left-out entries as those of the parts did.
FlightDump join_back_ends(std::span<const FlightDump* const> parts);

}  // namespace muster
