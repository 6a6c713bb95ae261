#include "core/progress/step_metrics.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "core/progress/transcript.h"

namespace muster {
namespace {

std::string answer(const std::string& results) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + results + "]}}";
}
std::string series(const std::string& name, const std::string& values) {
  return R"({"metric":{"__name__":")" + name + R"(","rank":"0"},"values":[)" + values + "]}";
}

struct Row {
  const char* name;
  std::string json;
  const char* said;
  bool fails = false;
};

const Row kRows[] = {
    // Bad ones first.
    {"empty_text", "", "", true},
    {"cut", answer(series("train_step_time", R"([1,"2"])")).substr(0, 90), "", true},
    {"no_json", "step 1 loss 2", "", true},
    {"other_json", R"({"status":"success","data":{}})", "", true},
    {"result_is_a_number", R"({"status":"success","data":{"result":5}})", "", true},
    {"query_failed", R"({"status":"error","errorType":"bad_data","error":"parse"})", "", true},
    {"no_series", answer(""), ""},
    {"other_metric", answer(series("gpu_power", R"([1,"700"])")), ""},
    {"no_name", answer(R"({"metric":{},"values":[[1,"2"]]})"), ""},
    {"values_missing", answer(R"({"metric":{"__name__":"step_time"}})"), ""},
    {"value_is_nan", answer(series("step_time", R"([1,"NaN"])")), "step 0"},
    {"time_is_a_word", answer(series("step_time", R"(["x","2"],[5,"2"])")), "step 0 dt=2"},
    {"pair_is_short", answer(series("step_time", R"([1],[5,"2"])")), "step 0 dt=2"},
    {"time_is_negative", answer(series("step_time", R"([-7,"2"])")), ""},
    {"step_is_nan",
     answer(series("global_step", R"([1,"NaN"],[5,"7"])") + "," + series("dt", R"([5,"2"])")),
     "step 7 dt=2"},
    {"time_is_nan", answer(series("step_time", R"(["NaN","2"],["inf","2"],[5,"2"])")),
     "step 0 dt=2"},
    // Good ones.
    {"counted", answer(series("step_time", R"([1,"2"],[5,"3"])")), "step 0 dt=2; step 1 dt=3"},
    {"with_steps",
     answer(series("step_time_seconds", R"([1,"2"],[5,"3"])") + "," +
            series("global_step", R"([1,"10"],[5,"12"])")),
     "step 10 dt=2; step 12 dt=3"},
    {"slowest_rank",
     answer(series("step_time", R"([1,"2"])") + "," + series("step_time", R"([1,"9"])")),
     "step 0 dt=9"},
    {"rate_and_numbers", answer(series("tokens_per_second", "[1,53000]")), "step 0 tps=53000"},
};

TEST(StepMetrics, Rows) {
  for (const Row& row : kRows) {
    Transcript sink;
    const auto read = read_step_metrics(row.json, sink);
    EXPECT_EQ(!read, row.fails) << row.name;
    EXPECT_EQ(sink.text(), row.said) << row.name;
  }
}

TEST(StepMetrics, CutAndFlippedAtEveryByte) {
  const std::string json = answer(series("step_time", R"([1,"2"],[5,"3"])"));
  for (std::size_t i = 0; i < json.size(); ++i) {
    Transcript sink;
    EXPECT_FALSE(read_step_metrics(std::string_view(json).substr(0, i), sink)) << i;
    std::string damaged = json;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x02);
    (void)read_step_metrics(damaged, sink).has_value();
  }
}

TEST(StepMetrics, KnowsItsOwn) {
  EXPECT_TRUE(looks_like_step_metrics(answer("")));
  EXPECT_TRUE(looks_like_step_metrics(R"({"status":"error","errorType":"x","error":"y"})"));
  for (const char* other : {"", "{}", "{\"step\": 1, \"status\": \"ok\"}", "status resultType"}) {
    EXPECT_FALSE(looks_like_step_metrics(other)) << other;
  }
}

}  // namespace
}  // namespace muster
