#include "core/telemetry/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

using enum PageUnit;
using enum SeriesKind;

constexpr ExpositionRow kTable[] = {
    {Metric::power_w, "muster_gpu_power_watts", same, gpu},
    {Metric::power_instant_w, "muster_gpu_power_instant_watts", same, gpu},
    {Metric::power_limit_w, "muster_gpu_power_limit_watts", same, gpu},
    {Metric::power_default_limit_w, "muster_gpu_power_default_limit_watts", same, gpu},
    {Metric::energy_j, "muster_gpu_energy_joules_total", same, gpu},
    {Metric::module_power_w, "muster_gpu_module_power_watts", same, gpu},
    {Metric::node_power_w, "muster_node_power_watts", same, node},
    {Metric::power_smoothing, "muster_gpu_power_smoothing", same, gpu},
    {Metric::util_gpu_percent, "muster_gpu_utilization_ratio", ratio, gpu},
    {Metric::util_mem_percent, "muster_gpu_memory_utilization_ratio", ratio, gpu},
    {Metric::sm_active_ratio, "muster_gpu_sm_active_ratio", same, gpu},
    {Metric::tensor_active_ratio, "muster_gpu_tensor_active_ratio", same, gpu},
    {Metric::dram_active_ratio, "muster_gpu_dram_active_ratio", same, gpu},
    {Metric::mem_used_bytes, "muster_gpu_memory_used_bytes", same, gpu},
    {Metric::mem_total_bytes, "muster_gpu_memory_size_bytes", same, gpu},
    {Metric::sm_clock_mhz, "muster_gpu_sm_clock_hertz", hertz, gpu},
    {Metric::sm_clock_max_mhz, "muster_gpu_sm_clock_max_hertz", hertz, gpu},
    {Metric::mem_clock_mhz, "muster_gpu_memory_clock_hertz", hertz, gpu},
    {Metric::throttle_mask, "muster_gpu_clock_event_reasons", same, gpu},
    {Metric::temperature_c, "muster_gpu_temperature_celsius", same, gpu},
    {Metric::mem_temperature_c, "muster_gpu_memory_temperature_celsius", same, gpu},
    {Metric::fan_percent, "muster_gpu_fan_ratio", ratio, gpu},
    {Metric::pstate, "muster_gpu_performance_state", same, gpu},
    {Metric::pcie_gen, "muster_gpu_pcie_generation", same, gpu},
    {Metric::pcie_gen_max, "muster_gpu_pcie_generation_max", same, gpu},
    {Metric::pcie_width, "muster_gpu_pcie_lanes", same, gpu},
    {Metric::pcie_width_max, "muster_gpu_pcie_lanes_max", same, gpu},
    {Metric::pcie_replays, "muster_gpu_pcie_replays_total", same, gpu},
    {Metric::ecc_corrected, "muster_gpu_ecc_corrected_total", same, gpu},
    {Metric::ecc_uncorrected, "muster_gpu_ecc_uncorrected_total", same, gpu},
    {Metric::remapped_corrected, "muster_gpu_rows_remapped_corrected_total", same, gpu},
    {Metric::remapped_uncorrected, "muster_gpu_rows_remapped_uncorrected_total", same, gpu},
    {Metric::remap_pending, "muster_gpu_row_remap_pending", same, gpu},
    {Metric::remap_failed, "muster_gpu_row_remap_failed", same, gpu},
    {Metric::last_xid, "muster_gpu_last_xid", same, gpu},
    {Metric::recovery_action, "muster_gpu_recovery_action", same, gpu},
    {Metric::mig_mode, "muster_gpu_mig_mode", same, gpu},
    {Metric::cpu_cores, "muster_task_cpu_cores", same, task},
    {Metric::ib_state, "muster_port_state", same, port},
    {Metric::ib_phys_state, "muster_port_physical_state", same, port},
    {Metric::ib_rate_bytes_per_s, "muster_port_rate_bytes_per_second", same, port},
    {Metric::ib_tx_bytes, "muster_port_transmitted_bytes_total", same, port},
    {Metric::ib_rx_bytes, "muster_port_received_bytes_total", same, port},
    {Metric::ib_xmit_wait, "muster_port_transmit_wait_total", same, port},
    {Metric::ib_symbol_errors, "muster_port_symbol_errors_total", same, port},
    {Metric::ib_link_recoveries, "muster_port_link_recoveries_total", same, port},
    {Metric::ib_link_downed, "muster_port_link_downed_total", same, port},
    {Metric::ib_rcv_errors, "muster_port_receive_errors_total", same, port},
    {Metric::ib_xmit_discards, "muster_port_transmit_discards_total", same, port},
    {Metric::ib_integrity_errors, "muster_port_integrity_errors_total", same, port},
    {Metric::ib_out_of_sequence, "muster_port_out_of_sequence_total", same, port},
    {Metric::step, "muster_task_step", same, task},
};
static_assert(std::size(kTable) == kMetricCount);

