#include "core/progress/composer_record.h"

#include "base/text.h"
#include "core/progress/number.h"

namespace muster::progress {
namespace {

// "480/4000]" behind "batch=".
std::optional<StepRecord> take_batch(std::string_view text) {
  StepRecord record;
  const auto step = take_count(text);
  if (!step) return std::nullopt;
  record.step = *step;
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    record.target_step = take_count(text);
    if (!record.target_step) return std::nullopt;
  }
  return text.starts_with(']') ? std::optional(record) : std::nullopt;
}

}  // namespace

std::optional<StepRecord> parse_composer_head(std::string_view body) {
  if (body.starts_with("[epoch=")) {
    const std::size_t close = body.find("][batch=");
    if (close == std::string_view::npos) return std::nullopt;
    body.remove_prefix(close + 1);
  }
  if (!body.starts_with("[batch=")) return std::nullopt;
  return take_batch(body.substr(7));
}

std::optional<ComposerEval> parse_composer_eval(std::string_view body) {
  static constexpr std::string_view kHead = "[Eval batch=";
  if (!body.starts_with(kHead)) return std::nullopt;
  const auto batch = take_batch(body.substr(kHead.size()));
  if (!batch || !batch->target_step) return std::nullopt;
  return ComposerEval{batch->step >= *batch->target_step};
}

bool add_composer_line(std::string_view body, StepRecord& record) {
  if (!body.starts_with(' ') && !body.starts_with('\t')) return false;
  body = trim(body);
  if (!body.starts_with("Train ")) return false;
  const std::size_t colon = body.rfind(": ");
  if (colon == std::string_view::npos) return true;
  const std::string_view key = body.substr(6, colon - 6);
  std::string_view number = body.substr(colon + 2);
  const auto value = take_number(number);
  if (!value) return true;
  if (key == "loss/train/total") record.loss = *value;
  if (key == "throughput/tokens_per_sec" && *value >= 0) record.tokens_per_s = *value;
  if (key == "throughput/device/mfu" && *value >= 0 && *value <= 1) record.mfu_ratio = *value;
  if (key.starts_with("lr-") && key.ends_with("/group0")) record.learning_rate = *value;
  if (key == "l2_norm/grad/global") record.grad_norm = *value;
  return true;
}

}  // namespace muster::progress
