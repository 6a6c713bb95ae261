#pragma once

#include <cstdint>
#include <vector>

#include "core/model/log_event.h"

namespace muster {

// What a whole run may hold in memory: where its logs have more than `most` events, the gravest
// stay, of one gravity the earliest by their stamps, of those without one the first. Their order in
// each log stays as it was.
struct LeftOut {
  std::uint64_t events = 0;
  bool grave = false;  // one of them can be a first cause

  void add(const LeftOut& more) {
    events += more.events;
    grave = grave || more.grave;
  }
};
LeftOut keep_gravest(const std::vector<std::vector<LogEvent>*>& logs, std::size_t most);

}  // namespace muster
