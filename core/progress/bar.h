#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/progress.h"

// Progress bars of tqdm, and what they mean for a run:
//   " 12%|█▏        | 480/4000 [39:36<4:50:24,  4.95s/it]"                      HF Trainer, TRL
//   "Epoch 0:  12%|█▏ | 480/4000 [39:36<4:50:24, 0.20it/s, train_loss=1.84]"     Lightning
//   "1|480|Loss: 1.84:  12%|█▏  | 480/4000 [39:36<4:50:24,  4.95s/it]"            torchtune

namespace muster::progress {

struct Bar {
  std::string_view label;  // without the last ": "
  std::int64_t done = 0, total = 0;
  std::optional<double> step_s;  // from the printed rate; tqdm smooths it
  std::string_view postfix;      // behind the rate, without "]"
};

std::optional<Bar> parse_bar(std::string_view text);

// What one line adds: at most two events, then at most one step.
struct BarNews {
  std::optional<ProgressKind> first_event, second_event;
  std::optional<StepRecord> step;
  std::optional<Duration> duration;  // of the event, where printed
};

// Tells training bars from the bars of evaluation, loading and tokenizing, and joins the
// dictionaries of the Hugging Face trainer (which name no step) to the bar in front of them. Of
// bars without a label the first is the training's, until it is full; while it is not, another
// total is an evaluation. In a bar per epoch ("Epoch 3") steps count on: 3 x total + done; the
// target is the end of the epoch, which is all the bar knows.
class BarTracker {
 public:
  BarNews on_bar(const Bar& bar);
  // "{'loss': 1.84, 'grad_norm': 0.9, 'learning_rate': 9e-06, 'epoch': 0.42}"; values may be
  // quoted.
  BarNews on_dict(std::string_view dict);
  // A new attempt: bars begin anew.
  void restart();

 private:
  BarNews on_eval(const Bar& bar);
  BarNews on_epoch(const Bar& bar, std::int64_t epoch);
  BarNews on_train(const Bar& bar, std::int64_t step, std::optional<std::int64_t> target);
  BarNews on_unlabelled(const Bar& bar);

  std::optional<std::int64_t> train_total_, last_done_, last_step_, ended_epoch_;
  bool confirmed_ = false;  // a training loss was printed under this bar
  bool eval_open_ = false;
};

}  // namespace muster::progress
