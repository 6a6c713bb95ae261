#include "core/explain/run_events.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <tuple>
#include <utility>

namespace muster {
namespace {

// The smaller, the graver. What a run did takes back what looked like a failure.
int gravity_of(const LogEvent& event) {
  switch (event.role) {
    case EventRole::root:
      return event.severity.value_or(cause_row(event.cause).severity) == Severity::critical ? 0 : 1;
    case EventRole::context:
    case EventRole::cascade:
      return 2;
    case EventRole::confirmation:
    case EventRole::teardown:
      return 3;
    case EventRole::benign:
      break;
  }
  return 4;
}

}  // namespace

LeftOut keep_gravest(const std::vector<std::vector<LogEvent>*>& logs, std::size_t most) {
  struct Place {
    int gravity;
    Duration at;
    std::size_t log, event;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> order;
  for (std::size_t log = 0; log < logs.size(); ++log) {
    for (std::size_t i = 0; i < logs[log]->size(); ++i) {
      const LogEvent& event = (*logs[log])[i];
      const auto at = event.time.at ? event.time.at->time_since_epoch() : Duration::max();
      order.push_back({gravity_of(event), at, log, i});
    }
  }
  if (order.size() <= most) return {};
  const auto first_out = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(order.begin(), first_out, order.end());
  LeftOut out;
  out.events = order.size() - most;
  out.grave = std::any_of(first_out, order.end(), [](const Place& p) { return p.gravity <= 1; });
  std::sort(order.begin(), first_out, [](const Place& a, const Place& b) {
    return std::tie(a.log, a.event) < std::tie(b.log, b.event);
  });
  auto next = order.begin();
  for (std::size_t log = 0; log < logs.size(); ++log) {
    std::vector<LogEvent> kept;
    for (; next != first_out && next->log == log; ++next) {
      kept.push_back(std::move((*logs[log])[next->event]));
    }
    *logs[log] = std::move(kept);
  }
  return out;
}

}  // namespace muster
