#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::train {

// One optimizer step as people, programs and TensorBoard are told it. What is not known is absent,
// never 0.
struct StepReport {
  std::uint64_t step = 0, target_step = 0;  // steps that are complete; after which the run is done
  WallTime at{};
  std::optional<double> loss;       // mean over counted labels; absent where it is not finite
  std::optional<double> grad_norm;  // before clipping; absent where it is not finite
  double learning_rate = 0;
  std::uint64_t step_tokens = 0, tokens = 0;  // of all ranks; since the run began
  std::uint64_t ranks = 1;
  double step_s = 0, data_s = 0, wait_s = 0;  // of it: for data, for other ranks
  std::optional<double> mfu;                  // part of 1
  // Why the weights were left as they were, if they were.
  enum class Skipped : std::uint8_t { no, not_finite, no_labels };
  Skipped skipped = Skipped::no;

  std::optional<double> tokens_per_s() const;  // of all ranks
};

// "2026-08-01T10:00:00Z step 480/3854 | loss 1.8421 | norm 0.910 | lr 9.10e-06 | 53012 tok/s |
// 3313 tok/s/rank | mfu 28.9% | time 4945 ms | data 2 ms | wait 10 ms": what `muster shape` and
// `muster triage --steps` read.
std::string step_line(const StepReport& report);

// One line of muster.metrics/1 (docs/FORMATS.md), with its newline.
std::string step_metrics(const StepReport& report);

// For an event file (event_file_writer.h): "train/loss", "train/step_time" ...
std::string step_event(const StepReport& report);

// What happened beside the steps, by the names of ProgressKind.
struct RunEvent {
  std::string_view name;  // "save_begin", "save_end", "restarted", "finished", "error"
  WallTime at{};
  std::uint64_t step = 0;
  std::optional<double> duration_s;
  std::string text;  // for people
};
std::string event_line(const RunEvent& event);
std::string event_metrics(const RunEvent& event);

}  // namespace muster::train
