#include "core/storage/data_path.h"

#include <gtest/gtest.h>

#include "core/model/json_reader.h"

namespace muster::storage {
namespace {

TEST(DataArm, Table) {
  struct Row {
    const char* name;
    ArmRun run;
    RowState state;
    double rate, first, median;
  };
  const Row rows[] = {
      {"no step", {{}, 500, 900, 2}, RowState::not_measured, 0, 0, 0},
      {"no time", {{0}, 500, 900, 0}, RowState::not_measured, 0, 0, 0},
      {"one step", {{2}, 500, 900, 2}, RowState::measured, 250, 2, 2},
      // The first step after the cache was dropped is the slow one.
      {"a slow first step", {{3, 4, 5, 6.5, 7}, 700, 900, 7}, RowState::measured, 100, 3, 1},
  };
  for (const Row& row : rows) {
    const DataArm arm = arm_of(DataPath::text, true, row.run);
    EXPECT_EQ(arm.state, row.state) << row.name;
    EXPECT_DOUBLE_EQ(arm.tokens_per_second, row.rate) << row.name;
    EXPECT_DOUBLE_EQ(arm.first_step_s, row.first) << row.name;
    EXPECT_DOUBLE_EQ(arm.median_step_s, row.median) << row.name;
    EXPECT_EQ(arm.reason.empty(), row.state == RowState::measured) << row.name;
  }
}

// Tokens per second of each arm; below 0: not measured.
struct Rates {
  double text_cold, text_warm, packed_cold, packed_warm;
};

DataAnswer answer_of(const Rates& rates) {
  DataAnswer answer;
  answer.step_tokens = 1000;
  answer.step_seconds = 1;
  answer.threads = 2;
  answer.cache_bytes = 1e9;
  answer.text_bytes = 4e9;
  answer.packed_bytes = 4.04e9;
  const auto add = [&](DataPath path, bool cold, double rate) {
    if (rate < 0) {
      answer.arms.push_back(arm_not_measured(path, cold, "residency left"));
      return;
    }
    // Four bytes a token.
    answer.arms.push_back(arm_of(
        path, cold,
        {{1, 2}, static_cast<std::uint64_t>(rate * 2), static_cast<std::uint64_t>(rate * 8), 2}));
  };
  add(DataPath::text, true, rates.text_cold);
  add(DataPath::text, false, rates.text_warm);
  add(DataPath::packed, true, rates.packed_cold);
  add(DataPath::packed, false, rates.packed_warm);
  return answer;
}

struct VerdictRow {
  const char* name;
  Rates rates;
  Limit text, packed;
  ExitStatus status;
  const char* says;
};
const VerdictRow kVerdictRows[] = {
    {"nothing",
     {-1, -1, -1, -1},
     Limit::unknown,
     Limit::unknown,
     ExitStatus::cannot_tell,
     "cannot tell whether reading and tokenizing text feeds the steps: cold it gives an unknown "
     "multiple"},
    {"cold not measured",
     {-1, 5000, -1, 5000},
     Limit::unknown,
     Limit::unknown,
     ExitStatus::cannot_tell,
     "not measured: residency left"},
    {"the seed",
     {5280, 5300, 9000, 9000},
     Limit::none,
     Limit::none,
     ExitStatus::ok,
     "the pack buys no speed here"},
    {"one starved tokenizer thread",
     {480, 500, 9000, 90000},
     Limit::tokenizing,
     Limit::none,
     ExitStatus::warning,
     "wait for the tokenizer, not for storage"},
    {"the pack is needed",
     {480, 500, 9000, 90000},
     Limit::tokenizing,
     Limit::none,
     ExitStatus::warning,
     "the pack is what feeds these steps"},
    {"a slow disk",
     {500, 5000, 500, 9000},
     Limit::storage,
     Limit::storage,
     ExitStatus::warning,
     "wait for storage until the data are in memory"},
    {"blocks slow even in memory",
     {-1, -1, 400, 500},
     Limit::unknown,
     Limit::reading,
     ExitStatus::warning,
     "even from memory"},
    {"too close, cold",
     {1000, 5000, 9000, 9000},
     Limit::unknown,
     Limit::none,
     ExitStatus::cannot_tell,
     "cannot tell whether reading and tokenizing"},
    {"too close, warm",
     {950, 1000, 9000, 9000},
     Limit::unknown,
     Limit::none,
     ExitStatus::cannot_tell,
     "cannot tell whether reading and tokenizing"},
    {"warm not measured, cold feeds",
     {5000, -1, 9000, -1},
     Limit::none,
     Limit::none,
     ExitStatus::ok,
     "warm an unknown multiple"},
};

TEST(DataVerdict, Table) {
  for (const VerdictRow& row : kVerdictRows) {
    const DataAnswer answer = answer_of(row.rates);
    EXPECT_EQ(limit_name(verdict_of(DataPath::text, answer).limit), limit_name(row.text))
        << row.name;
    EXPECT_EQ(limit_name(verdict_of(DataPath::packed, answer).limit), limit_name(row.packed))
        << row.name;
    EXPECT_EQ(exit_status_of(answer), row.status) << row.name;
    std::string text = data_text(answer);
    for (std::size_t at = text.find("\n            "); at != std::string::npos;
         at = text.find("\n            ", at)) {
      text.replace(at, 13, " ");
    }
    EXPECT_NE(text.find(row.says), std::string::npos) << row.name << "\n" << text;
  }
}

// A path that feeds from memory and not from the medium turns at a size of its files: text and
// blocks of the same tokens at the same size here, four bytes a token each.
TEST(DataVerdict, SizeOfTheTurn) {
  const DataAnswer answer = answer_of({500, 5000, 500, 5000});
  for (const DataPath path : {DataPath::text, DataPath::packed}) {
    const Inversion turn = verdict_of(path, answer).inversion;
    EXPECT_EQ(turn.kind, Inversion::Kind::beyond);
    EXPECT_DOUBLE_EQ(turn.in_order_bytes, 1e9);
    EXPECT_NEAR(shuffled_rate(turn.shuffled_bytes, 1e9, 20000, 2000), 4000, 1e-3);
  }
  EXPECT_NE(data_text(answer).find("beyond 1.00 GB (read in order)"), std::string::npos);
}

TEST(DataVerdict, WithoutAStepTime) {
  DataAnswer answer = answer_of({500, 5000, -1, 5000});
  answer.step_seconds.reset();
  EXPECT_EQ(exit_status_of(answer), ExitStatus::ok);
  EXPECT_EQ(data_text(answer).find("verdict"), std::string::npos);
  EXPECT_EQ(verdict_of(DataPath::text, answer).limit, Limit::unknown);
}

TEST(DataAnswer, Json) {
  const auto document = parse_json(data_json(answer_of({500, 5000, -1, 5000})));
  ASSERT_TRUE(document);
  EXPECT_TRUE(check_schema(*document, "muster.data_path", 1));
  JsonFields fields(*document);
  const auto& arms = fields.array("arms");
  ASSERT_EQ(arms.size(), 4U);
  EXPECT_EQ(*arms[2].find("state")->get<std::string>(), "not_measured");
  EXPECT_TRUE(arms[2].find("tokens_per_second") == nullptr) << "null, never 0";
  JsonFields text(fields.array("verdicts")[0]);
  EXPECT_EQ(text.require_text("limit"), "storage");
  EXPECT_EQ(text.require_text("inverts"), "beyond");
  EXPECT_FALSE(text.fault());
  EXPECT_FALSE(fields.fault());
}

}  // namespace
}  // namespace muster::storage
