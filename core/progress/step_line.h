#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/progress.h"

// Step lines that stand alone on one line of text, each dialect a small reader in one table:
// plain "step N/M loss ..", torchtitan, Megatron, DeepSpeed, torchtune's metric file, nanoGPT and
// nanochat, verl. Bars, dictionaries, JSON and records over several lines have readers of their
// own.

namespace muster::progress {

enum class StepLineKind : std::uint8_t {
  none,        // no step line: it may be an event
  step,        // `record` holds a training step
  evaluation,  // the result of an evaluation at `record.step`
};

// `body` is a line without its head (line_head.h). Only the line's own fields of a fresh `record`
// are set; what stands in it means nothing with `none`.
StepLineKind read_step_line(std::string_view body, StepRecord& record);

// The step that a line names in any form: "step 1500", "step=1500", "iteration 500",
// "checkpoint-2500", "step_600", "epoch_0_step_4000".
std::optional<std::int64_t> find_step(std::string_view text);

}  // namespace muster::progress
