#include "core/health/probe.h"

namespace muster::health {
namespace {

struct ReachRow {
  std::string_view name, meaning;
};

// In the order of the enumeration.
constexpr ReachRow kReach[] = {
    {"reached", "was reached"},
    {"unresolved", "has no address"},
    {"refused", "refused the connection"},
    {"unreachable", "does not answer"},
    {"login_refused", "refused the login"},
    {"host_key", "shows an unknown or changed host key"},
    {"no_allocation", "was not given by the batch system"},
    {"broken", "broke off in the middle"},
    {"no_probe", "could run nothing"},
};

}  // namespace

std::string_view reach_meaning(Reach reach) {
  return kReach[static_cast<std::size_t>(reach)].meaning;
}

std::string_view reach_name(Reach reach) {
  return kReach[static_cast<std::size_t>(reach)].name;
}

bool answered(Reach reach) {
  return reach == Reach::reached || reach == Reach::broken;
}

const ProbeAnswer* HostProbe::find(std::string_view id) const {
  for (const ProbeAnswer& answer : answers) {
    if (answer.id == id) return &answer;
  }
  return nullptr;
}

}  // namespace muster::health
