#include "core/telemetry/csv_decoder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/cell.h"
#include "core/telemetry/csv_columns.h"
#include "core/telemetry/line_decoder.h"
#include "core/telemetry/tool_text.h"

namespace muster {
namespace {

using Role = CsvColumn::Role;
constexpr Duration kSameTick = std::chrono::milliseconds(50);
constexpr int kHostGpus = 16;  // the most that one host has had
constexpr std::string_view kByTime =
    "rows name no GPU: they were numbered by the repetition of their time";
constexpr std::string_view kByOrder =
    "rows name no GPU and no time: they were numbered in their order";
constexpr std::string_view kTooMany =
    "rows without time and GPU go on beyond the GPUs of a host: the rest is passed over";

// The first line that is not empty and no text of the tool.
std::string_view first_line(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty() && !is_tool_text(line)) return line;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return {};
}

// Whether a line is a heading: at least one known name, and no cell that is a number.
bool is_heading(const CsvLayout& layout, std::string_view line) {
  if (!layout.has_metric && !layout.has_identity) return false;
  const std::string_view first = trim(line.substr(0, line.find(layout.separator)));
  return !first.empty() && !(first[0] >= '0' && first[0] <= '9') && first[0] != '-';
}

// Reads time stamps fast: rows of one second share all but the fraction.
class TimeReader {
 public:
  std::optional<WallTime> read(std::string_view cell, double scale_s, bool& has_zone) {
    if (cell.size() == 23 && cell[4] == '/' && cell[19] == '.') {  // 2025/07/26 23:32:09.703
      const auto millis = parse_uint(cell.substr(20));
      if (cell.substr(0, 19) != cached_) {
        const auto parsed = parse_timestamp(cell.substr(0, 19));
        if (!parsed) return std::nullopt;
        cached_ = cell.substr(0, 19);
        second_ = parsed->at;
      }
      has_zone = false;
      if (!millis) return std::nullopt;
      return second_ + std::chrono::milliseconds(*millis);
    }
    if (const auto number = parse_double(cell)) return from_number(*number, scale_s, has_zone);
    const auto parsed = parse_timestamp(cell);
    if (!parsed) return std::nullopt;
    has_zone = parsed->has_zone;
    return parsed->at;
  }

 private:
  static std::optional<WallTime> from_number(double n, double scale_s, bool& has_zone) {
    if (!std::isfinite(n) || n < 0 || n > 9e18) return std::nullopt;
    if (scale_s == 0) scale_s = n > 1e17 ? 1e-9 : n > 1e14 ? 1e-6 : n > 1e11 ? 1e-3 : 1;
    has_zone = true;  // an epoch, or seconds since the start: nothing to shift
    const double ns = n * scale_s * 1e9;
    if (ns > 9e18) return std::nullopt;
    return wall_from_ns(static_cast<std::int64_t>(std::llround(ns)));
  }
  std::string cached_;
  WallTime second_{};
};

class CsvDecoder final : public LineDecoder {
 public:
  explicit CsvDecoder(const DecoderOptions& options) : mapping_(options.columns) {}

