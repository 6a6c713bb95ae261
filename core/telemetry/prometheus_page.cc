#include "core/telemetry/prometheus_page.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

std::string_view label(const PrometheusLabels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

std::string_view first_label(const PrometheusLabels& labels,
                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view value = label(labels, name); !value.empty()) return value;
  }
  return {};
}

// "n1:9400" -> "n1"; an IPv6 address in brackets keeps them.
std::string_view without_port(std::string_view instance) {
  const std::size_t colon = instance.rfind(':');
  if (colon == std::string_view::npos || instance.find(':') != colon) return instance;
  return parse_uint(instance.substr(colon + 1)) ? instance.substr(0, colon) : instance;
}

std::string host_of(const PrometheusLabels& labels) {
  const std::string_view named = first_label(labels, {"Hostname", "hostname", "host", "node"});
  return std::string(named.empty() ? without_port(label(labels, "instance")) : named);
}

std::string key_of(const PrometheusName& name, const PrometheusLabels& labels) {
  std::string key = std::to_string(static_cast<int>(name.kind)) + host_of(labels);
  for (const std::string_view part : {"UUID", "uuid", "gpu", "pci_bus_id", "device", "port"}) {
    // dcgm-exporter's "device" ("nvidia0") says no more than its index.
    if (part == "device" && name.kind == SeriesKind::gpu) continue;
    key += '\x1f';
    key += label(labels, part);
  }
  return key;
}

}  // namespace

PrometheusPage::Series& PrometheusPage::series_of(const PrometheusName& name,
                                                  const PrometheusLabels& labels) {
  const auto [it, fresh] = by_key_.try_emplace(key_of(name, labels), series_.size());
  if (!fresh) return series_[it->second];
  Series s;
  s.kind = name.kind;
  s.host = host_of(labels);
  if (name.kind == SeriesKind::port) {
    s.device = std::string(label(labels, "device")) + "/" + std::string(label(labels, "port"));
  } else {
    s.uuid = first_label(labels, {"UUID", "uuid"});
    s.pci = first_label(labels, {"pci_bus_id", "pci"});
    s.name = first_label(labels, {"modelName", "model", "name"});
    const auto index = parse_uint(label(labels, "gpu"));
    if (index && *index < 100'000) s.index = static_cast<int>(*index);
  }
  series_.push_back(std::move(s));
  return series_.back();
}

bool PrometheusPage::has(const PrometheusName& name, const PrometheusLabels& labels) const {
  const auto it = by_key_.find(key_of(name, labels));
  if (it == by_key_.end()) return false;
  const auto& readings = series_[it->second].readings;
  return std::any_of(readings.begin(), readings.end(),
                     [&](const MetricReading& r) { return r.metric == name.metric; });
}

void PrometheusPage::add(const PrometheusName& name, const PrometheusLabels& labels, double value,
                         std::optional<WallTime> at, std::uint64_t line) {
  if (!label(labels, "GPU_I_ID").empty()) {
    ++mig_samples_;
    return;
  }
  if (series_.size() >= limits::kSeries) {
    ++refused_;
    return;
  }
  Series& s = series_of(name, labels);
  Reading reading = Reading::of(value * name.scale);
  if (!std::isfinite(value)) reading = Reading::absent(Absence::read_error);
  if (is_blank_sentinel(value)) reading = Reading::absent(Absence::blank);
  // DCGM 4.6 says RATIO and some versions still give percent.
  if (name.name == "DCGM_FI_DEV_GPU_UTIL_RATIO" && reading.has_value() && value <= 1) {
    reading = Reading::of(value * 100);
  }
  s.readings.push_back({name.metric, reading});
  if (at) s.at = at;
  if (s.line == 0) s.line = line;
}

void PrometheusPage::add_gpu_info(const PrometheusLabels& labels) {
  const auto index = parse_uint(label(labels, "index"));
  auto& info = info_by_uuid_[std::string(label(labels, "uuid"))];
  if (index && *index < 100'000) info.first = static_cast<int>(*index);
  info.second = label(labels, "name");
}

void PrometheusPage::emit(std::optional<WallTime> at, TelemetrySink& sink) {
  for (Series& s : series_) {
    if (const auto info = info_by_uuid_.find(s.uuid); info != info_by_uuid_.end()) {
      if (!s.index) s.index = info->second.first;
      if (s.name.empty()) s.name = info->second.second;
    }
    TelemetryRow row;
    row.key = {s.kind, s.host, s.uuid, s.pci, s.index, std::nullopt, s.device, s.name, {}};
    row.at = s.at ? s.at : at;
    row.at_has_zone = true;
    row.readings = s.readings;
    row.line = s.line;
    sink.row(row);
  }
  if (mig_samples_ > 0) {
    sink.note({NoteKind::schema,
               "MIG instances repeat the power of their device: their samples were left out", 0, {}, {}});
  }
  if (refused_ > 0) sink.note({NoteKind::source_error, "more series than are followed", 0, {}, {}});
  *this = PrometheusPage();
}

}  // namespace muster