constexpr double kMega = 1e6;
constexpr double kMebi = 1048576.0;

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += out.ends_with('{') ? "" : ",";
  out += name;
  out += "=\"";
  for (const char c : escape_controls(value, limits::kEvidenceChars)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_key(std::string& out, const SeriesKey& key, SeriesKind usual) {
  append_label(out, "host", key.host);
  if (key.index) append_label(out, "gpu", fmt::format("{}", *key.index));
  if (key.rank) append_label(out, "rank", fmt::format("{}", *key.rank));
  append_label(out, "uuid", key.uuid);
  append_label(out, "pci", key.pci);
  append_label(out, "device", key.device);
  append_label(out, "model", key.name);
  append_label(out, "group", key.group);
  if (key.kind != usual) append_label(out, "kind", series_kind_name(key.kind));
}

const Reading* find_reading(const TelemetryRow& row, Metric metric) {
  for (const MetricReading& reading : row.readings) {
    if (reading.metric == metric) return &reading.reading;
  }
  return nullptr;
}

void append_head(std::string& out, std::string_view name, std::string_view help,
                 std::string_view type) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void append_samples(std::string& out, const ExpositionRow& exposed,
                    std::span<const TelemetryRow> rows) {
  bool headed = false;
  for (const TelemetryRow& row : rows) {
    const Reading* reading = find_reading(row, exposed.metric);
    if (reading == nullptr || !reading->has_value()) continue;
    if (!std::isfinite(reading->value())) continue;
    const MetricRow& metric = metric_row(exposed.metric);
    if (!headed) {
      append_head(out, exposed.name, metric.help,
                  metric.kind == MetricKind::counter ? "counter" : "gauge");
    }
    headed = true;
    out += exposed.name;
    out += '{';
    append_key(out, row.key, exposed.kind);
    // The shortest text that reads back as the same double.
    out += fmt::format("}} {}\n", to_page_unit(exposed.unit, reading->value()));
  }
}

void append_absences(std::string& out, std::span<const TelemetryRow> rows) {
  bool headed = false;
  for (const TelemetryRow& row : rows) {
    for (const MetricReading& reading : row.readings) {
      if (reading.reading.has_value()) continue;
      if (!headed) {
        append_head(out, kAbsentName, "a value that the source could not give, and why", "gauge");
      }
      headed = true;
      out += kAbsentName;
      out += '{';
      append_key(out, row.key, exposition_row(reading.metric).kind);
      append_label(out, "metric", metric_row(reading.metric).name);
      append_label(out, "reason", absence_name(reading.reading.absence()));
      out += "} 1\n";
    }
  }
}

}  // namespace

double from_page_unit(PageUnit unit, double value) {
  switch (unit) {
    case same:
      break;
    case ratio:
      return std::round(value * 1e8) / 1e6;
    case hertz:
      return value / kMega;
    case mebibytes:
      return value * kMebi;
    case millijoule:
      return value / 1e3;
  }
  return value;
}

double to_page_unit(PageUnit unit, double value) {
  switch (unit) {
    case same:
      break;
    case ratio:
      return value / 100;
    case hertz:
      return value * kMega;
    case mebibytes:
      return value / kMebi;
    case millijoule:
      return value * 1e3;
  }
  return value;
}

std::span<const ExpositionRow> exposition_table() {
  return kTable;
}

const ExpositionRow& exposition_row(Metric metric) {
  const auto index = static_cast<std::size_t>(metric);
  MUSTER_CHECK(index < kMetricCount, "every metric has a name on the page");
  return kTable[index];
}

const ExpositionRow* exposition_from_name(std::string_view name) {
  if (!name.starts_with("muster_")) return nullptr;
  for (const ExpositionRow& row : kTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string_view series_kind_name(SeriesKind kind) {
  constexpr std::string_view kNames[] = {"gpu", "port", "task", "node"};
  return kNames[static_cast<int>(kind)];
}

std::string render_exposition(std::span<const TelemetryRow> rows) {
  std::string out;
  for (const ExpositionRow& exposed : kTable) append_samples(out, exposed, rows);
  append_absences(out, rows);
  return out;
}

}  // namespace muster
