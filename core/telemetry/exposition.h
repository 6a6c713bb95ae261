#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/model/metric.h"
#include "core/model/telemetry_row.h"

// The names under which our own agent exposes its readings (Prometheus text format 0.0.4), in one
// table that the writer below and the reader (prometheus_text.h, prometheus_json.h) share: what the
// agent exposes is read back as the same rows.
//
//   muster_gpu_power_watts{host="n1",gpu="3",uuid="GPU-...",pci="0000:3b:00"} 627.02
//   muster_absent{host="n1",gpu="3",...,metric="power_w",reason="GPU lost"} 1
//
// Names follow the rules of Prometheus: base units (hertz, bytes, joules, ratios of 0 to 1),
// counters end in _total. A missing value is never exposed as a number: its sample is left out and
// `muster_absent` says why.

namespace muster {

// How a page counts what we count in the unit of the metric table.
enum class PageUnit : std::uint8_t {
  same,
  ratio,       // 0..1 where we count percent
  hertz,       // where we count MHz
  mebibytes,   // where we count bytes
  millijoule,  // where we count joules
};

// Ratios are rounded at the eighth decimal, so that 0.57 is 57 % and not 56.99999999999999.
double from_page_unit(PageUnit unit, double value);
double to_page_unit(PageUnit unit, double value);

struct ExpositionRow {
  Metric metric;
  std::string_view name;
  PageUnit unit;
  SeriesKind kind;  // what has this metric; a row of another kind carries the label `kind`
};

std::span<const ExpositionRow> exposition_table();  // in the order of Metric
const ExpositionRow& exposition_row(Metric metric);
const ExpositionRow* exposition_from_name(std::string_view name);  // nullptr: not ours

inline constexpr std::string_view kAbsentName = "muster_absent";
// "gpu", "port", "task", "node": the label `kind`.
std::string_view series_kind_name(SeriesKind kind);

// One page: HELP, TYPE and samples of every metric that any row has, in the order of Metric, then
// `muster_absent`. `at` and `line` of a row are not used: a live page carries no time stamps, its
// time is that of the scrape. Labels that are empty are left out; control characters and bytes that
// are not UTF-8 are escaped, so one bad name cannot spoil the page. Two rows of one series on one
// page would be refused by Prometheus; the caller merges them first.
std::string render_exposition(std::span<const TelemetryRow> rows);

}  // namespace muster
