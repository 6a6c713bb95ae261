#include "core/telemetry/csv_decoder.h"

#include <gtest/gtest.h>

#include "tests/support/decode_text.h"

namespace muster {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string wanted;
};

const std::string kT = "2026/05/14 09:10:00.000, ";
const std::string kAt = "2026-05-14T09:10:00Z ";

std::vector<Row> query_rows() {
  return {
      {"units",
       "timestamp, index, power.draw [W], utilization.gpu [%], memory.used [MiB]\n" + kT +
           "3, 988.00 W, 97 %, 2 MiB\n",
       kAt + "gpu 3 power_w=988 util_gpu_percent=97 mem_used_bytes=2097152\n"},
      {"nounits", "timestamp, index, power.draw [W], memory.used [MiB]\n" + kT + "3, 988.00, 2\n",
       kAt + "gpu 3 power_w=988 mem_used_bytes=2097152\n"},
      {"bom_crlf_semicolon", "\xef\xbb\xbfindex;power.draw [W]\r\n0;569,3\r\n",
       "gpu 0 power_w=569.3\n"},
      {"two_heads", "index, power.draw [W]\n0, 1\npower.draw [W], index\n2, 1\n",
       "gpu 0 power_w=1\ngpu 1 power_w=2\n"},
      {"host_rank_name", "host, index, rank, name, power.draw [W]\nn1, 0, 8, NVIDIA B300, 5 W\n",
       "n1 gpu 0 rank 8 'NVIDIA B300' power_w=5\n"},
      {"no_index",
       "timestamp, power.draw [W]\n" + kT +
           "1 W\n2026/05/14 09:10:00.001, 2 W\n"
           "2026/05/14 09:10:01.000, 3 W\n",
       kAt + "gpu 0 power_w=1\nnote schema@3: rows name no GPU: they were numbered by the "
             "repetition of "
             "their time\n2026-05-14T09:10:00.001Z gpu 1 power_w=2\n2026-05-14T09:10:01Z gpu 0 "
             "power_w=3\n"},
      {"no_index_no_time", "power.draw [W], pstate\n1 W, P0\n2 W, P8\n",
       "gpu 0 power_w=1 pstate=0\nnote schema@3: rows name no GPU and no time: they were numbered "
       "in "
       "their order\ngpu 1 power_w=2 pstate=8\n"},
      {"throttle_columns",
       "index, clocks_throttle_reasons.sw_power_cap, "
       "clocks_event_reasons.hw_slowdown\n0, Active, Not Active\n1, Active, Active\n",
       "gpu 0 throttle_mask=4\ngpu 1 throttle_mask=12\n"},
      {"mask", "index, clocks_event_reasons.active\n0, 0x0000000000000004\n",
       "gpu 0 throttle_mask=4\n"},
      {"one_metric_twice",
       "index, power.draw [W], power.draw.average [W]\n0, 5 W, [N/A]\n1, [N/A], 6 W\n",
       "gpu 0 power_w=5\ngpu 1 power_w=6\n"},
      {"mig", "index, mig.mode.current, utilization.gpu [%]\n0, Enabled, [N/A]\n1, Disabled, 5 %\n",
       "gpu 0 mig_mode=1 util_gpu_percent=(MIG is on)\ngpu 1 mig_mode=0 util_gpu_percent=5\n"},
      {"last_line_whole", "index, power.draw [W]\n0, 988.00 W\n1, 5.00 W",
       "gpu 0 power_w=988\ngpu 1 power_w=5\n"},
  };
}

std::vector<Row> query_bad_rows() {
  const std::string h = "index, power.draw [W]\n";
  const auto one = [&](std::string_view cell, std::string_view absence) {
    return Row{cell.data(), h + "0, " + std::string(cell) + "\n",
               "gpu 0 power_w=(" + std::string(absence) + ")\n"};
  };
  const auto damaged = [](std::string_view why) {
    return "note damaged_line@2: " + std::string(why) + "\n";
  };
  return {
      one("[N/A]", "not reported"),
      one("N/A", "not reported"),
      one("-", "not reported"),
      one("[Not Found]", "not reported"),
      one("[Unknown]", "not reported"),
      one("", "not reported"),
      one("[Not Supported]", "unsupported"),
      one("Not Supported", "unsupported"),
      one("[Requested functionality has been deprecated]", "unsupported"),
      one("[Insufficient Permissions]", "no permission"),
      one("[GPU is lost]", "GPU lost"),
      one("[GPU requires reset]", "needs reset"),
      one("[Unknown Error]", "read error"),
      one("ERR!", "read error"),
      one("nan", "read error"),
      one("5 parsecs", "malformed"),
      one("1.2.3", "malformed"),
      one("0xzz", "malformed"),
      {"too_few", h + "0\n", damaged("another number of cells than the heading")},
      {"too_many", h + "0, 1, 2\n", damaged("another number of cells than the heading")},
      {"index_is_a_word", h + "x1, 5 W\n", damaged("its time or GPU cannot be read")},
      {"bad_time", "timestamp, index, power.draw [W]\n2026/13/14 09:10:00.000, 0, 5 W\n",
       damaged("its time or GPU cannot be read")},
      {"nul_tail", h + std::string("\0\0\0", 3), "note truncated@2: NUL bytes in the line\n"},
      {"nul_in_front", h + std::string("\0\0", 2) + "0, 5 W\n",
       damaged("NUL bytes in front of the line") + "gpu 0 power_w=5\n"},
      {"cut_unit", h + "0, 988.00 W\n1, 98",
       "gpu 0 power_w=988\nnote truncated@3: the last line is cut\n"},
      {"cut_decimals", h + "0, 988.00\n1, 988.0",
       "gpu 0 power_w=988\nnote truncated@3: the last line is cut\n"},
      {"cut_cells", h + "0, 5 W\n20", "gpu 0 power_w=5\nnote truncated@3: the last line is cut\n"},
      {"lost_between",
       h + "Unable to determine the device handle for GPU3: 0000:5e:00.0: Unknown Error\n"
           "4, 5 W\n",
       "note gpu_lost@2 gpu 3 0000:5e:00.0: Unable to determine the device handle for GPU3: "
       "0000:5e:00.0: Unknown Error\ngpu 4 power_w=5\n"},
      {"empty", "", ""},
      {"prose_first", "hello\n" + h + "0, 5 W\n",
       "note damaged_line@1: before the heading\ngpu 0 power_w=5\n"},
  };
}

