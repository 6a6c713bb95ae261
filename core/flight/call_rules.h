#pragma once

#include <span>

#include "core/flight/dump.h"

namespace muster {

// What of a call can be compared between all dumps of a run: formats differ in what they record.
struct CallRules {
  bool types = true;          // 1.x has none
  bool batch_members = true;  // before 2.7 only the end of a batch of collectives is recorded
  // Formats to 2.3 record a barrier as all_reduce of one element, later ones by its name.
  bool barrier_by_name = true;
};

// What every one of these dumps tells.
CallRules common_rules(std::span<const FlightDump* const> dumps);

}  // namespace muster
