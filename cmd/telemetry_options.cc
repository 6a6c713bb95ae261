#include "cmd/telemetry_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "edge/config/calibration_file.h"

namespace muster {
namespace {

// "time=time_ms,host=node"
Result<std::vector<ColumnMapping>> parse_columns(const std::vector<std::string>& texts) {
  std::vector<ColumnMapping> out;
  for (const std::string& text : texts) {
    for (const std::string_view pair : split(text, ',')) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
        return make_error(Errc::invalid_input,
                          fmt::format("--columns: \"{}\" is not OURS=THEIRS", pair));
      }
      const std::string ours(trim(pair.substr(0, equals)));
      static constexpr std::string_view kKeys[] = {"time", "host", "index", "rank",
                                                   "uuid", "pci",  "name",  "group"};
      const bool key = std::find(std::begin(kKeys), std::end(kKeys), ours) != std::end(kKeys);
      if (!key && !metric_from_name(ours)) {
        return make_error(Errc::invalid_input,
                          fmt::format("--columns: \"{}\" is neither time, host, index, rank, uuid, "
                                      "pci, name, group nor a metric (power_w, util_gpu_percent, "
                                      "node_power_w, ...)",
                                      ours));
      }
      out.push_back({ours, std::string(trim(pair.substr(equals + 1)))});
    }
  }
  return out;
}

Status parse_zones(const std::vector<std::string>& texts, SourceOptions& out) {
  for (const std::string& text : texts) {
    auto zone = parse_zone(text);
    if (!zone) return zone.error();
    out.zones.insert_or_assign(std::move(zone->first), std::move(zone->second));
  }
  if (out.zones.contains("")) return {};
  auto own = TimeZone::make("");
  if (!own) return own.error();
  out.zones.emplace("", std::move(*own));
  return {};
}

}  // namespace

void TelemetryOptions::declare(VerbOptions& options) {
  options.positionals("SOURCE", &sources_,
                      "telemetry and step logs in any mixture: files, folders with all below "
                      "them, archives, - for standard input, HOST=FILE; recognised by content. "
                      "Live, not to calibrate: nvml for "
                      "this host, http://... for an exporter's page or a Prometheus server");
  options.list("--columns", &columns_, "OURS=THEIRS,...",
               "columns of a CSV: time, host, index, rank, uuid, pci, name, group or a metric");
  options.list("--steps", &steps_, "LOG",
               "the step log of the run: it decides between save and hang");
  options.list("--tz", &zones_, "[HOST=]ZONE",
               "zone of times that carry none: Asia/Seoul, +09:00; default: this machine's",
               "triage.tz");
}

void TelemetryOptions::declare_judging(VerbOptions& options) {
  declare(options);
  options.text("--calibration", &calibration_, "FILE",
               "bands and waits of a known-good run (muster calibrate)", "triage.calibration");
}

Status TelemetryOptions::add_calibration(TriageRequest& request) const {
  if (calibration_.empty()) return {};
  auto calibration = read_calibration(real_files(), calibration_);
  if (!calibration) return calibration.error();
  request.triage_options.calibration = std::move(*calibration);
  return {};
}

Result<TriageRequest> TelemetryOptions::request() const {
  TriageRequest out;
  if (sources_.empty()) {
    return make_error(Errc::invalid_input,
                      "which telemetry? Give files, - for standard input, or see "
                      "`muster triage --print-sampler`");
  }
  const auto dashes = std::count(sources_.begin(), sources_.end(), "-") +
                      std::count(steps_.begin(), steps_.end(), "-");
  if (dashes > 1) return make_error(Errc::invalid_input, "- twice: standard input is read once");
  auto columns = parse_columns(columns_);
  if (!columns) return columns.error();
  out.sources = sources_;
  out.source_options.columns = std::move(*columns);
  out.source_options.step_logs = steps_;
  if (auto zones = parse_zones(zones_, out.source_options); !zones) return zones.error();
  return out;
}

Result<TriageRequest> TelemetryOptions::request_or(const std::string& source) {
  if (sources_.empty()) sources_.push_back(source);
  return request();
}

Result<std::pair<std::string, TimeZone>> parse_zone(const std::string& text) {
  const std::size_t equals = text.find('=');
  auto zone = TimeZone::make(equals == std::string::npos ? text : text.substr(equals + 1));
  if (!zone) return zone.error();
  return std::pair(equals == std::string::npos ? "" : text.substr(0, equals), std::move(*zone));
}

}  // namespace muster
