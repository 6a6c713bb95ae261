#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/flight/fleet.h"

namespace muster {

// A send, a receive, or both, that has not ended. Ranks are global; an end that is not posted is
// absent.
struct Message {
  std::uint32_t group = 0;
  std::int32_t from = 0, to = 0;
  std::optional<std::uint32_t> sent, received;  // entries of the two ranks
};

// Pairs the messages of all ranks: between two ranks of a group the k-th send belongs to the k-th
// receive. Counts begin at the start of the run where both rings still hold it; else the ones that
// are not done are paired in order, since what is done needs no partner.
//
// Of one rank in one group at most `most` messages of which one end is missing, and a quarter of
// that of which both are posted; between two ranks the first few of each kind. So a call that has
// not come is seen however many have. Messages whose peer cannot be told (any source, unknown
// members), and of a rank to itself, are left out. Time n log n in the messages of all dumps.
std::vector<Message> unfinished_messages(const FlightFleet& fleet, std::size_t most);

}  // namespace muster
