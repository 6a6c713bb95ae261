#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/model/telemetry_row.h"

// Samples in the data model of Prometheus (a name, labels, a number, perhaps a time), gathered into
// telemetry rows: one row for each series and time, in the order in which they were first seen, its
// readings in the order of Metric. The text and the JSON reader share it.
//
// Names: those of dcgm-exporter, before and after the renaming of DCGM 4.6, of nvidia_gpu_exporter,
// of node_exporter's InfiniBand collector, and our own (exposition.h). Others are passed over.
// Labels: Hostname hostname host node kubernetes_node instance (the first that is there; a port is
// cut from `instance`), gpu, UUID uuid, pci_bus_id pci, modelName model, rank, group, device, port.
// A UUID without "GPU-" gets it (nvidia_gpu_exporter strips it).
//
// What a name cannot say:
//  * DCGM_FI_DEV_GPU_UTIL_RATIO: the renaming may have kept percent. It is a ratio until a value
//    above 1 was seen on this or an earlier page of the same source; from then on it is percent.
//  * Blank sentinels of DCGM are Absence::blank. The INT32 and FP64 ones are taken only as the
//  exact
//    four numbers, since ECC counters of several 10^9 are real.
//  * MIG (label GPU_I_ID): dcgm-exporter repeats what belongs to the whole board (power, clocks,
//    temperature, ECC ...) for each instance; the first is taken for the GPU, the rest passed over.
//    What belongs to an instance (utilization, memory in use, profiling) is no reading of the GPU:
//    it becomes Absence::mig, unless the page has a row of the whole GPU too. mig_mode is 1.
//  * Where two names give one metric, the better one wins (enforced limit over requested limit).

namespace muster {

struct PrometheusLabel {
  std::string_view name;
  std::string_view value;
};

struct PrometheusSample {
  std::string_view name;
  std::span<const PrometheusLabel> labels;
  double value = 0;
  std::optional<WallTime> at;
  std::uint64_t line = 0;
};

// True where `name` is one that we read or belongs to an exporter that we know.
bool is_known_prometheus_name(std::string_view name);

class PrometheusPage {
 public:
  // Adds one sample. What is said of a failed scrape goes to `sink` as a note at once.
  void add(const PrometheusSample& sample, TelemetrySink& sink);
  // Pushes the rows gathered since the last flush. Samples without a time get `at`. With
  // `in_time_order` the rows come by time (range queries list series by series).
  void flush(std::optional<WallTime> at, bool in_time_order, TelemetrySink& sink);
  bool empty() const { return rows_.empty(); }

 private:
  struct Value {
    Metric metric;
    Reading reading;
    std::uint8_t weight;  // the heavier one stays
    bool ambiguous_ratio;
  };
  struct Series {
    SeriesKind kind = SeriesKind::gpu;
    std::string host, uuid, pci, device, name, group;
    std::optional<int> index, rank;
  };
  struct Row {
    std::size_t series = 0;
    std::optional<WallTime> at;
    std::uint64_t line = 0;
    std::vector<Value> values;
  };

  std::optional<std::size_t> find_series(const PrometheusSample& sample, SeriesKind kind);
  Row* find_row(std::size_t series, const PrometheusSample& sample);
  static void put(Row& row, const Value& value);
  void add_absence(const PrometheusSample& sample);
  void note_scrape(const PrometheusSample& sample, TelemetrySink& sink);
  void emit(Row& row, std::optional<WallTime> at, TelemetrySink& sink) const;

  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::vector<Row> rows_;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> row_of_;
  bool util_is_percent_ = false;
  bool told_full_ = false;
  std::optional<double> failed_scrapes_;
};

}  // namespace muster
