#include "core/health/probe.h"

namespace muster::health {

const ProbeAnswer* HostProbe::find(std::string_view id) const {
  for (const ProbeAnswer& answer : answers) {
    if (answer.id == id) return &answer;
  }
  return nullptr;
}

}  // namespace muster::health
