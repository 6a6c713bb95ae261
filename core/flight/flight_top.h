#pragma once

#include "core/flight/dump.h"
#include "core/flight/flight_misfits.h"
#include "core/flight/flight_values.h"

// What a dump tells beside its entries: versions, pg_config, pg_status.

namespace muster {

// Puts it into a dump that has its entries and their groups; the joins are those of dump_reader.h.
// `root` that is no dict tells nothing. `bytes`: of the file, which bound the work.
void add_flight_top(const FlightValue& root, const FlightValues& values, std::uint64_t bytes,
                    FlightMisfits& misfits, FlightDump& dump);

// Has this dict one of the keys that only a dump has? `cut`: it may have lost them, and its
// version, or nothing at all, is enough.
bool has_flight_key(const FlightValue& root, const FlightValues& values, bool cut);

}  // namespace muster
