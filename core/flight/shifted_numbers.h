#pragma once

#include <cstdint>

#include "core/flight/fleet.h"

namespace muster {

// Whether some member counts the collectives of the group from another start than the rest: its
// recorder or its process began anew, and what it calls its 13th is the 15th of the others. Seen by
// finished calls that differ although both sides make both calls elsewhere, as no mixed-up call
// does; or by rings that begin with another number although nothing was lost. Equal numbers of such
// a group do not mean the same call. Linear in the entries of the group.
bool numbers_are_shifted(const FlightFleet& fleet, std::uint32_t group);

}  // namespace muster
