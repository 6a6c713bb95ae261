#include "core/explain/event_keeper.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace muster {
namespace {

std::string key_of(const LogEvent& event) {
  return fmt::format("{}|{}|{}|{}|{}|{}", event.rule, event.host,
                     event.rank ? *event.rank : std::int32_t{-1},
                     event.pid ? *event.pid : std::int64_t{-1},
                     static_cast<int>(event.subject.kind), event.subject.id);
}

}  // namespace

bool EventKeeper::push(LogEvent event, Kept& kept) {
  if (events_.size() >= limits::kLogEvents) {
    not_kept_ += 1 + event.repeats;
    return true;
  }
  kept.places.push_back(events_.size());
  events_.push_back(std::move(event));
  return false;
}

bool EventKeeper::add_context(LogEvent event, Kept& kept) {
  if (kept.places.size() < limits::kLogEventsOfContext) return push(std::move(event), kept);
  kept.next = std::max(kept.next, limits::kLogEventsOfRule);
  events_[kept.places[kept.next]] = std::move(event);
  if (++kept.next == kept.places.size()) kept.next = limits::kLogEventsOfRule;
  return true;
}

bool EventKeeper::add(LogEvent event) {
  std::string key = key_of(event);
  auto found = kept_.find(key);
  if (found == kept_.end()) {
    if (events_.size() >= limits::kLogEvents) {
      not_kept_ += 1 + event.repeats;
      return true;
    }
    found = kept_.emplace(std::move(key), Kept{}).first;
  }
  Kept& kept = found->second;
  if (event.role == EventRole::context) return add_context(std::move(event), kept);
  if (kept.places.size() < limits::kLogEventsOfRule) return push(std::move(event), kept);
  LogEvent& last = events_[kept.places.back()];
  last.repeats += 1 + event.repeats;
  const std::uint64_t line = event.line.value_or(0);
  if (line >= kept.last_line) last.last = event.last;
  kept.last_line = std::max(kept.last_line, line);
  return true;
}

std::vector<LogEvent> EventKeeper::take() {
  std::stable_sort(events_.begin(), events_.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; });
  kept_.clear();
  return std::exchange(events_, {});
}

}  // namespace muster