 private:
  void on_line(std::string_view line, TelemetrySink& sink, bool torn) override {
    if (line_number() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = behind_zeros(line, sink);
    if (const std::size_t nul = line.find('\0'); nul != std::string_view::npos) {
      damaged(sink, torn ? NoteKind::truncated : NoteKind::damaged_line, "NUL bytes in the line");
      return;
    }
    if (trim(line).empty()) return;
    if (!bound_) {
      if (!note_tool_text(line, line_number(), sink)) bind(line, sink);
      return;
    }
    split_cells(line, layout_.separator, cells_, limits::kColumns);
    const bool fits = cells_.size() == layout_.columns.size();
    if ((!fits || cells_.size() == 1) && note_tool_text(line, line_number(), sink)) return;
    if (looks_like_new_heading() && rebind(line)) return;
    if (torn && looks_cut()) {
      damaged(sink, NoteKind::truncated, "the last line is cut");
    } else if (!fits) {
      damaged(sink, NoteKind::damaged_line, "another number of cells than the heading");
    } else {
      read_row(sink);
      last_cell_ = cells_.back();
    }
  }

  // A crash of the host leaves a run of zero bytes; the next sampler then wrote on behind it.
  std::string_view behind_zeros(std::string_view line, TelemetrySink& sink) const {
    if (!line.starts_with('\0')) return line;
    const std::size_t text = line.find_first_not_of('\0');
    if (text == std::string_view::npos) return line;
    damaged(sink, NoteKind::damaged_line, "NUL bytes in front of the line");
    return line.substr(text);
  }

  void bind(std::string_view line, TelemetrySink& sink) {
    CsvLayout heading = bind_heading(line, mapping_);
    if (is_heading(heading, line)) {
      use(std::move(heading));
      return;
    }
    CsvLayout content = bind_by_content(line);
    if (mapping_.empty() && content.has_metric) {
      use(std::move(content));
      sink.note({NoteKind::schema,
                 "no heading: the columns were told apart by their content",
                 line_number(),
                 {},
                 {}});
      split_cells(line, layout_.separator, cells_, limits::kColumns);
      read_row(sink);
      return;
    }
    damaged(sink, NoteKind::damaged_line, "before the heading");
  }

  void use(CsvLayout layout) {
    layout_ = std::move(layout);
    bound_ = true;
    const bool tell_apart = layout_.has_identity || layout_.wide || layout_.kind != SeriesKind::gpu;
    infer_index_ = !layout_.has_host && !tell_apart;
    inferred_ = -1;
    previous_.reset();
    last_cell_.clear();
    if (!layout_.wide) return;
    wide_series_.clear();
    for (const CsvColumn& c : layout_.columns) {
      if (c.series.empty()) continue;
      if (std::find(wide_series_.begin(), wide_series_.end(), c.series) == wide_series_.end()) {
        wide_series_.push_back(c.series);
      }
    }
  }

  // A heading has names only; nearly every row has a cell that begins with a digit or is empty.
  bool looks_like_new_heading() const {
    if (layout_.first_name.empty()) return false;
    for (const std::string_view cell : cells_) {
      const std::string_view name = trim(cell);
      if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    }
    return true;
  }

  bool rebind(std::string_view line) {
    CsvLayout heading = bind_heading(line, mapping_);
    if (!is_heading(heading, line) || !(heading.has_metric || heading.has_time)) return false;
    use(std::move(heading));
    return true;
  }

  // A last line without a newline may be whole (made by hand) or cut by a kill. It is taken for cut
  // where its last cell lacks the unit or the decimals of the row before, or is a shorter number.
  bool looks_cut() const {
    if (cells_.size() != layout_.columns.size()) return true;
    const std::string_view last = trim(cells_.back()), before = trim(last_cell_);
    if (last.empty() || before.empty()) return last.size() < before.size();
    const bool unit = before.back() < '0' || before.back() > '9';
    const std::size_t point = before.rfind('.'), last_point = last.rfind('.');
    if (unit) return last.back() != before.back() && !last.ends_with(']');
    if (point == std::string_view::npos) return last.size() < before.size();
    return last_point == std::string_view::npos || last.size() - last_point < before.size() - point;
  }

  void read_row(TelemetrySink& sink) {
    TelemetryRow row;
    row.key.kind = layout_.kind;
    row.line = line_number();
    readings_.clear();
    mask_seen_ = false;
    mask_ = 0;
    for (std::size_t i = 0; i < layout_.columns.size(); ++i) read_cell(i, row);
    if (broken_) {
      broken_ = false;
      damaged(sink, NoteKind::damaged_line, "its time or GPU cannot be read");
      return;
    }
    if (mask_seen_) readings_.push_back({Metric::throttle_mask, Reading::of(double(mask_))});
    if (layout_.has_mig) blame_mig();
    if (infer_index_ && !infer_index(row, sink)) return;
    if (layout_.wide) return emit_wide(row, sink);
    row.readings = readings_;
    sink.row(row);
  }

  void read_cell(std::size_t i, TelemetryRow& row) {
    const CsvColumn& column = layout_.columns[i];
    std::string_view cell = cells_[i];
    if (column.role == Role::ignored) return;
    cell = trim(cell);
    switch (column.role) {
      case Role::time:
        row.at = time_.read(cell, layout_.time_scale_s, row.at_has_zone);
        broken_ |= !row.at;
        break;
      case Role::host:
        row.key.host = cell;
        break;
      case Role::index:
        read_index(cell, row.key);
        break;
      case Role::rank:
        if (const auto n = parse_int(cell); n && *n >= 0 && *n < 100'000'000) {
          row.key.rank = static_cast<int>(*n);
        } else {
          broken_ = true;
        }
        break;
      case Role::uuid:
        row.key.uuid = cell.starts_with('[') ? std::string_view() : cell;
        break;
      case Role::pci:
        row.key.pci = cell.starts_with('[') ? std::string_view() : cell;
        break;
      case Role::name:
        row.key.name = cell.starts_with('[') ? std::string_view() : cell;
        break;
      case Role::group:
        if (!cell.empty()) group_.assign(column.label).append("=").append(cell);
        row.key.group = cell.empty() ? std::string_view() : group_;
        break;
      case Role::metric:
        read_metric(column, cell);
        break;
      case Role::throttle_bit:
        read_bit(cell, column.bit);
        break;
      case Role::ignored:
        break;
    }
  }

  void read_index(std::string_view cell, SeriesKey& key) {
    if (const auto n = parse_int(cell); n && *n >= 0 && *n < 100'000) {
      key.index = static_cast<int>(*n);
    } else if (cell.starts_with("GPU-")) {
      key.uuid = cell;  // a "gpu" column that holds UUIDs
    } else {
      broken_ = true;
    }
  }

  void read_bit(std::string_view cell, std::uint64_t bit) {
    const Reading reading = parse_cell(cell);
    if (!reading.has_value()) return;
    mask_seen_ = true;
    if (reading.value() > 0) mask_ |= bit;
  }

  Reading number(std::string_view cell, double scale) {
    if (layout_.separator == ';' && cell.find(',') != std::string_view::npos) {
      decimal_ = cell;
      std::replace(decimal_.begin(), decimal_.end(), ',', '.');
      cell = decimal_;
    }
    return parse_cell(cell, scale);
  }

  void read_metric(const CsvColumn& column, std::string_view cell) {
    // In place: a copy of what was just written costs more than reading the cell.
    MetricReading& slot = column.repeats ? repeated_ : readings_.emplace_back();
    slot.metric = column.metric;
    slot.reading = number(cell, column.scale);
    if (column.metric == Metric::mig_mode && cell == "Disabled") slot.reading = Reading::of(0);
    if (column.metric == Metric::recovery_action) {
      slot.reading = recovery_action(cell, slot.reading);
    }
    if (!column.repeats) return;
    for (MetricReading& r : readings_) {
      if (r.metric == column.metric && !r.reading.has_value()) r.reading = slot.reading;
    }
  }

  static Reading recovery_action(std::string_view cell, Reading reading) {
    constexpr std::string_view kActions[] = {"None", "Reset", "Reboot", "Drain P2P",
                                             "Drain and Reset"};
    if (cell == "GPU Reset") cell = "Reset";
    for (std::size_t i = 0; i < std::size(kActions); ++i) {
      if (cell == kActions[i]) return Reading::of(static_cast<double>(i));
    }
    return reading;
  }

  // The driver says "[N/A]" for the utilization of a GPU that is split into instances.
  void blame_mig() {
    const auto on = [](const MetricReading& r) {
      return r.metric == Metric::mig_mode && r.reading.value_or(0) == 1;
    };
    if (std::none_of(readings_.begin(), readings_.end(), on)) return;
    for (MetricReading& r : readings_) {
      const bool util =
          r.metric == Metric::util_gpu_percent || r.metric == Metric::util_mem_percent;
      if (util && !r.reading.has_value()) r.reading = Reading::absent(Absence::mig);
    }
  }

  // False where the row cannot be told from another GPU's.
  bool infer_index(TelemetryRow& row, TelemetrySink& sink) {
    if (layout_.has_time) {
      const bool same = previous_ && *row.at - *previous_ < kSameTick && *row.at >= *previous_;
      inferred_ = same && inferred_ + 1 < kHostGpus ? inferred_ + 1 : 0;
      previous_ = row.at;
    } else if (++inferred_ >= kHostGpus) {
      if (inferred_ > kHostGpus)
        inferred_ = kHostGpus;  // told already
      else
        damaged(sink, NoteKind::schema, kTooMany);
      return false;
    }
    row.key.index = inferred_;
    if (inferred_ == 1 && !told_) {
      told_ = true;
      damaged(sink, NoteKind::schema, layout_.has_time ? kByTime : kByOrder);
    }
    return true;
  }

  void emit_wide(const TelemetryRow& row, TelemetrySink& sink) {
    for (const std::string& series : wide_series_) {
      TelemetryRow one = row;
      split_.clear();
      std::size_t r = 0;
      for (const CsvColumn& c : layout_.columns) {
        if (c.role != Role::metric || c.repeats) continue;
        if (c.series == series || c.series.empty()) split_.push_back(readings_[r]);
        ++r;
      }
      const bool rank = series.starts_with("rank");
      if (series == "others") {
        one.key.device = "others";
      } else {
        const auto n = parse_int(std::string_view(series).substr(rank ? 4 : 3));
        (rank ? one.key.rank : one.key.index) = static_cast<int>(n.value_or(0));
      }
      one.key.kind = SeriesKind::gpu;
      one.readings = split_;
      sink.row(one);
    }
  }

  std::vector<ColumnMapping> mapping_;
  CsvLayout layout_;
  bool bound_ = false, infer_index_ = false, told_ = false, broken_ = false, mask_seen_ = false;
  std::uint64_t mask_ = 0;
  std::string last_cell_;  // of the row before
  int inferred_ = -1;
  std::optional<WallTime> previous_;
  TimeReader time_;
  std::vector<std::string_view> cells_;
  std::vector<MetricReading> readings_, split_;
  MetricReading repeated_{};
  std::vector<std::string> wide_series_;
  std::string group_, decimal_;
};

}  // namespace

bool looks_like_nvsmi_csv(std::string_view head) {
  const std::string_view line = first_line(head);
  if (line.find('\0') != std::string_view::npos) return false;
  const CsvLayout layout = bind_heading(line, {});
  if (is_heading(layout, line)) return layout.nvidia && layout.has_metric;
  return bind_by_content(line).has_metric;
}

bool looks_like_table_csv(std::string_view head) {
  const std::string_view line = first_line(head);
  if (line.find('\0') != std::string_view::npos) return false;
  const CsvLayout layout = bind_heading(line, {});
  return is_heading(layout, line) && layout.has_metric && !layout.nvidia &&
         layout.columns.size() > 1;
}

std::unique_ptr<Decoder> make_csv_decoder(const DecoderOptions& options) {
  return std::make_unique<CsvDecoder>(options);
}

}  // namespace muster
