#pragma once

#include <optional>
#include <string_view>

#include "core/model/progress.h"

// Composer and llm-foundry print one step over several lines:
//   [batch=480/4000]:
//            Train loss/train/total: 1.8421
//            Train throughput/tokens_per_sec: 53012.0

namespace muster::progress {

// "[batch=480/4000]:", "[epoch=0][batch=480/4000]:". The record holds step and target.
std::optional<StepRecord> parse_composer_head(std::string_view body);

// "[Eval batch=3/20]": true in `last` for the last one.
struct ComposerEval {
  bool last = false;
};
std::optional<ComposerEval> parse_composer_eval(std::string_view body);

// Adds a value of an indented "Train ..." line to `record`. False for a line that ends the record.
bool add_composer_line(std::string_view body, StepRecord& record);

}  // namespace muster::progress
