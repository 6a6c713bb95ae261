#include "core/telemetry/csv_columns.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/byte_scan.h"
#include "core/telemetry/cell.h"
#include "core/telemetry/fleet.h"
#include "core/telemetry/throttle_reasons.h"

namespace muster {
namespace {

using Role = CsvColumn::Role;
constexpr double kMiB = 1048576.0;

struct MetricName {
  std::string_view name;
  Metric metric;
  double scale = 1;  // of cells without a unit
};
// Names of nvidia-smi (long, short, old and new), then of other tables. Lower case.
constexpr MetricName kNvidia[] = {
    {"power.draw", Metric::power_w},
    {"power.draw.average", Metric::power_w},
    {"power.draw.instant", Metric::power_instant_w},
    {"power.limit", Metric::power_limit_w},
    {"enforced.power.limit", Metric::power_limit_w},
    {"power.default_limit", Metric::power_default_limit_w},
    {"module.power.draw.average", Metric::module_power_w},
    {"utilization.gpu", Metric::util_gpu_percent},
    {"utilization.memory", Metric::util_mem_percent},
    {"memory.used", Metric::mem_used_bytes, kMiB},
    {"memory.total", Metric::mem_total_bytes, kMiB},
    {"clocks.current.sm", Metric::sm_clock_mhz},
    {"clocks.sm", Metric::sm_clock_mhz},
    {"clocks.max.sm", Metric::sm_clock_max_mhz},
    {"clocks.current.memory", Metric::mem_clock_mhz},
    {"clocks.mem", Metric::mem_clock_mhz},
    {"clocks_throttle_reasons.active", Metric::throttle_mask},
    {"clocks_event_reasons.active", Metric::throttle_mask},
    {"temperature.gpu", Metric::temperature_c},
    {"temperature.memory", Metric::mem_temperature_c},
    {"fan.speed", Metric::fan_percent},
    {"pstate", Metric::pstate},
    {"pcie.link.gen.current", Metric::pcie_gen},
    {"pcie.link.gen.gpucurrent", Metric::pcie_gen},
    {"pcie.link.gen.max", Metric::pcie_gen_max},
    {"pcie.link.width.current", Metric::pcie_width},
    {"pcie.link.width.max", Metric::pcie_width_max},
    {"ecc.errors.corrected.volatile.total", Metric::ecc_corrected},
    {"ecc.errors.uncorrected.volatile.total", Metric::ecc_uncorrected},
    {"remapped_rows.correctable", Metric::remapped_corrected},
    {"remapped_rows.uncorrectable", Metric::remapped_uncorrected},
    {"remapped_rows.pending", Metric::remap_pending},
    {"remapped_rows.failure", Metric::remap_failed},
    {"mig.mode.current", Metric::mig_mode},
    {"gpu_recovery_action", Metric::recovery_action},
};
constexpr MetricName kPlain[] = {
    {"power", Metric::power_w},
    {"w", Metric::power_w},
    {"watts", Metric::power_w},
    {"gpu_power_w", Metric::power_w},
    {"accelerator_power_w", Metric::power_w},
    {"power_watts", Metric::power_w},
    {"limit_w", Metric::power_limit_w},
    {"util", Metric::util_gpu_percent},
    {"util_pct", Metric::util_gpu_percent},
    {"util_percent", Metric::util_gpu_percent},
    {"gpu_util", Metric::util_gpu_percent},
    {"gpu_util_pct", Metric::util_gpu_percent},
    {"utilization", Metric::util_gpu_percent},
    {"accelerator_util_pct", Metric::util_gpu_percent},
    {"mem_bytes", Metric::mem_used_bytes},
    {"accelerator_mem_bytes", Metric::mem_used_bytes},
    {"mem_used_mib", Metric::mem_used_bytes, kMiB},
    {"sm_clock", Metric::sm_clock_mhz},
    {"temp_c", Metric::temperature_c},
    {"temperature", Metric::temperature_c},
    {"cpus", Metric::cpu_cores},
    {"iteration", Metric::step},
};

struct RoleName {
  std::string_view name;
  Role role;
  double time_scale_s = 0;
};
constexpr RoleName kRoles[] = {
    {"timestamp", Role::time},     {"time", Role::time},
    {"datetime", Role::time},      {"ts", Role::time},
    {"time_s", Role::time, 1},     {"time_ms", Role::time, 1e-3},
    {"time_us", Role::time, 1e-6}, {"time_ns", Role::time, 1e-9},
    {"host", Role::host},          {"hostname", Role::host},
    {"node", Role::host},          {"index", Role::index},
    {"gpu", Role::index},          {"gpu_index", Role::index},
    {"gpu_id", Role::index},       {"rank", Role::rank},
    {"global_rank", Role::rank},   {"task", Role::rank},
    {"uuid", Role::uuid},          {"gpu_uuid", Role::uuid},
    {"pci.bus_id", Role::pci},     {"gpu_bus_id", Role::pci},
    {"pci_bus_id", Role::pci},     {"name", Role::name},
    {"gpu_name", Role::name},      {"model", Role::name},
    {"rack", Role::group},         {"group", Role::group},
    {"pod", Role::group},          {"partition", Role::group},
};

bool bind_nvidia(std::string_view name, CsvColumn& column) {
  for (const MetricName& m : kNvidia) {
    if (m.name != name) continue;
    column.role = Role::metric;
    column.metric = m.metric;
    column.scale = m.scale;
    return true;
  }
  for (const std::string_view prefix : {"clocks_throttle_reasons.", "clocks_event_reasons."}) {
    if (!name.starts_with(prefix)) continue;
    for (const ThrottleReason& reason : kThrottleReasons) {
      if (name.substr(prefix.size()) != reason.name) continue;
      column.role = Role::throttle_bit;
      column.bit = reason.bit;
      return true;
    }
  }
  return false;
}

bool bind_metric(std::string_view name, CsvColumn& column) {
  if (bind_nvidia(name, column)) return true;
  if (const auto metric = metric_from_name(name)) {
    column.role = Role::metric;
    column.metric = *metric;
    return true;
  }
  for (const MetricName& m : kPlain) {
    if (m.name != name) continue;
    column.role = Role::metric;
    column.metric = m.metric;
    column.scale = m.scale;
    return true;
  }
  return false;
}

// "rank0_util", "gpu12_w", "others_w_mean": a column about one series of a wide table.
bool bind_wide(std::string_view name, CsvColumn& column) {
  std::string_view rest = name;
  if (rest.starts_with("others_")) {
    column.series = "others";
    rest.remove_prefix(7);
    for (const std::string_view suffix : {"_min", "_mean", "_median", "_avg", "_max"}) {
      if (rest.ends_with(suffix)) {
        rest.remove_suffix(suffix.size());
        break;
      }
    }
  } else {
    const bool rank = rest.starts_with("rank");
    if (!rank && !rest.starts_with("gpu")) return false;
    const std::size_t under = rest.find('_');
    const std::string_view digits = rest.substr(rank ? 4 : 3, under - (rank ? 4 : 3));
    if (under == std::string_view::npos || !parse_uint(digits) || digits.size() > 6) return false;
    column.series = name.substr(0, under);
    rest = rest.substr(under + 1);
  }
  if (bind_metric(rest, column)) return true;
  column.series.clear();
  return false;
}

bool bind_role(std::string_view name, CsvColumn& column, CsvLayout& layout) {
  for (const RoleName& r : kRoles) {
    if (r.name != name) continue;
    column.role = r.role;
    if (r.role == Role::time) layout.time_scale_s = r.time_scale_s;
    if (r.role == Role::group) column.label = name;
    return true;
  }
  return false;
}

// The name of a heading cell, lower case, without "[unit]".
std::string name_of(std::string_view cell) {
  cell = trim(cell);
  if (const std::size_t bracket = cell.find('[');
      bracket != std::string_view::npos && bracket > 0) {
    cell = trim(cell.substr(0, bracket));
  }
  return to_lower(cell);
}

bool bind_mapped(std::string_view theirs, const std::vector<ColumnMapping>& mapping,
                 CsvColumn& column, CsvLayout& layout) {
  for (const ColumnMapping& m : mapping) {
    if (to_lower(m.theirs) != theirs) continue;
    if (m.ours == "time") {
      bind_role(theirs, column, layout);  // "time_ms" tells its unit
      column.role = Role::time;
      return true;
    }
    if (m.ours == "group") column.label = theirs;
    return bind_role(m.ours, column, layout) || bind_metric(m.ours, column);
  }
  return false;
}

void add_column(CsvLayout& layout, CsvColumn column) {
  const Role role = column.role;
  layout.has_metric |= role == Role::metric && column.metric != Metric::step;
  layout.has_time |= role == Role::time;
  layout.has_host |= role == Role::host;
  layout.has_identity |=
      role == Role::index || role == Role::rank || role == Role::uuid || role == Role::pci;
  layout.wide |= !column.series.empty();
  layout.has_mig |= role == Role::metric && column.metric == Metric::mig_mode;
  for (const CsvColumn& c : layout.columns) {
    column.repeats |= role == Role::metric && c.role == Role::metric && c.metric == column.metric &&
                      c.series == column.series;
  }
  layout.columns.push_back(std::move(column));
}

// A table of hosts with nothing but watts speaks of whole nodes; one of ranks without any GPU, of
// tasks.
void settle_kind(CsvLayout& layout) {
  bool index = false, rank = false, only_power = true;
  for (const CsvColumn& c : layout.columns) {
    index |= c.role == Role::index || c.role == Role::uuid || c.role == Role::pci;
    rank |= c.role == Role::rank;
    only_power &= c.role != Role::metric || c.metric == Metric::power_w ||
                  c.metric == Metric::node_power_w || c.metric == Metric::step;
    only_power &= c.role != Role::throttle_bit;
  }
  if (layout.has_host && !layout.has_identity && only_power && !layout.nvidia) {
    layout.kind = SeriesKind::node;
    for (CsvColumn& c : layout.columns) {
      if (c.role == Role::metric && c.metric == Metric::power_w) c.metric = Metric::node_power_w;
    }
  } else if (rank && !index && !layout.has_host) {
    layout.kind = SeriesKind::task;
  }
}

CsvColumn column_by_content(std::string_view cell, std::vector<Metric>& taken) {
  CsvColumn column;
  cell = trim(cell);
  const auto take = [&](std::initializer_list<Metric> wanted) {
    for (const Metric m : wanted) {
      if (std::find(taken.begin(), taken.end(), m) != taken.end()) continue;
      taken.push_back(m);
      column.role = Role::metric;
      column.metric = m;
      return;
    }
  };
  if (parse_timestamp(cell)) {
    column.role = Role::time;
  } else if (cell.starts_with("GPU-")) {
    column.role = Role::uuid;
  } else if (cell.find(':') != std::string_view::npos && !normalize_pci(cell).empty()) {
    column.role = Role::pci;
  } else if (cell.ends_with(" W")) {
    take({Metric::power_w, Metric::power_limit_w});
  } else if (cell.ends_with(" %")) {
    take({Metric::util_gpu_percent, Metric::util_mem_percent});
  } else if (cell.ends_with(" MiB")) {
    take({Metric::mem_used_bytes, Metric::mem_total_bytes});
  } else if (cell.ends_with(" MHz")) {
    take({Metric::sm_clock_mhz, Metric::mem_clock_mhz});
  } else if (cell.starts_with("NVIDIA ") || cell.starts_with("Tesla ")) {
    column.role = Role::name;
  } else if (const auto n = parse_uint(cell); n && *n < 64 && taken.empty()) {
    column.role = Role::index;
  }
  return column;
}

// Cells of a line that holds quotes: a separator between two of them is part of the cell.
void split_quoted(std::string_view line, char separator, std::vector<std::string_view>& cells,
                  std::size_t limit) {
  while (cells.size() < limit) {
    const std::size_t from = line.find_first_not_of(' ');
    std::size_t close = std::string_view::npos;
    if (from != std::string_view::npos && line[from] == '"') close = line.find('"', from + 1);
    const bool quoted = close != std::string_view::npos;
    const std::size_t end = line.find(separator, quoted ? close : 0);
    cells.push_back(quoted ? line.substr(from + 1, close - from - 1) : line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

CsvLayout bind_heading(std::string_view line, const std::vector<ColumnMapping>& mapping) {
  CsvLayout layout;
  const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
  if (count(';') > count(',')) layout.separator = ';';
  std::vector<std::string_view> cells;
  split_cells(line, layout.separator, cells, limits::kColumns);
  for (const std::string_view cell : cells) {
    const std::string name = name_of(cell);
    if (layout.columns.empty()) layout.first_name = name;
    CsvColumn column;
    if (!mapping.empty()) {
      bind_mapped(name, mapping, column, layout);
    } else if (bind_nvidia(name, column)) {
      layout.nvidia = true;
    } else if (!bind_role(name, column, layout) && !bind_metric(name, column)) {
      bind_wide(name, column);
    }
    add_column(layout, std::move(column));
  }
  settle_kind(layout);
  return layout;
}

CsvLayout bind_by_content(std::string_view line) {
  CsvLayout layout;
  std::vector<std::string_view> cells;
  split_cells(line, ',', cells, limits::kColumns);
  std::vector<Metric> taken;
  if (cells.size() > 1) {
    for (const std::string_view cell : cells) add_column(layout, column_by_content(cell, taken));
  }
  layout.nvidia = layout.has_metric;
  return layout;
}

void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells,
                 std::size_t limit) {
  cells.clear();
  if (line.find('"') != std::string_view::npos) return split_quoted(line, separator, cells, limit);
  const char* cell = line.data();
  const auto cut = [&](const char* at) {
    cells.emplace_back(cell, static_cast<std::size_t>(at - cell));
    cell = at + 1;
    return cells.size() < limit;
  };
  const char* at = cell;
  const char* const end = at + line.size();
  for (; end - at >= 8; at += 8) {
    for (auto hits = bytes_equal(load_bytes(at), separator); hits != 0; hits &= hits - 1) {
      if (!cut(at + first_byte(hits))) return;
    }
  }
  for (; at != end; ++at) {
    if (*at == separator && !cut(at)) return;
  }
  cut(end);
}

}  // namespace muster
