#include "core/progress/mlperf_row.h"

#include <array>

#include "base/text.h"
#include "core/progress/number.h"

namespace muster::progress {
namespace {

struct Key {
  std::string_view name;
  ProgressKind kind;
};
constexpr std::array<Key, 8> kKeys = {{{"init_start", ProgressKind::startup},
                                       {"init_stop", ProgressKind::startup},
                                       {"run_start", ProgressKind::startup},
                                       {"eval_start", ProgressKind::eval_begin},
                                       {"eval_stop", ProgressKind::eval_end},
                                       {"epoch_stop", ProgressKind::epoch_end},
                                       {"run_stop", ProgressKind::finished},
                                       {"submission_end", ProgressKind::finished}}};

}  // namespace

std::optional<MlperfRow> parse_mlperf_row(std::string_view line) {
  // 2001 to 2200 in milliseconds: 13 digits.
  if (line.size() < 16 || line[13] != ',' || !is_digit(line[0])) return std::nullopt;
  const auto ms = parse_int(line.substr(0, 13));
  if (!ms || *ms < 0 || *ms > 7'258'118'400'000) return std::nullopt;
  const auto cells = split(line, ',');
  if (cells.size() < 3) return std::nullopt;
  MlperfRow row{wall_from_ns(*ms * 1'000'000), {}, {}, {}};
  const auto step = parse_int(cells[2]);
  const bool has_step = step && *step >= 0;
  for (const Key& key : kKeys) {
    if (key.name != cells[1]) continue;
    row.event = key.kind;
    if (has_step) row.event_step = *step;
    return row;
  }
  if (cells[1] != "tracked_stats" || !has_step) return std::nullopt;
  StepRecord record;
  record.step = *step;
  record.at = row.at;
  record.at_has_zone = true;
  for (std::size_t i = 3; i < cells.size(); ++i) {
    const std::size_t equals = cells[i].find('=');
    if (equals == std::string_view::npos) continue;
    const auto value = parse_double(cells[i].substr(equals + 1));
    if (value && *value > 0 && cells[i].starts_with("train_step_timing")) record.step_s = *value;
    if (value && cells[i].starts_with("reduced_train_loss")) record.loss = *value;
  }
  row.step = record;
  return row;
}

}  // namespace muster::progress
