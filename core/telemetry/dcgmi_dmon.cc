#include "core/telemetry/dcgmi_dmon.h"

#include <string>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/telemetry/blank_cells.h"
#include "core/telemetry/cell.h"
#include "core/telemetry/line_decoder.h"
#include "core/telemetry/tool_text.h"

namespace muster {
namespace {

constexpr double kMiB = 1048576.0;
constexpr std::uint64_t kIndexMax = 4096;
// Ranges of the blank values of DCGM for 32-bit integers, 64-bit integers and doubles.
constexpr double kBlank32From = 2147483632.0, kBlank32To = 2147483647.0;
constexpr double kBlank64From = 9223372036854775792.0;
constexpr double kBlankDoubleFrom = 140737488355328.0, kBlankDoubleTo = 140737488355344.0;

struct ShortName {
  std::string_view name;
  Metric metric;
  double scale = 1;
};
constexpr ShortName kNames[] = {
    {"POWER", Metric::power_w},
    {"EPLMT", Metric::power_limit_w},
    {"PMLMT", Metric::power_limit_w},
    {"PMDEF", Metric::power_default_limit_w},
    {"TOTEC", Metric::energy_j, 1e-3},
    {"TMPTR", Metric::temperature_c},
    {"MMTMP", Metric::mem_temperature_c},
    {"GPUTL", Metric::util_gpu_percent},
    {"MCUTL", Metric::util_mem_percent},
    {"SMCLK", Metric::sm_clock_mhz},
    {"SMMAX", Metric::sm_clock_max_mhz},
    {"MMCLK", Metric::mem_clock_mhz},
    {"FBUSD", Metric::mem_used_bytes, kMiB},
    {"FBTTL", Metric::mem_total_bytes, kMiB},
    {"DVCCTR", Metric::throttle_mask},
    {"PSTAT", Metric::pstate},
    {"FANSP", Metric::fan_percent},
    {"SMACT", Metric::sm_active_ratio},
    {"TENSO", Metric::tensor_active_ratio},
    {"DRAMA", Metric::dram_active_ratio},
    {"ESVTL", Metric::ecc_corrected},
    {"EDVTL", Metric::ecc_uncorrected},
};

struct DcgmColumn {
  enum class Role : std::uint8_t { ignored, metric, uuid, name };
  Role role = Role::ignored;
  Metric metric = Metric::power_w;
  double scale = 1;
};
using Role = DcgmColumn::Role;

DcgmColumn bind_column(std::string_view name) {
  if (name == "DVNAM") return {Role::name, {}, 1};
  if (name == "UUID#") return {Role::uuid, {}, 1};
  for (const ShortName& known : kNames) {
    if (known.name == name) return {Role::metric, known.metric, known.scale};
  }
  return {};
}

// "#Entity   POWER  GPUTL" or "# Entity  POWER": the columns behind the entity.
std::optional<std::vector<DcgmColumn>> parse_heading(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  std::vector<std::string_view> cells;
  split_blanks(line.substr(1), cells, limits::kColumns);
  if (cells.size() < 2 || !equals_ignoring_case(cells[0], "entity")) return std::nullopt;
  std::vector<DcgmColumn> columns;
  for (std::size_t i = 1; i < cells.size(); ++i) columns.push_back(bind_column(cells[i]));
  return columns;
}

Reading parse_value(std::string_view cell, double scale) {
  const Reading raw = parse_cell(cell);
  if (!raw.has_value()) return raw;
  const double v = raw.value();
  const bool blank = (v >= kBlank32From && v <= kBlank32To) || v >= kBlank64From ||
                     (v >= kBlankDoubleFrom && v <= kBlankDoubleTo);
  return blank ? Reading::absent(Absence::blank) : Reading::of(v * scale);
}

class DcgmiDmonDecoder final : public LineDecoder {
  void on_line(std::string_view line, TelemetrySink& sink, bool torn) override {
    line = trim(line);
    if (line.empty()) return;
    const NoteKind kind = torn ? NoteKind::truncated : NoteKind::damaged_line;
    if (line.find('\0') != std::string_view::npos) {
      damaged(sink, kind, "NUL bytes in the line");
    } else if (line.starts_with('#')) {
      on_heading(line, sink, torn);
    } else if (line.starts_with("ID") || line.starts_with("Id")) {
      return;  // the second line of the heading: units
    } else {
      on_entity(line, sink, torn);
    }
  }

