#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/telemetry_row.h"
#include "core/telemetry/decoder.h"

namespace muster {

// What one column of a CSV file means.
struct CsvColumn {
  enum class Role : std::uint8_t {
    ignored,
    time,
    host,
    index,
    rank,
    uuid,
    pci,
    name,
    group,
    metric,        // `metric`, in `scale` units
    throttle_bit,  // "Active" sets `bit` of the throttle mask
  };
  Role role = Role::ignored;
  Metric metric = Metric::power_w;
  double scale = 1;
  std::uint64_t bit = 0;
  bool repeats = false;  // an earlier column has this metric: read where that one is absent
  std::string label;     // group: the name of the column, "rack"
  // Wide tables: which series the column speaks of: "" the row's own, "rank0", "others".
  std::string series;
};

// The meaning of all columns of a heading.
struct CsvLayout {
  char separator = ',';
  std::vector<CsvColumn> columns;
  bool has_metric = false, has_time = false;
  bool has_identity = false;  // index, uuid, pci or rank
  bool has_host = false;
  bool has_mig = false;  // tells whether the GPU is split into instances
  bool wide = false;
  bool nvidia = false;      // at least one name in the form of nvidia-smi ("power.draw")
  double time_scale_s = 0;  // seconds per unit of a numeric time column; 0: judge by its size
  SeriesKind kind = SeriesKind::gpu;
  std::string first_name;  // of the first column, to know the heading again
};

// Binds a heading by names: those of nvidia-smi in all its versions, and those that people give the
// columns of their own tables. `mapping` (--columns) overrides; columns it does not name stay
// unused.
CsvLayout bind_heading(std::string_view line, const std::vector<ColumnMapping>& mapping);

// Binds the first row of a file without a heading by its content (cells with units, UUID, PCI
// address, time stamp). has_metric is false where that is not possible.
CsvLayout bind_by_content(std::string_view line);

// Cells of a line; quotes are honoured where there are any. Views into `line`; at most `limit`.
void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells,
                 std::size_t limit);

}  // namespace muster