std::vector<Row> table_rows() {
  return {
      {"tasks",
       "timestamp,task,rack,accelerator_util_pct,cpu_cores\n2026-09-04T00:24:00Z,112,7,,4.05\n",
       "2026-09-04T00:24:00Z+ task rank 112 'rack=7' util_gpu_percent=(not reported) "
       "cpu_cores=4.05\n"},
      {"nodes", "time_ms,node,power_w\n2000,n1,5000.5\n",
       "1970-01-01T00:00:02Z+ n1 node node_power_w=5000.5\n"},
      {"wide", "time_s,step,rank0_util,rank0_w,others_util_min,others_w_mean\n1,7,0,194,100,\n",
       "1970-01-01T00:00:01Z+ gpu rank 0 step=7 util_gpu_percent=0 power_w=194\n"
       "1970-01-01T00:00:01Z+ gpu 'others' step=7 util_gpu_percent=100 power_w=(not reported)\n"},
      {"quotes", "host,gpu,power_w\n\"n1\",\"0\",5\n", "n1 gpu 0 power_w=5\n"},
      {"bad_rank", "task,cpu_cores\n-1,5\n",
       "note damaged_line@2: its time or GPU cannot be read\n"},
      {"bad_time", "time_s,gpu,power_w\nlater,0,5\n",
       "note damaged_line@2: its time or GPU cannot be read\n"},
      {"time_beyond_reason", "time_s,gpu,power_w\n1e300,0,5\n",
       "note damaged_line@2: its time or GPU cannot be read\n"},
      {"open_quote", "gpu,power_w\n\"0,5\n",
       "note damaged_line@2: its time or GPU cannot be read\n"},
  };
}

TEST(CsvDecoder, Query) {
  for (const Row& row : query_rows())
    EXPECT_EQ(decode_text(Dialect::nvsmi_csv, row.text), row.wanted) << row.name;
}

TEST(CsvDecoder, QueryBad) {
  for (const Row& row : query_bad_rows())
    EXPECT_EQ(decode_text(Dialect::nvsmi_csv, row.text), row.wanted) << row.name;
}

TEST(CsvDecoder, Table) {
  for (const Row& row : table_rows())
    EXPECT_EQ(decode_text(Dialect::table_csv, row.text), row.wanted) << row.name;
}

TEST(CsvDecoder, MappedColumns) {
  const DecoderOptions options{
      {{"time", "when_s"}, {"host", "box"}, {"index", "card"}, {"power_w", "juice"}}};
  EXPECT_EQ(
      decode_text(Dialect::table_csv, "when_s,box,card,juice,util\n5,n1,2,300,99\n", 4096, options),
      "1970-01-01T00:00:05Z+ n1 gpu 2 power_w=300\n");
}

TEST(CsvDecoder, RowsThatCannotBeToldApart) {
  std::string text = "power.draw [W], pstate\n";
  for (int i = 0; i < 40; ++i) text += "5 W, P0\n";
  const std::string said = decode_text(Dialect::nvsmi_csv, text);
  EXPECT_NE(said.find("gpu 15 power_w"), std::string::npos);
  EXPECT_EQ(said.find("gpu 16 power_w"), std::string::npos);
  EXPECT_NE(said.find("note schema@18: rows without time and GPU go on"), std::string::npos);
  EXPECT_EQ(said.find("note schema@19"), std::string::npos);
}

TEST(CsvDecoder, HoldsUnderDamage) {
  for (const Row& row : query_rows()) expect_holds_under_damage(Dialect::nvsmi_csv, row.text);
  for (const Row& row : table_rows()) expect_holds_under_damage(Dialect::table_csv, row.text);
}

}  // namespace
}  // namespace muster
