#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

enum class CulpritKind : std::uint8_t {
  rank,
  gpu,
  host,
  port,
  link,
  process,
  file,
  config,
  group,
  none,     // nobody is to blame
  unknown,  // somebody is, and the evidence does not say who
};

constexpr std::string_view culprit_kind_name(CulpritKind k) {
  constexpr std::string_view kNames[] = {"rank", "gpu",    "host",  "port", "link",   "process",
                                         "file", "config", "group", "none", "unknown"};
  return kNames[static_cast<int>(k)];
}

// Who has to be acted on: not what shouts, not what suffers. Ids are spelled as operators spell
// them: rank "3", gpu "HOST/INDEX" or "HOST/BUSID", host "n012" or "this" for a host that the input
// does not name, group "rack=7". Empty for none and unknown.
struct Culprit {
  CulpritKind kind = CulpritKind::none;
  std::string id;

  auto operator<=>(const Culprit&) const = default;
};

}  // namespace muster
