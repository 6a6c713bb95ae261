#include "core/progress/step_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/text.h"
#include "base/timestamp.h"

namespace muster {
namespace {

constexpr std::array<std::pair<std::string_view, StepQuantity>, 10> kRoles = {
    {{"step", StepQuantity::step},
     {"step_time", StepQuantity::step_time},
     {"tokens", StepQuantity::tokens},
     {"loading", StepQuantity::loading},
     {"mfu", StepQuantity::mfu},
     {"loss", StepQuantity::loss},
     {"rank", StepQuantity::rank},
     {"total_steps", StepQuantity::total},
     {"time", StepQuantity::time},
     {"elapsed", StepQuantity::elapsed}}};

StepQuantity role_of(std::string_view name) {
  for (const auto& [role, quantity] : kRoles) {
    if (role == name) return quantity;
  }
  return StepQuantity::none;
}

char separator_of(std::string_view heading) {
  for (const char c : {'\t', ';'}) {
    if (std::count(heading.begin(), heading.end(), c) > 0) return c;
  }
  return ',';
}

// Views into `line`, without quotes and blanks around. A quote inside quotes stays doubled: no name
// and no number has one.
void split_row(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  while (cells.size() < limits::kColumns) {
    std::size_t end = 0;
    bool quoted = false;
    while (end < line.size() && (quoted || line[end] != separator)) {
      quoted = quoted != (line[end] == '"');
      ++end;
    }
    std::string_view cell = trim(line.substr(0, end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell = trim(cell.substr(1, cell.size() - 2));
    }
    cells.push_back(cell);
    if (end >= line.size()) return;
    line.remove_prefix(end + 1);
  }
}

struct Layout {
  char separator = ',';
  std::vector<NamedQuantity> columns;
  bool has(StepQuantity quantity) const {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const NamedQuantity& column) { return column.quantity == quantity; });
  }
  bool measures() const {
    return has(StepQuantity::step_time) || has(StepQuantity::tokens) || has(StepQuantity::mfu) ||
           (has(StepQuantity::step) && (has(StepQuantity::time) || has(StepQuantity::elapsed)));
  }
};

// The first column of a quantity counts: "step_time,step_time_p99".
Layout bind_columns(std::string_view heading, const std::vector<StepColumn>& wanted) {
  if (heading.starts_with("\xef\xbb\xbf")) heading.remove_prefix(3);
  if (heading.starts_with('#')) heading.remove_prefix(1);
  Layout layout;
  layout.separator = separator_of(heading);
  std::vector<std::string_view> cells;
  split_row(heading, layout.separator, cells);
  for (const std::string_view cell : cells) {
    NamedQuantity column;
    if (wanted.empty()) column = step_quantity(cell);
    for (const StepColumn& want : wanted) {
      if (want.column != cell) continue;
      column.quantity = role_of(want.role);
      column.scale = want.unit == "ms" ? 1e-3 : (want.unit == "us" ? 1e-6 : 1);
    }
    if (column.quantity != StepQuantity::none && layout.has(column.quantity)) column = {};
    layout.columns.push_back(column);
  }
  // Rows of an MLPerf log have a reader of their own.
  if (cells.size() > 1 && cells[1] == "key") layout.columns.clear();
  return layout;
}

// Seconds, milliseconds, microseconds or nanoseconds since the epoch, by their size.
std::optional<WallTime> epoch_time(double value) {
  if (!std::isfinite(value) || value < 1e9) return std::nullopt;
  double seconds = value;
  while (seconds >= 1e11) seconds /= 1e3;
  if (seconds < 1e9 || seconds > 9e9) return std::nullopt;
  // A double holds such a time to a quarter of a microsecond.
  return WallTime(std::chrono::microseconds(std::llround(seconds * 1e6)));
}

void set_time(std::string_view cell, StepRecord& record) {
  if (const auto number = parse_double(cell)) {
    record.at = epoch_time(*number);
    record.at_has_zone = true;
    if (!record.at && *number >= 0 && *number < 1e9) record.elapsed_s = *number;
    return;
  }
  const auto stamp = parse_timestamp(cell);
  if (!stamp) return;
  record.at = stamp->at;
  record.at_has_zone = stamp->has_zone;
  record.at_has_date = stamp->has_date;
}

}  // namespace