  void on_heading(std::string_view line, TelemetrySink& sink, bool torn) {
    if (line == heading_text_) return;
    if (torn) return damaged(sink, NoteKind::truncated, "the last line is cut");
    auto columns = parse_heading(line);
    if (!columns) return;
    if (!columns_.empty())
      sink.note({NoteKind::schema, "the heading changed", line_number(), {}, {}});
    columns_ = std::move(*columns);
    heading_text_ = line;
    row_size_ = 0;
  }

  void on_entity(std::string_view line, TelemetrySink& sink, bool torn) {
    split_blanks(line, cells_, limits::kColumns);
    const auto id = cells_.size() > 1 ? parse_uint(cells_[1]) : std::nullopt;
    const NoteKind kind = torn ? NoteKind::truncated : NoteKind::damaged_line;
    if (!id) {
      if (!note_tool_text(line, line_number(), sink))
        damaged(sink, kind, "neither a row nor a heading");
      return;
    }
    if (columns_.empty()) return damaged(sink, kind, "before the heading");
    if (cells_[0] != "GPU" || (cells_.size() > 2 && equals_ignoring_case(cells_[2], "link"))) {
      return;  // part of a GPU, or none
    }
    if (torn && line.size() < row_size_) return damaged(sink, kind, "the last line is cut");
    join_name();
    if (cells_.size() != columns_.size() + 2) {
      return damaged(sink, kind, "another number of cells than the heading");
    }
    if (*id > kIndexMax) return damaged(sink, kind, "its GPU cannot be read");
    row_size_ = line.size();
    read_cells(static_cast<int>(*id), sink);
  }

  // A model's name holds blanks: what is too much belongs to it.
  void join_name() {
    if (cells_.size() <= columns_.size() + 2) return;
    const std::size_t extra = cells_.size() - columns_.size() - 2;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].role != Role::name) continue;
      const std::string_view last = cells_[i + 2 + extra];
      const char* from = cells_[i + 2].data();
      cells_[i + 2] =
          std::string_view(from, static_cast<std::size_t>(last.data() + last.size() - from));
      const auto first_extra = cells_.begin() + static_cast<std::ptrdiff_t>(i + 3);
      cells_.erase(first_extra, first_extra + static_cast<std::ptrdiff_t>(extra));
      return;
    }
  }

  void read_cells(int index, TelemetrySink& sink) {
    readings_.clear();
    TelemetryRow row;
    row.key.index = index;
    row.line = line_number();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const DcgmColumn& column = columns_[i];
      const std::string_view cell = cells_[i + 2];
      const bool cut = cell.ends_with("...") || cell == "N/A";
      switch (column.role) {
        case Role::ignored:
          break;
        case Role::metric:
          add_reading(column, cell);
          break;
        case Role::uuid:
          if (!cut) row.key.uuid = cell;
          break;
        case Role::name:
          if (!cut) row.key.name = cell;
          break;
      }
    }
    row.readings = readings_;
    sink.row(row);
  }

  // In place: a copy of what was just written costs more than reading the cell.
  void add_reading(const DcgmColumn& column, std::string_view cell) {
    MetricReading& slot = readings_.emplace_back();
    slot.metric = column.metric;
    slot.reading = parse_value(cell, column.scale);
  }

  std::vector<DcgmColumn> columns_;
  std::string heading_text_;
  std::size_t row_size_ = 0;
  std::vector<std::string_view> cells_;
  std::vector<MetricReading> readings_;
};

}  // namespace

bool looks_like_dcgmi_dmon(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (parse_heading(head.substr(0, end))) return true;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return false;
}

std::unique_ptr<Decoder> make_dcgmi_dmon_decoder(const DecoderOptions&) {
  return std::make_unique<DcgmiDmonDecoder>();
}

}  // namespace muster
