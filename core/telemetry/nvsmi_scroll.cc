#include "core/telemetry/nvsmi_scroll.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/blank_cells.h"
#include "core/telemetry/cell.h"
#include "core/telemetry/line_decoder.h"
#include "core/telemetry/tool_text.h"

namespace muster {
namespace {

constexpr double kMiB = 1048576.0;
constexpr int kIndexMax = 4096;
// Processes of one GPU that are told apart; beyond it the tick is taken for whole.
constexpr std::size_t kProcesses = 512;
constexpr Duration kDay = std::chrono::hours(24);

struct ScrollName {
  std::string_view name;
  Metric metric;
  double scale = 1;
};
constexpr ScrollName kNames[] = {
    {"pwr", Metric::power_w},
    {"gtemp", Metric::temperature_c},
    {"temp", Metric::temperature_c},
    {"mtemp", Metric::mem_temperature_c},
    {"sm", Metric::util_gpu_percent},
    {"mem", Metric::util_mem_percent},
    {"mclk", Metric::mem_clock_mhz},
    {"pclk", Metric::sm_clock_mhz},
    {"fb", Metric::mem_used_bytes, kMiB},
    {"sbecc", Metric::ecc_corrected},
    {"dbecc", Metric::ecc_uncorrected},
    {"pci", Metric::pcie_replays},
};

struct ScrollColumn {
  enum class Role : std::uint8_t { ignored, date, time, gpu, pid, metric };
  Role role = Role::ignored;
  Metric metric = Metric::power_w;
  double scale = 1;
};
using Role = ScrollColumn::Role;

struct ScrollHeading {
  std::vector<ScrollColumn> columns;
  bool has_date = false, has_time = false, has_pid = false, has_metric = false;
  bool ends_in_command = false;  // a name that may hold blanks
};

ScrollColumn bind_column(std::string_view name, ScrollHeading& heading) {
  ScrollColumn column;
  if (name == "date") {
    column.role = Role::date;
    heading.has_date = true;
  } else if (name == "time") {
    column.role = Role::time;
    heading.has_time = true;
  } else if (name == "gpu") {
    column.role = Role::gpu;
  } else if (name == "pid") {
    column.role = Role::pid;
    heading.has_pid = true;
  }
  for (const ScrollName& known : kNames) {
    if (known.name != name) continue;
    column = {Role::metric, known.metric, known.scale};
    heading.has_metric = true;
  }
  return column;
}

// "# gpu    pwr ..." or "#Date  Time  gpu ...": nothing for the line of units and for comments.
std::optional<ScrollHeading> parse_heading(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  std::vector<std::string_view> cells;
  split_blanks(line.substr(1), cells, limits::kColumns);
  ScrollHeading heading;
  bool gpu = false;
  for (const std::string_view cell : cells) {
    const std::string name = to_lower(cell);
    gpu |= name == "gpu";
    heading.columns.push_back(bind_column(name, heading));
    heading.ends_in_command = name == "command";
  }
  if (!gpu || !heading.has_metric) return std::nullopt;
  return heading;
}

std::optional<ScrollHeading> first_heading(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (auto heading = parse_heading(head.substr(0, end))) return heading;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// Dates and clock times of rows; most rows say the same as the one before.
class ScrollClock {
 public:
  std::optional<WallTime> read(std::string_view date, std::string_view time) {
    if (date == date_ && time == time_ && last_) return last_;
    text_.assign(date);
    if (!date.empty() && !time.empty()) text_ += ' ';
    text_ += time;
    if (time.empty()) text_ += " 00:00:00";
    const auto parsed = parse_timestamp(text_);
    if (!parsed) return std::nullopt;
    WallTime at = parsed->at;
    if (!parsed->has_date) {
      if (last_ && at + days_ + kDay / 2 < *last_) days_ += kDay;
      at += days_;
    }
    date_ = date;
    time_ = time;
    last_ = at;
    return at;
  }

 private:
  std::string date_, time_, text_;
  std::optional<WallTime> last_;
  Duration days_{};
};

struct ScrollRow {
  int index = 0;
  std::string_view pid;
  std::optional<WallTime> at;
  const std::vector<MetricReading>& readings;
  std::uint64_t line = 0;
};

// What dmon and pmon have in common: lines, headings, texts of the tool, damage.
class ScrollDecoder : public LineDecoder {
 protected:
  virtual void on_row(const ScrollRow& row, TelemetrySink& sink) = 0;
  virtual void end_tick(TelemetrySink& sink) = 0;

 private:
  void on_end(TelemetrySink& sink) final { end_tick(sink); }

  void on_line(std::string_view line, TelemetrySink& sink, bool torn) final {
    if (line_number() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = trim(line);
    if (line.empty()) return;
    const NoteKind kind = torn ? NoteKind::truncated : NoteKind::damaged_line;
    if (line.find('\0') != std::string_view::npos) {
      damaged(sink, kind, "NUL bytes in the line");
    } else if (line.starts_with('#')) {
      on_heading(line, sink, torn);
    } else if (line[0] < '0' || line[0] > '9') {
      if (!note_tool_text(line, line_number(), sink))
        damaged(sink, kind, "neither a row nor a heading");
    } else if (!heading_) {
      damaged(sink, NoteKind::damaged_line, "before the heading");
    } else {
      on_cells(line, sink, torn);
    }
  }

  void on_heading(std::string_view line, TelemetrySink& sink, bool torn) {
    if (torn) return damaged(sink, NoteKind::truncated, "the last line is cut");
    if (line == heading_text_) return end_tick(sink);
    auto heading = parse_heading(line);
    if (!heading) return;
    end_tick(sink);
    if (heading_) sink.note({NoteKind::schema, "the heading changed", line_number(), {}, {}});
    heading_ = std::move(heading);
    heading_text_ = line;
    row_size_ = 0;
    if (heading_->has_time && !heading_->has_date && !told_) {
      told_ = true;
      sink.note({NoteKind::schema, "the times have no date", line_number(), {}, {}});
    }
  }

  void on_cells(std::string_view line, TelemetrySink& sink, bool torn) {
    split_blanks(line, cells_, limits::kColumns);
    const std::size_t wanted = heading_->columns.size();
    const bool fits = heading_->ends_in_command ? cells_.size() >= wanted : cells_.size() == wanted;
    // The numbers of dmon are aligned to the right: a shorter line is a cut one.
    if (torn && (!fits || (!heading_->ends_in_command && line.size() < row_size_))) {
      damaged(sink, NoteKind::truncated, "the last line is cut");
    } else if (!fits) {
      damaged(sink, NoteKind::damaged_line, "another number of cells than the heading");
    } else if (read_cells(sink)) {
      row_size_ = line.size();
    } else {
      damaged(sink, NoteKind::damaged_line, "its time or GPU cannot be read");
    }
  }

  bool read_cells(TelemetrySink& sink) {
    readings_.clear();
    ScrollRow row{0, {}, {}, readings_, line_number()};
    std::string_view date, time;
    for (std::size_t i = 0; i < heading_->columns.size(); ++i) {
      const ScrollColumn& column = heading_->columns[i];
      switch (column.role) {
        case Role::ignored:
          break;
        case Role::date:
          date = cells_[i];
          break;
        case Role::time:
          time = cells_[i];
          break;
        case Role::pid:
          row.pid = cells_[i];
          break;
        case Role::gpu: {
          const auto n = parse_uint(cells_[i]);
          if (!n || *n > kIndexMax) return false;
          row.index = static_cast<int>(*n);
          break;
        }
        case Role::metric:
          add_reading(column, cells_[i]);
          break;
      }
    }
    if (heading_->has_date || heading_->has_time) {
      row.at = clock_.read(date, time);
      if (!row.at) return false;
    }
    on_row(row, sink);
    return true;
  }

  // In place: a copy of what was just written costs more than reading the cell.
  void add_reading(const ScrollColumn& column, std::string_view cell) {
    MetricReading& slot = readings_.emplace_back();
    slot.metric = column.metric;
    slot.reading = parse_cell(cell, column.scale);
  }

  std::optional<ScrollHeading> heading_;
  std::string heading_text_;
  std::size_t row_size_ = 0;
  bool told_ = false;
  ScrollClock clock_;
  std::vector<std::string_view> cells_;
  std::vector<MetricReading> readings_;
};

void emit(int index, std::optional<WallTime> at, std::uint64_t line,
          std::span<const MetricReading> readings, TelemetrySink& sink) {
  TelemetryRow row;
  row.key.index = index;
  row.at = at;
  row.readings = readings;
  row.line = line;
  sink.row(row);
}

class DmonDecoder final : public ScrollDecoder {
  void on_row(const ScrollRow& row, TelemetrySink& sink) override {
    emit(row.index, row.at, row.line, row.readings, sink);
  }
  void end_tick(TelemetrySink&) override {}
};

class PmonDecoder final : public ScrollDecoder {
  void on_row(const ScrollRow& row, TelemetrySink& sink) override {
    const bool again = std::find(pids_.begin(), pids_.end(), row.pid) != pids_.end();
    if (again || row.index != index_ || row.at != at_ || pids_.size() >= kProcesses) end_tick(sink);
    if (pids_.empty()) {
      index_ = row.index;
      at_ = row.at;
      line_ = row.line;
      folded_ = row.readings;
    } else {
      for (const MetricReading& r : row.readings) fold(r);
    }
    pids_.emplace_back(row.pid);
  }

  void end_tick(TelemetrySink& sink) override {
    if (pids_.empty()) return;
    emit(index_, at_, line_, folded_, sink);
    pids_.clear();
  }

  void fold(const MetricReading& r) {
    if (!r.reading.has_value()) return;
    for (MetricReading& f : folded_) {
      if (f.metric != r.metric) continue;
      const double value = r.reading.value();
      if (!f.reading.has_value()) {
        f.reading = r.reading;
      } else if (r.metric == Metric::mem_used_bytes) {
        f.reading = Reading::of(f.reading.value() + value);
      } else {
        f.reading = Reading::of(std::max(f.reading.value(), value));
      }
      return;
    }
  }

  std::vector<std::string> pids_;  // of the tick that is being folded
  std::vector<MetricReading> folded_;
  int index_ = 0;
  std::optional<WallTime> at_;
  std::uint64_t line_ = 0;
};

}  // namespace

bool looks_like_dmon(std::string_view head) {
  const auto heading = first_heading(head);
  return heading && !heading->has_pid;
}

bool looks_like_pmon(std::string_view head) {
  const auto heading = first_heading(head);
  return heading && heading->has_pid;
}

std::unique_ptr<Decoder> make_dmon_decoder(const DecoderOptions&) {
  return std::make_unique<DmonDecoder>();
}

std::unique_ptr<Decoder> make_pmon_decoder(const DecoderOptions&) {
  return std::make_unique<PmonDecoder>();
}

}  // namespace muster
