#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/telemetry_row.h"
#include "core/telemetry/exposition.h"

// Names of exporters that are not ours -> our metrics. DCGM's names stand under both spellings: 4.6
// renamed most of its core fields.

namespace muster {

struct PrometheusName {
  std::string_view name;
  Metric metric;
  PageUnit unit = PageUnit::same;
  std::uint8_t weight = 1;       // where two names give one metric, the heavier one stays
  bool of_instance = false;      // under MIG it belongs to an instance, not to the board
  bool ambiguous_ratio = false;  // a ratio by its name, and perhaps percent
};

// All of them, for a query that asks for them by name.
std::span<const PrometheusName> prometheus_names();
const PrometheusName* find_prometheus_name(std::string_view name);

}  // namespace muster
