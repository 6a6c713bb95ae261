#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/progress.h"

// Tables of steps, one row a step: "step,step_time_s,tok_per_s". Columns are known by the words of
// their names, whatever their order and decoration ("train/step_time (ms)"):
//
//   step        step, iteration, global_step; missing: rows are counted from 0
//   step_time   duration of the step; s, or ms and us where the name says so
//   tokens      tokens or samples per second
//   loading     the part of the step that waited for data; units as above
//   mfu         ratio, or per cent where values are above 1
//   loss, rank, total_steps
//   time        a stamp, or seconds or milliseconds since the epoch
//   elapsed     time since the run began
//
// Separators are comma, semicolon and tab; cells may be quoted. A row without a step that can be
// read is bad and loses only itself; a cell that is no number is absent. A heading that comes again
// (runs appended to one file) is passed over.

namespace muster {

// The meaning of columns as the user gives it: "step=it,step_time=t_ms:ms". Roles are the names
// above; ":ms" or ":us" behind the column gives its unit.
struct StepColumn {
  std::string role, column, unit;
};
Result<std::vector<StepColumn>> parse_step_columns(std::string_view text);

class StepTableDecoder {
 public:
  explicit StepTableDecoder(std::vector<StepColumn> columns = {});
  StepTableDecoder(StepTableDecoder&&) noexcept;
  StepTableDecoder& operator=(StepTableDecoder&&) noexcept;
  ~StepTableDecoder();

  // Chunks may be cut anywhere; memory does not grow with the table.
  void feed(std::string_view chunk, ProgressSink& sink);
  void finish(ProgressSink& sink);

  std::uint64_t bad_rows() const;
  // What the heading lacks, for people; empty where it is good: "no column of step time, ...".
  const std::string& complaint() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// By its first lines: a heading with a step or a time, and something to measure speed by.
bool looks_like_step_table(std::string_view head);

// What a quantity is by its name: a column, a tag of TensorBoard or the name of a metric.
enum class StepQuantity : std::uint8_t {
  none,
  step,
  step_time,
  tokens,
  loading,
  mfu,
  loss,
  rank,
  total,
  time,
  elapsed
};
struct NamedQuantity {
  StepQuantity quantity = StepQuantity::none;
  double scale = 1;  // to seconds
};
NamedQuantity step_quantity(std::string_view name);

// Puts one value where it belongs; impossible ones (a negative time) are left out.
void set_quantity(NamedQuantity what, double value, StepRecord& record);

}  // namespace muster
