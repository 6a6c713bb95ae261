#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// Ordered: a greater value is worse.
enum class Severity : std::uint8_t {
  ok,        // normal operation, also when it looks sick; nobody has to do anything
  info,      // something happened or cannot be judged yet; no action now
  warning,   // the run goes on slower or at risk: act soon
  critical,  // failed, hangs, or a part must not be used any more
};

// How sure the finding is. At `low` a named culprit is a hint, not an accusation.
enum class Confidence : std::uint8_t { low, medium, high };

constexpr std::string_view severity_name(Severity s) {
  constexpr std::string_view kNames[] = {"ok", "info", "warning", "critical"};
  return kNames[static_cast<int>(s)];
}
constexpr std::string_view confidence_name(Confidence c) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<int>(c)];
}

}  // namespace muster
