#include "core/telemetry/prometheus_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/limits.h"
#include "base/text.h"
#include "core/telemetry/exposition.h"
#include "core/telemetry/prometheus_names.h"

namespace muster {
namespace {

std::string_view label(const PrometheusSample& sample, std::string_view name) {
  for (const PrometheusLabel& l : sample.labels) {
    if (l.name == name) return l.value;
  }
  return {};
}

template <std::size_t N>
std::string_view first_label(const PrometheusSample& sample,
                             const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    if (const auto value = label(sample, name); !value.empty()) return value;
  }
  return {};
}

std::string_view host_of(const PrometheusSample& sample) {
  static constexpr std::array<std::string_view, 5> kNames = {"Hostname", "hostname", "host", "node",
                                                             "kubernetes_node"};
  if (const auto host = first_label(sample, kNames); !host.empty()) return host;
  const std::string_view instance = label(sample, "instance");
  const std::size_t colon = instance.rfind(':');
  if (colon == std::string_view::npos || !parse_uint(instance.substr(colon + 1))) return instance;
  return instance.substr(0, colon);
}

std::optional<int> int_of(std::string_view text) {
  const auto value = parse_uint(text);
  if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::string uuid_of(const PrometheusSample& sample) {
  static constexpr std::array<std::string_view, 2> kNames = {"UUID", "uuid"};
  const std::string_view uuid = first_label(sample, kNames);
  constexpr std::size_t kBareUuidChars = 36;
  const bool bare = uuid.size() == kBareUuidChars && uuid[8] == '-' && uuid[13] == '-';
  return bare ? fmt::format("GPU-{}", uuid) : std::string(uuid);
}

std::string device_of(const PrometheusSample& sample) {
  const std::string_view port = label(sample, "port");
  const std::string_view device = label(sample, "device");
  return port.empty() ? std::string(device) : fmt::format("{}/{}", device, port);
}

bool is_blank(double value) {
  constexpr double kInt32 = 2147483632;
  constexpr double kFp64 = 140737488355328;
  constexpr double kInt64 = 9.223372036854775e18;
  const bool one_of_four_int32 = value >= kInt32 && value <= kInt32 + 3;
  const bool one_of_four_fp64 = value >= kFp64 && value <= kFp64 + 3;
  return one_of_four_int32 || one_of_four_fp64 || value >= kInt64;
}

Reading reading_of(const PrometheusSample& sample) {
  if (std::isnan(sample.value)) return Reading::absent(Absence::not_reported);
  if (!std::isfinite(sample.value)) return Reading::absent(Absence::malformed);
  if (sample.name.starts_with("DCGM_") && is_blank(sample.value)) {
    return Reading::absent(Absence::blank);
  }
  return Reading::of(sample.value);
}

std::optional<Absence> absence_from_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Absence::mig); ++i) {
    if (absence_name(static_cast<Absence>(i)) == name) return static_cast<Absence>(i);
  }
  return std::nullopt;
}

SeriesKind kind_of(const PrometheusSample& sample, SeriesKind usual) {
  const std::string_view name = label(sample, "kind");
  for (const auto kind : {SeriesKind::gpu, SeriesKind::port, SeriesKind::task, SeriesKind::node}) {
    if (series_kind_name(kind) == name) return kind;
  }
  return usual;
}

// The exit status of nvidia-smi is the number of the NVML error.
NoteKind note_of_exit(double code) {
  if (code == 4) return NoteKind::device_access;
  if (code == 6) return NoteKind::no_devices;
  if (code == 9 || code == 12) return NoteKind::driver_missing;
  if (code == 15) return NoteKind::gpu_lost;
  if (code == 18) return NoteKind::driver_mismatch;
  return NoteKind::source_error;
}

constexpr std::string_view kGpuInfo = "nvidia_smi_gpu_info";
constexpr std::string_view kGpuIndex = "nvidia_smi_index";

}  // namespace

bool is_known_prometheus_name(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"DCGM_", "nvidia_smi_", "node_", "muster_"};
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

std::optional<std::size_t> PrometheusPage::find_series(const PrometheusSample& sample,
                                                       SeriesKind kind) {
  static constexpr std::array<std::string_view, 2> kPci = {"pci_bus_id", "pci"};
  static constexpr std::array<std::string_view, 2> kModel = {"modelName", "model"};
  Series found;
  found.kind = kind;
  found.host = host_of(sample);
  found.group = label(sample, "group");
  found.rank = int_of(label(sample, "rank"));
  if (kind == SeriesKind::gpu || kind == SeriesKind::task) {
    found.uuid = uuid_of(sample);
    found.pci = first_label(sample, kPci);
    found.name = first_label(sample, kModel);
    found.index = int_of(label(sample, "gpu"));
  }
  if (kind == SeriesKind::port) found.device = device_of(sample);
  if (sample.name == kGpuInfo) {
    found.index = int_of(label(sample, "index"));
    found.name = label(sample, "name");
  }
  std::string key = fmt::format("{}\n{}\n{}\n{}\n", static_cast<int>(kind), found.host,
                                found.rank.value_or(-1), found.device);
  if (!found.uuid.empty()) {
    key += found.uuid;
  } else if (!found.pci.empty()) {
    key += found.pci;
  } else {
    key += fmt::format("{}", found.index.value_or(-1));
  }
  const auto [it, is_new] = by_key_.try_emplace(std::move(key), series_.size());
  if (is_new) {
    if (series_.size() >= limits::kSeries) {
      by_key_.erase(it);
      return std::nullopt;
    }
    series_.push_back(std::move(found));
    return series_.size() - 1;
  }
  Series& known = series_[it->second];
  if (!known.index) known.index = found.index;
  if (known.pci.empty()) known.pci = found.pci;
  if (known.name.empty()) known.name = found.name;
  if (known.group.empty()) known.group = found.group;
  return it->second;
}

