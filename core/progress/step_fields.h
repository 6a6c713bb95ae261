#pragma once

#include <string_view>

#include "core/model/progress.h"

// The values of a step line, whatever the dialect: "loss 0.703 tok/s 53012", "lm loss: 1.8E+00 |",
// "dt: 4950.00ms", "| 52.8k tok/s | 14.9 s", "mfu 30.70%", "loss:1.84 lr:9e-06".

namespace muster::progress {

struct FieldCount {
  int metrics = 0;     // values that belong to a training step, stored or not
  bool eval = false;   // a loss of an evaluation is among them
  bool timed = false;  // a rate, a duration, a learning rate: only training steps have them
};

// Stores what it knows in `record` (a value already there stays) and counts. Rates are kept as they
// are printed: torchtitan, torchtune and verl print tokens/s of one GPU, others of the whole run.
FieldCount read_step_fields(std::string_view text, StepRecord& record);

}  // namespace muster::progress
