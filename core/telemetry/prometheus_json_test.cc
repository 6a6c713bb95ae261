#include "core/telemetry/prometheus_json.h"

#include <gtest/gtest.h>

#include "core/telemetry/decoder_test_kit.h"

namespace muster {
namespace {

using testkit::Seen;

Seen read(std::string_view text) {
  return testkit::decode(make_prometheus_json_decoder, text, 9);
}

std::string answer(const std::string& results, const std::string& type = "matrix") {
  return R"({"status":"success","data":{"resultType":")" + type + R"(","result":[)" + results +
         "]}}";
}

std::string result(const std::string& gpu, const std::string& values) {
  return R"({"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","gpu":")" + gpu +
         R"(","Hostname":"n1"},"values":[)" + values + "]}";
}

struct Bad {
  const char* name;
  const char* values;
};
constexpr Bad kBad[] = {
    {"no_pair", "[1700000000]"},
    {"three", R"([1700000000,"1","2"])"},
    {"number_not_quoted", "[1700000000,1]"},
    {"word", R"([1700000000,"N/A"])"},
    {"empty", R"([1700000000,""])"},
    {"time_quoted", R"(["1700000000","1"])"},
    {"time_negative", R"([-1,"1"])"},
    {"time_beyond", R"([1e300,"1"])"},
    {"object", R"({"a":1})"},
    {"null", "null"},
    {"bad_escape", R"([1700000000,"\q"])"},
    {"trailing_comma", R"([1700000000,"1"],)"},
};

TEST(PrometheusJson, ADamagedResultIsLostAlone) {
  for (const Bad& bad : kBad) {
    const Seen seen =
        read(answer(result("0", R"([1700000000,"1"])") + "," + result("1", bad.values) + "," +
                    result("2", R"([1700000000,"3"])")));
    ASSERT_EQ(seen.rows.size(), 2U) << bad.name;
    EXPECT_EQ(seen.rows[1].index, 2) << bad.name;
    EXPECT_EQ(seen.count(NoteKind::damaged_line), 1) << bad.name;
  }
}

TEST(PrometheusJson, AMatrixComesInOrderOfTimeWithAllMetricsOfASeries) {
  const std::string util =
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"n1"},)"
      R"("values":[[1700000000,"97"],[1700000005.5,"NaN"]]})";
  const Seen seen = read(answer(result("0", R"([1700000000,"1"],[1700000005.5,"2"])") + "," +
                                result("1", R"([1700000000,"3"])") + "," + util));
  ASSERT_EQ(seen.rows.size(), 3U);
  EXPECT_EQ(seen.rows[0].index, 0);
  EXPECT_EQ(seen.rows[0].value(Metric::power_w), 1);
  EXPECT_EQ(seen.rows[0].value(Metric::util_gpu_percent), 97);
  EXPECT_EQ(seen.rows[1].index, 1);
  EXPECT_EQ(wall_to_ns(*seen.rows[2].at), 1700000005500000000);
  EXPECT_TRUE(seen.rows[2].at_has_zone);
  EXPECT_EQ(seen.rows[2].absence(Metric::util_gpu_percent), "not reported");
  EXPECT_TRUE(seen.notes.empty());
}

TEST(PrometheusJson, AVector) {
  const Seen seen = read(
      answer(R"({"metric":{"gpu":"3","__name__":"muster_gpu_power_watts","host":"n\u0031"},)"
             R"("value":[1700000000.123,"9.5"]},{"metric":{"__name__":"up"},"value":[1,"+Inf"]},)"
             R"({"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","gpu":"4"},)"
             R"("value":[1700000000,"9223372036854775794"]})",
             "vector"));
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_EQ(seen.rows[0].absence(Metric::power_w), "blank");
  EXPECT_EQ(seen.rows[1].host, "n1");
  EXPECT_EQ(seen.rows[1].value(Metric::power_w), 9.5);
  EXPECT_TRUE(seen.notes.empty());
  EXPECT_TRUE(read(answer("")).rows.empty());
  EXPECT_TRUE(read(answer("")).notes.empty());
}

TEST(PrometheusJson, ErrorsAndJunk) {
  const Seen error =
      read(R"({"status":"error","errorType":"bad_data","error":"1:3: parse error"})");
  ASSERT_EQ(error.notes.size(), 1U);
  EXPECT_EQ(error.notes[0].kind, NoteKind::source_error);
  EXPECT_EQ(error.notes[0].text, "bad_data: 1:3: parse error");
  EXPECT_EQ(read(R"({"status":"error"})").notes.at(0).text, "error: no reason given");
  EXPECT_EQ(read(R"({"status":"success","data":{"result":7}})").count(NoteKind::schema), 1);
  for (const char* junk : {"{", "[]", "null", "{\"status\":", "\"", "{\"result\"", "\xff\xfe"}) {
    EXPECT_EQ(read(junk).count(NoteKind::truncated), 1) << junk;
  }
  EXPECT_TRUE(read(" \n").notes.empty());
  EXPECT_TRUE(read(answer(std::string(100000, '['))).rows.empty());
}

TEST(PrometheusJson, CutAndFlippedAtEveryByte) {
  const std::string text = answer(result("0", R"([1700000000,"1"],[1700000005,"2"])") + "," +
                                  result("1", R"([1700000006,"3"])"));
  for (std::size_t n = 1; n < text.size(); ++n) {
    const Seen part = read(text.substr(0, n));
    ASSERT_EQ(part.count(NoteKind::truncated), n + 1 == text.size() ? 0 : 1) << n;
    ASSERT_TRUE(part.rows.empty() || part.rows.size() >= 2) << n;
  }
  testkit::flip_everywhere(make_prometheus_json_decoder, text);
}

TEST(PrometheusJson, IsRecognised) {
  EXPECT_TRUE(looks_like_prometheus_json(answer("")));
  EXPECT_TRUE(looks_like_prometheus_json(R"({"status":"error","errorType":"timeout"})"));
  for (const char* head : {"", "{}", "[1]", R"({"status":"ok"})", R"({"step":1,"loss":2})",
                           R"(x {"status":"success","data":{"resultType":"vector"}})"}) {
    EXPECT_FALSE(looks_like_prometheus_json(head)) << head;
  }
}

}  // namespace
}  // namespace muster
