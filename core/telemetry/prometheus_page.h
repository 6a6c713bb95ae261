#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/telemetry_row.h"
#include "core/telemetry/prometheus_names.h"

namespace muster {

using PrometheusLabels = std::vector<std::pair<std::string, std::string>>;

// Gathers the samples of one page (or one moment) by series, and gives them as rows. Labels become
// the key: Hostname, host, instance, node -> host ("n1:9400" without its port); gpu -> index; UUID;
// pci_bus_id; modelName, name; device and port of InfiniBand. A MIG instance repeats the power of its
// device, so its samples are left out, with a note.
class PrometheusPage {
 public:
  // A sample of a known name. `value` NaN is a failed read; blank sentinels are blank.
  void add(const PrometheusName& name, const PrometheusLabels& labels, double value,
           std::optional<WallTime> at, std::uint64_t line);
  // nvidia_gpu_exporter tells index and name of a UUID in a sample of its own.
  void add_gpu_info(const PrometheusLabels& labels);
  // True if this series has this metric already: the next page has begun.
  bool has(const PrometheusName& name, const PrometheusLabels& labels) const;
  bool empty() const { return series_.empty(); }

  // All rows in the order in which their series were first seen; the page is empty afterwards.
  // `at`: the time of samples that carry none.
  void emit(std::optional<WallTime> at, TelemetrySink& sink);

 private:
  struct Series {
    SeriesKind kind = SeriesKind::gpu;
    std::string host, uuid, pci, device, name;
    std::optional<int> index;
    std::optional<WallTime> at;
    std::vector<MetricReading> readings;
    std::uint64_t line = 0;
  };
  Series& series_of(const PrometheusName& name, const PrometheusLabels& labels);

  std::vector<Series> series_;
  std::map<std::string, std::size_t> by_key_;
  std::map<std::string, std::pair<std::optional<int>, std::string>> info_by_uuid_;
  std::uint64_t mig_samples_ = 0, refused_ = 0;
};

}  // namespace muster
