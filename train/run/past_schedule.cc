#include "train/run/past_schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/progress/json_line.h"
#include "edge/os/data_file.h"

namespace muster::train {
namespace {

constexpr std::uint64_t kTailBytes = 1024 * 1024;

}  // namespace

std::optional<std::string> schedule_change(std::string_view metrics, std::uint64_t step,
                                           std::uint64_t target_step, double rate) {
  const auto wanted = static_cast<std::int64_t>(step);
  const auto target = static_cast<std::int64_t>(target_step);
  progress::JsonLineReader reader;
  std::optional<StepRecord> past;
  for (const std::string_view line : split(metrics, '\n')) {
    const auto read = reader.read(line);
    if (read && read->step && read->step->step == wanted) past = read->step;
  }
  if (!past) return std::nullopt;
  std::string text;
  if (past->target_step && *past->target_step != target) {
    text =
        fmt::format("the run was to end after step {}, now after {}", *past->target_step, target);
  }
  // Written with all its digits, and computed anew from the same numbers.
  if (past->learning_rate && std::abs(*past->learning_rate - rate) > 1e-9 * rate) {
    text += fmt::format("{}the learning rate was {:.3e} at step {}, now it is {:.3e}",
                        text.empty() ? "" : "; ", *past->learning_rate, wanted, rate);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string metrics_tail(const std::string& path) {
  const auto file = DataReader::open(path);
  if (!file) return {};
  std::string tail(std::min(kTailBytes, file->bytes()), '\0');
  return file->read_at(file->bytes() - tail.size(), tail) ? tail : std::string();
}

}  // namespace muster::train
