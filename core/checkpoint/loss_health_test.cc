#include "core/checkpoint/loss_health.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace muster::checkpoint {
namespace {

using Kind = LossHealth::Kind;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Steps 10, 20 ... with a loss that falls from 3 to 2, and what follows.
std::vector<LossRow> run(const std::vector<LossRow>& then, int before = 20) {
  std::vector<LossRow> rows;
  for (int i = 0; i < before; ++i) {
    rows.push_back({static_cast<std::uint64_t>(10 * (i + 1)), 3.0 - i * 0.05, 1.0});
  }
  for (LossRow row : then) {
    row.step = 10 * (rows.size() + 1);
    rows.push_back(row);
  }
  return rows;
}

TEST(LossHealth, Rows) {
  struct Row {
    const char* name;
    std::vector<LossRow> rows;
    Kind kind;
    std::uint64_t since;
  };
  const std::optional<double> none;
  const Row rows[] = {
      {"nothing logged", {}, Kind::unknown, 0},
      {"evaluations alone", {{10, none, none}}, Kind::unknown, 0},
      {"one row", {{10, 2.0, 1.0}}, Kind::fine, 0},
      {"falls", run({}), Kind::fine, 0},
      {"the last loss is no number", run({{0, kNan, 1.0}}), Kind::not_finite, 210},
      {"since several rows", run({{0, kNan, 1.0}, {0, kInf, none}, {0, none, kNan}}),
       Kind::not_finite, 210},
      {"one norm overflowed: a skipped step", run({{0, 2.0, kInf}}), Kind::fine, 0},
      {"two norms in a row", run({{0, 0.0, kNan}, {0, 0.0, kNan}}), Kind::not_finite, 210},
      {"no number, and over", run({{0, kNan, kNan}, {0, 2.0, 1.0}}), Kind::fine, 0},
      {"one hard batch", run({{0, 9.0, 1.0}}), Kind::fine, 0},
      {"two hard batches", run({{0, 9.0, 1.0}, {0, 9.0, 1.0}}), Kind::fine, 0},
      {"three high ones", run({{0, 9.0, 1.0}, {0, 8.0, 1.0}, {0, 9.5, 1.0}}), Kind::jumped, 210},
      {"high, and down again", run({{0, 9.0, 1.0}, {0, 8.0, 1.0}, {0, 9.5, 1.0}, {0, 2.1, 1.0}}),
       Kind::fine, 0},
      {"not twice as high", run({{0, 4.0, 1.0}, {0, 4.1, 1.0}, {0, 4.2, 1.0}}), Kind::fine, 0},
      {"too short to know", run({{0, 9.0, 1.0}, {0, 8.0, 1.0}, {0, 9.5, 1.0}}, 15), Kind::fine, 0},
      {"evaluations between", run({{0, 9.0, 1.0}, {0, none, none}, {0, 8.0, 1.0}, {0, 9.5, 1.0}}),
       Kind::jumped, 210},
  };
  for (const Row& row : rows) {
    const LossHealth health = judge_losses(row.rows);
    EXPECT_EQ(health.kind, row.kind) << row.name;
    EXPECT_EQ(health.since_step, row.since) << row.name;
  }
}

TEST(LossHealth, TrainerState) {
  const auto state =
      read_trainer_state(R"({"global_step":30,"best":"NaN \" NaN","x":-Infinity,"log_history":[)"
                         R"({"step":10,"loss":2.5},{"step":20,"eval_loss":2.1},)"
                         R"({"step":30,"loss":NaN,"grad_norm":Infinity}]})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->global_step, 30u);
  ASSERT_EQ(state->rows.size(), 3u);
  EXPECT_EQ(state->rows[0].loss, 2.5);
  EXPECT_FALSE(state->rows[1].loss);
  EXPECT_TRUE(std::isnan(*state->rows[2].loss));
  EXPECT_TRUE(std::isinf(*state->rows[2].grad_norm));
  EXPECT_EQ(judge_losses(state->rows).kind, Kind::not_finite);
}

TEST(LossHealth, NoTrainerState) {
  for (const char* text : {"", "{", "[]", "{}", R"({"global_step":"30"})", R"({"global_step":-1})",
                           R"({"global_step":30,"log_history":[{"step":10,"loss":2.5)"}) {
    EXPECT_FALSE(read_trainer_state(text)) << text;
  }
}

}  // namespace
}  // namespace muster::checkpoint
