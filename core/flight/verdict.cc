#include "core/flight/verdict.h"

namespace muster {

std::string_view flight_verdict_name(FlightVerdictKind kind) {
  constexpr std::string_view kNames[] = {
      "behind",          "in_launch",  "comm_init",         "no_dump",        "mismatch",
      "ahead_left_loop", "extra_op",   "out_of_order",      "deadlock_cycle", "fabric_all",
      "fabric_partial",  "fabric_p2p", "p2p_size_mismatch", "never_started",  "silent_mismatch",
      "straggler",       "undecided"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace muster
