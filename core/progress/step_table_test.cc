#include "core/progress/step_table.h"

#include <gtest/gtest.h>

#include <string>

#include "core/progress/transcript.h"

namespace muster {
namespace {

struct Read {
  std::string text;
  std::uint64_t bad = 0;
  std::string complaint;
};

// What the transcript does not tell is asked of the records.
class Collected : public ProgressSink {
 public:
  void step(const StepRecord& record) override { steps.push_back(record); }
  void event(const ProgressEvent&) override {}
  std::vector<StepRecord> steps;
};

Read read(std::string_view table, std::string_view columns = "", std::size_t chunk = 0) {
  StepTableDecoder decoder(*parse_step_columns(columns));
  Transcript sink;
  if (chunk == 0) chunk = table.size() + 1;
  for (std::size_t at = 0; at < table.size(); at += chunk) {
    decoder.feed(table.substr(at, chunk), sink);
  }
  decoder.finish(sink);
  return {sink.text(), decoder.bad_rows(), decoder.complaint()};
}

struct Row {
  const char* name;
  const char* table;
  const char* said;
  std::uint64_t bad = 0;
};

class Tables : public testing::TestWithParam<Row> {};

TEST_P(Tables, Read) {
  const Read got = read(GetParam().table);
  EXPECT_EQ(got.text, GetParam().said);
  EXPECT_EQ(got.bad, GetParam().bad);
  EXPECT_EQ(read(GetParam().table, "", 1).text, got.text) << "cut at every byte";
}

constexpr Row kTables[] = {
    // Bad rows first: each loses itself only.
    {"no_step", "step,step_time\n,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"step_is_a_word", "step,step_time\nabc,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"step_is_negative", "step,step_time\n-1,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"step_is_a_fraction", "step,step_time\n1.5,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"step_is_huge", "step,step_time\n1e300,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"step_is_nan", "step,step_time\nnan,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"row_of_words", "step,step_time\nsaving a checkpoint\n2,4.8\n", "step 2 dt=4.8", 1},
    {"quote_never_closed", "step,step_time\n\"1,4.9\n2,4.8\n", "step 2 dt=4.8", 1},
    {"time_is_negative", "step,step_time\n1,-4.9\n", "step 1"},
    {"time_is_zero", "step,step_time\n1,0\n", "step 1"},
    {"time_is_inf", "step,step_time\n1,inf\n", "step 1"},
    {"time_is_missing", "step,step_time\n1,\n2,4.8\n", "step 1; step 2 dt=4.8"},
    {"row_is_short", "step,step_time,tok_per_s\n1,4.9\n", "step 1 dt=4.9"},
    {"row_is_long", "step,step_time\n1,4.9,7,8,9\n", "step 1 dt=4.9"},
    {"cell_with_a_unit", "step,step_time\n1,4.9s\n", "step 1"},
    {"mfu_beyond_all", "step,mfu\n1,250\n", "step 1"},
    // Good ones.
    {"plain", "step,step_time_s,tok_per_s\n0,4.938,53088\n", "step 0 tps=53088 dt=4.938"},
    {"order_and_noise", "host,tok/s,note,iteration\nn1,53000,x,7\n", "step 7 tps=53000"},
    {"milliseconds", "iter,iter_time_ms\n3,4950\n", "step 3 dt=4.95"},
    {"milliseconds_in_brackets", "Step;Step time (ms)\n3;4950\n", "step 3 dt=4.95"},
    {"time_per_iteration", "iteration,time per iteration\n3,0.5\n", "step 3 dt=0.5"},
    {"tabs", "step\tdt\n3\t0.5\n", "step 3 dt=0.5"},
    {"quoted", "\"step\",\"step_time\"\n\"3\",\"0.5\"\n", "step 3 dt=0.5"},
    {"crlf_and_mark", "\xef\xbb\xbfstep,step_time\r\n3,0.5\r\n", "step 3 dt=0.5"},
    {"steps_of_pandas", "step,step_time\n3.0,0.5\n", "step 3 dt=0.5"},
    {"parts_are_no_whole", "step,forward_time,step_time\n3,0.2,0.5\n", "step 3 dt=0.5"},
    {"evaluation_is_no_step", "step,eval_time,step_time\n3,30,0.5\n", "step 3 dt=0.5"},
    {"counts_rows", "step_time\tloss\n0.5\t2\n0.6\t1\n",
     "step 0 loss=2 dt=0.5; step 1 loss=1 dt=0.6"},
    {"heading_again", "step,dt\n1,0.5\nstep,dt\n1,0.6\n", "step 1 dt=0.5; step 1 dt=0.6"},
    {"comment_and_blank", "step,dt\n# resumed\n\n1,0.5\n", "step 1 dt=0.5"},
    {"mfu_in_per_cent", "step,mfu\n1,30.7%\n2,0.31\n", "step 1 mfu=0.307; step 2 mfu=0.31"},
    {"total", "step,total_steps,dt\n1,400,0.5\n", "step 1/400 dt=0.5"},
};
INSTANTIATE_TEST_SUITE_P(Rows, Tables, testing::ValuesIn(kTables),
                         [](const auto& row) { return row.param.name; });

TEST(StepTable, LoadingRankElapsedAndTime) {
  Collected sink;
  StepTableDecoder decoder;
  decoder.feed(
      "step,rank,unix_offset_s,data_wait_ms,step_time,time\n"
      "5,3,25,1500,4.9,2026-08-01T10:00:00Z\n"
      "6,x,30,-1,4.9,1786000000\n"
      "7,4,31,2,4.9,1786000000123\n"
      "8,4,32,2,4.9,soon\n",
      sink);
  decoder.finish(sink);
  ASSERT_EQ(sink.steps.size(), 4u);
  EXPECT_EQ(sink.steps[0].rank, 3);
  EXPECT_EQ(sink.steps[0].elapsed_s, 25);
  EXPECT_EQ(sink.steps[0].loading_s, 1.5);
  EXPECT_TRUE(sink.steps[0].at && sink.steps[0].at_has_zone);
  EXPECT_FALSE(sink.steps[1].rank);
  EXPECT_FALSE(sink.steps[1].loading_s) << "a missing value is not zero";
  EXPECT_EQ(wall_to_ns(*sink.steps[1].at), 1'786'000'000'000'000'000);
  EXPECT_EQ(wall_to_ns(*sink.steps[2].at) / 1'000'000, 1'786'000'000'123);
  EXPECT_FALSE(sink.steps[3].at);
  EXPECT_EQ(sink.steps[3].line, 5u);
}

TEST(StepTable, ColumnsOfTheUser) {
  EXPECT_EQ(read("it,t,x\n1,250,9\n", "step=it,step_time=t:ms").text, "step 1 dt=0.25");
  EXPECT_EQ(read("a,b\n1,2\n", "step_time=c").complaint, "no column is called 'c'");
  EXPECT_EQ(read("a,b\n1,2\n").complaint.substr(0, 22), "no column of step time");
  for (const char* bad : {"step", "speed=t", "=t", "step=", "step_time=:ms", "step=a,,"}) {
    EXPECT_FALSE(parse_step_columns(bad)) << bad;
  }
}

TEST(StepTable, KnowsItsOwn) {
  for (const char* table :
       {"step,step_time_s\n0,1\n", "iteration;iter time (ms)\n", "Wall time,Step,tokens_per_sec\n",
        "step,unix_offset_s\n", "\"step\",\"mfu\"\n"}) {
    EXPECT_TRUE(looks_like_step_table(table)) << table;
  }
  for (const char* other :
       {"", "step\n", "time_ms,key,step,value\n", "timestamp, index, power.draw [W]\n", "a,b,c\n",
        "2027-02-03 04:05:06,789 - INFO - step 7/90 loss 3.1 step_time 1.50s\n",
        "WARN 2027-02-03 04:05:06,789 root step 7 mfu 0.4 step_time 1.5\n", "1,4.9,53000\n",
        "step: 480, loss: 1.84, dt: 4.9\n", "step 480/4000 loss 1.8, tok/s 53012\n",
        "step=1,step_time=2\n", "{\"step\": 1, \"step_time\": 2}\n", "epoch,loss\n",
        "{\"step\":1,\"loss\":7.6,\"step_ms\":235.7}\n"}) {
    EXPECT_FALSE(looks_like_step_table(other)) << other;
  }
}

// Every byte flipped: whatever is lost, the rows behind the damaged one stay.
TEST(StepTable, FlippedAtEveryByte) {
  const std::string table = "step,step_time,tok_per_s\n1,4.9,53000\n2,4.8,53100\n3,4.7,53200\n";
  const std::size_t heading = table.find('\n') + 1;
  for (std::size_t i = heading; i < table.size(); ++i) {
    std::string damaged = table;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const Read got = read(damaged);
    const int rows = static_cast<int>(got.text.find("dt=4.9") != std::string::npos) +
                     static_cast<int>(got.text.find("dt=4.8") != std::string::npos) +
                     static_cast<int>(got.text.find("dt=4.7") != std::string::npos);
    EXPECT_GE(rows, 1) << i << got.text;
  }
}

struct NameRow {
  const char* name;
  StepQuantity quantity;
  double scale = 1;
};

TEST(StepNames, AreKnownByTheirWords) {
  using Q = StepQuantity;
  for (const NameRow& row : {
           NameRow{"", Q::none},
           {"lr", Q::none},
           {"grad_norm", Q::none},
           {"epoch", Q::none},
           {"gpu_time", Q::none},
           {"val/step_time", Q::none},
           {"eval_loss", Q::none},
           {"save_time", Q::none},
           {"steps_per_second", Q::none},
           {"num_tokens", Q::none},
           {"backward_time_ms", Q::none, 1e-3},
           {"memory_s", Q::none},
           {"perf/step_time", Q::step_time},
           {"train_step_time_seconds", Q::step_time},
           {"iterationTimeMs", Q::step_time, 1e-3},
           {"time_per_step", Q::step_time},
           {"step_us", Q::step_time, 1e-6},
           {"dt", Q::step_time},
           {"loading_time_s", Q::loading},
           {"data_wait", Q::loading},
           {"dataloader_time_ms", Q::loading, 1e-3},
           {"throughput/tokens_per_sec", Q::tokens},
           {"tok/s", Q::tokens},
           {"tps", Q::tokens},
           {"samples_per_second", Q::tokens},
           {"train/loss", Q::loss},
           {"global_step", Q::step},
           {"max_steps", Q::total},
           {"rank", Q::rank},
           {"unix_offset_s", Q::elapsed},
           {"timestamp", Q::time},
           {"wall_time", Q::time},
           {"MFU", Q::mfu},
       }) {
    const NamedQuantity got = step_quantity(row.name);
    EXPECT_EQ(static_cast<int>(got.quantity), static_cast<int>(row.quantity)) << row.name;
    EXPECT_EQ(got.scale, row.scale) << row.name;
  }
}

}  // namespace
}  // namespace muster
