#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::checkpoint {

// One row of what a trainer logged on its way to a checkpoint.
struct LossRow {
  std::uint64_t step = 0;
  std::optional<double> loss, grad_norm;  // may be no number; absent: not logged
};

// Whether the weights may be trusted, by the losses that led to them.
struct LossHealth {
  enum class Kind : std::uint8_t {
    unknown,  // too few rows, or none
    fine,
    not_finite,  // the last loss, or the norms of the last few gradients, are no numbers
    jumped       // the last losses lie far above all those before
  };
  Kind kind = Kind::unknown;
  std::uint64_t since_step = 0;  // of the first row that is bad
  double usual = 0, last = 0;    // jumped

  bool suspect() const { return kind == Kind::not_finite || kind == Kind::jumped; }
};

// Rows in the order of their steps. A single norm that is not finite is a step that mixed precision
// has skipped, and a single high loss is a hard batch: neither makes a checkpoint suspect. A loss
// jumped where the last three are all above twice the highest of the 16 before.
LossHealth judge_losses(const std::vector<LossRow>& rows);

// log_history of trainer_state.json, with the global step beside. Python writes NaN and Infinity
// into its JSON: they are read as what they mean. Nothing where it is no such document.
struct TrainerState {
  std::uint64_t global_step = 0;
  std::vector<LossRow> rows;
};
std::optional<TrainerState> read_trainer_state(std::string_view bytes);

}  // namespace muster::checkpoint
