#include "core/progress/progress_words.h"

namespace muster {

std::span<const std::string_view> step_words() {
  static constexpr std::string_view kWords[] = {
      "step ", "step:",  "step=", "step\"", "steps", "Step ", "Step:",  "STEP ",
      "iter ", "iterat", "it/s,", "it/s]",  "s/it,", "s/it]", "\"step", "'loss'",
  };
  return kWords;
}

std::span<const std::string_view> event_words() {
  static constexpr std::string_view kWords[] = {
      "aving ",     "aved ",    "rote ",         "riting ",   "heckpoint",  "ckpt ",
      "CHECKPOINT", "valuat",   "alidat",        "eval ",     "val_loss",   "eval_loss",
      "esuming",    "esumed",   "esume ",        "estored",   "estoring",   "estart",
      "elaunch",    "raining ", "train_runtime", "max_steps", "max_epochs", "okeniz",
      "reprocess",  "ndexing",  "ownload",       "tate dict", "tate_dict",
  };
  return kWords;
}

}  // namespace muster