PrometheusPage::Row* PrometheusPage::find_row(std::size_t series, const PrometheusSample& sample) {
  const std::int64_t when =
      sample.at ? wall_to_ns(*sample.at) : std::numeric_limits<std::int64_t>::min();
  const auto [it, is_new] = row_of_.try_emplace({series, when}, rows_.size());
  if (is_new) rows_.push_back(Row{series, sample.at, sample.line, {}});
  return &rows_[it->second];
}

void PrometheusPage::put(Row& row, const Value& value) {
  for (Value& known : row.values) {
    if (known.metric != value.metric) continue;
    if (value.weight > known.weight) known = value;
    return;
  }
  row.values.push_back(value);
}

void PrometheusPage::note_scrape(const PrometheusSample& sample, TelemetrySink& sink) {
  NoteKind kind = NoteKind::source_error;
  bool failed = false;
  if (sample.name == "nvidia_smi_command_exit_code") {
    failed = sample.value != 0;
    kind = note_of_exit(sample.value);
  } else if (sample.name == "nvidia_smi_last_collect_success") {
    failed = sample.value == 0;
  } else if (sample.name == "nvidia_smi_failed_scrapes_total") {
    failed = failed_scrapes_ && sample.value > *failed_scrapes_;
    failed_scrapes_ = sample.value;
  }
  if (failed) {
    sink.note({kind, fmt::format("{} {}", sample.name, sample.value), sample.line, {}, {}});
  }
}

void PrometheusPage::add_absence(const PrometheusSample& sample) {
  const auto metric = metric_from_name(label(sample, "metric"));
  const auto absence = absence_from_name(label(sample, "reason"));
  if (!metric || !absence) return;
  const auto series = find_series(sample, kind_of(sample, exposition_row(*metric).kind));
  if (!series) return;
  put(*find_row(*series, sample), {*metric, Reading::absent(*absence), 0, false});
}

void PrometheusPage::add(const PrometheusSample& sample, TelemetrySink& sink) {
  if (sample.name == kGpuInfo || sample.name == kGpuIndex) {
    const auto series = find_series(sample, SeriesKind::gpu);
    if (series && sample.name == kGpuIndex && sample.value >= 0 && sample.value < 1024) {
      series_[*series].index = static_cast<int>(sample.value);
    }
    return;
  }
  if (sample.name == kAbsentName) return add_absence(sample);
  PrometheusName how{};
  SeriesKind kind = SeriesKind::gpu;
  if (const PrometheusName* foreign = find_prometheus_name(sample.name)) {
    how = *foreign;
    if (sample.name.starts_with("node_")) kind = SeriesKind::port;
  } else if (const ExpositionRow* ours = exposition_from_name(sample.name)) {
    how = {ours->name, ours->metric, ours->unit};
    kind = kind_of(sample, ours->kind);
  } else {
    return note_scrape(sample, sink);
  }
  const auto series = find_series(sample, kind);
  if (!series) {
    if (!told_full_) sink.note({NoteKind::schema, "too many series", sample.line, {}, {}});
    told_full_ = true;
    return;
  }
  Row& row = *find_row(*series, sample);
  Reading reading = reading_of(sample);
  if (how.ambiguous_ratio && reading.has_value() && reading.value() > 1) util_is_percent_ = true;
  if (reading.has_value() && !how.ambiguous_ratio) {
    reading = Reading::of(from_page_unit(how.unit, reading.value()));
  }
  Value value{how.metric, reading, how.weight, how.ambiguous_ratio};
  if (!label(sample, "GPU_I_ID").empty()) {
    if (how.of_instance) value = {how.metric, Reading::absent(Absence::mig), 0, false};
    put(row, {Metric::mig_mode, Reading::of(1), 1, false});
  }
  put(row, value);
}

void PrometheusPage::emit(Row& row, std::optional<WallTime> at, TelemetrySink& sink) const {
  std::ranges::sort(row.values, {}, &Value::metric);
  std::vector<MetricReading> readings;
  readings.reserve(row.values.size());
  for (const Value& value : row.values) {
    Reading reading = value.reading;
    if (value.ambiguous_ratio && reading.has_value() && !util_is_percent_) {
      reading = Reading::of(from_page_unit(PageUnit::ratio, reading.value()));
    }
    readings.push_back({value.metric, reading});
  }
  const Series& series = series_[row.series];
  TelemetryRow out;
  out.key = {series.kind, series.host,   series.uuid, series.pci,  series.index,
             series.rank, series.device, series.name, series.group};
  out.at = row.at ? row.at : at;
  out.at_has_zone = out.at.has_value();
  out.readings = readings;
  out.line = row.line;
  sink.row(out);
}

void PrometheusPage::flush(std::optional<WallTime> at, bool in_time_order, TelemetrySink& sink) {
  if (in_time_order) {
    std::ranges::sort(rows_, [](const Row& a, const Row& b) {
      return std::pair(a.at, a.series) < std::pair(b.at, b.series);
    });
  }
  for (Row& row : rows_) emit(row, at, sink);
  rows_.clear();
  row_of_.clear();
  series_.clear();
  by_key_.clear();
  told_full_ = false;
}

}  // namespace muster