Result<std::vector<StepColumn>> parse_step_columns(std::string_view text) {
  std::vector<StepColumn> columns;
  if (trim(text).empty()) return columns;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t equals = piece.find('=');
    const std::string_view role = trim(piece.substr(0, std::min(equals, piece.size())));
    if (equals == std::string_view::npos || role_of(role) == StepQuantity::none) {
      std::string roles;
      for (const auto& row : kRoles) roles += (roles.empty() ? "" : ", ") + std::string(row.first);
      return make_error(Errc::invalid_input,
                        fmt::format("--columns: '{}' is not ROLE=COLUMN; roles: {}",
                                    escape_controls(piece, 60), roles));
    }
    StepColumn column{std::string(role), std::string(trim(piece.substr(equals + 1))), ""};
    for (const std::string_view unit : {":ms", ":us", ":s"}) {
      if (!column.column.ends_with(unit)) continue;
      column.unit = unit.substr(1);
      column.column.resize(column.column.size() - unit.size());
      break;
    }
    if (column.column.empty()) {
      return make_error(Errc::invalid_input, fmt::format("--columns: '{}' names no column", role));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

class StepTableDecoder::Impl {
 public:
  explicit Impl(std::vector<StepColumn> columns) : wanted_(std::move(columns)) {}

  void feed(std::string_view chunk, ProgressSink& sink) {
    lines_.feed(chunk, [&](std::string_view text, std::uint64_t) { line(text, sink); });
  }
  void finish(ProgressSink& sink) {
    lines_.finish([&](std::string_view text, std::uint64_t) { line(text, sink); });
  }
  std::uint64_t bad_rows() const { return bad_ + lines_.dropped(); }
  const std::string& complaint() const { return complaint_; }

 private:
  void line(std::string_view text, ProgressSink& sink) {
    ++number_;
    if (trim(text).empty() || !complaint_.empty()) return;
    if (!bound_) return heading(text);
    if (text == heading_ || text.starts_with('#')) return;
    split_row(text, layout_.separator, cells_);
    StepRecord record;
    record.line = number_ + lines_.dropped();
    bool has_step = false;
    for (std::size_t i = 0; i < std::min(cells_.size(), layout_.columns.size()); ++i) {
      const NamedQuantity column = layout_.columns[i];
      if (column.quantity == StepQuantity::none) continue;
      if (column.quantity == StepQuantity::time) {
        set_time(cells_[i], record);
        continue;
      }
      std::string_view cell = cells_[i];
      if (cell.ends_with('%')) cell.remove_suffix(1);
      const auto value = parse_double(cell);
      if (!value) continue;
      if (column.quantity != StepQuantity::step) {
        set_quantity(column, *value, record);
      } else if (*value >= 0 && *value < 1e15 && std::floor(*value) == *value) {
        record.step = static_cast<std::int64_t>(*value);
        has_step = true;
      }
    }
    if (counts_rows_) {
      record.step = rows_;
      has_step = record.step_s || record.tokens_per_s || record.mfu_ratio;
    }
    if (!has_step) {
      ++bad_;
      return;
    }
    ++rows_;
    sink.step(record);
  }

  void heading(std::string_view text) {
    bound_ = true;
    heading_ = text;
    layout_ = bind_columns(text, wanted_);
    for (const StepColumn& want : wanted_) {
      if (layout_.has(role_of(want.role))) continue;
      complaint_ = fmt::format("no column is called '{}'", escape_controls(want.column, 60));
      return;
    }
    counts_rows_ = !layout_.has(StepQuantity::step);
    if (layout_.measures()) return;
    complaint_ =
        "no column of step time, tokens per second or mfu is known by its name: --columns "
        "step_time=NAME";
  }

  std::vector<StepColumn> wanted_;
  LineSplitter lines_;
  Layout layout_;
  std::string heading_, complaint_;
  std::vector<std::string_view> cells_;
  std::uint64_t number_ = 0, bad_ = 0;
  std::int64_t rows_ = 0;
  bool bound_ = false, counts_rows_ = false;
};

StepTableDecoder::StepTableDecoder(std::vector<StepColumn> columns)
    : impl_(std::make_unique<Impl>(std::move(columns))) {}
StepTableDecoder::StepTableDecoder(StepTableDecoder&&) noexcept = default;
StepTableDecoder& StepTableDecoder::operator=(StepTableDecoder&&) noexcept = default;
StepTableDecoder::~StepTableDecoder() = default;

void StepTableDecoder::feed(std::string_view chunk, ProgressSink& sink) {
  impl_->feed(chunk, sink);
}
void StepTableDecoder::finish(ProgressSink& sink) {
  impl_->finish(sink);
}
std::uint64_t StepTableDecoder::bad_rows() const {
  return impl_->bad_rows();
}
const std::string& StepTableDecoder::complaint() const {
  return impl_->complaint();
}

bool looks_like_step_table(std::string_view head) {
  while (!head.empty() && (head.front() == '\n' || head.front() == '\r')) head.remove_prefix(1);
  const std::string_view heading = trim(head.substr(0, head.find('\n')));
  if (heading.empty() || heading.size() > 16 * 1024) return false;
  if (heading.front() == '{') return false;  // JSON, whose keys would pass for names
  const char separator = separator_of(heading);
  if (heading.find(separator) == std::string_view::npos) return false;
  const Layout layout = bind_columns(heading, {});
  if (layout.columns.size() < 2 || !layout.measures()) return false;
  // Names, not values: a line of a log has numbers, or a time with a comma in front.
  std::vector<std::string_view> cells;
  split_row(heading, separator, cells);
  return std::none_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell.size() > 64 || parse_double(cell).has_value() ||
           (!cell.empty() && cell.front() >= '0' && cell.front() <= '9') ||
           cell.find(": ") != std::string_view::npos || cell.find('=') != std::string_view::npos;
  });
}

}  // namespace muster
