#include "core/model/log_event.h"

namespace muster {

std::optional<EventRole> event_role_from_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(EventRole::context); ++i) {
    const auto role = static_cast<EventRole>(i);
    if (event_role_name(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace muster
