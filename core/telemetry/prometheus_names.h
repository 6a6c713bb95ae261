#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/metric.h"
#include "core/model/telemetry_row.h"

namespace muster {

// A metric name of an exporter, and what it means. One table for reading and for our own exposition.
struct PrometheusName {
  std::string_view name;
  Metric metric;
  double scale = 1;  // to the unit of the metric table
  SeriesKind kind = SeriesKind::gpu;
};

// dcgm-exporter (names before and since DCGM 4.6), nvidia_gpu_exporter, node_exporter's InfiniBand
// collector, and our own agent.
std::span<const PrometheusName> prometheus_names();

// Nothing for a name that is not in the table. Fast: asked for every line of a page.
const PrometheusName* find_prometheus_name(std::string_view name);

// The name under which our agent exposes a metric; empty for one that it does not expose.
std::string_view exposed_name(Metric metric);

// Numbers that DCGM prints for "blank": INT32, INT64 and FP64 sentinels.
bool is_blank_sentinel(double value);

}  // namespace muster
