#include "core/telemetry/dcgmi_dmon.h"

#include <gtest/gtest.h>

#include "tests/support/decode_text.h"

namespace muster {
namespace {

const std::string kHead =
    "#Entity   POWER       GPUTL  SMACT\n"
    "ID        W                       \n";

struct Row {
  const char* name;
  std::string text;
  std::string wanted;
};

std::vector<Row> good_rows() {
  return {
      {"plain", kHead + "GPU 0     627.020     100    0.981\nGPU 1     N/A         99     N/A\n",
       "gpu 0 power_w=627.02 util_gpu_percent=100 sm_active_ratio=0.981\n"
       "gpu 1 power_w=(not reported) util_gpu_percent=99 sm_active_ratio=(not reported)\n"},
      {"indented", "# Entity   POWER\n      Id\n    GPU 3   70.123\n", "gpu 3 power_w=70.123\n"},
      {"other_entities",
       kHead + "GPU-I 3  1 2 3\nGPU 0 LINK 5 1 2 3\nSwitch 0 1 2 3\nCPU 1 2 3 4\n", ""},
      {"heading_again", kHead + "GPU 0 1 2 0\n" + kHead + "GPU 0 3 4 0\n",
       "gpu 0 power_w=1 util_gpu_percent=2 sm_active_ratio=0\n"
       "gpu 0 power_w=3 util_gpu_percent=4 sm_active_ratio=0\n"},
      {"name_with_blanks", "#Entity DVNAM POWER\nGPU 0 NVIDIA H100 80GB HBM3 70\n",
       "gpu 0 'NVIDIA H100 80GB HBM3' power_w=70\n"},
      {"name_cut", "#Entity DVNAM UUID# POWER\nGPU 0 NVIDIA H100 80... GPU-1 70\n",
       "gpu 0 'GPU-1' power_w=70\n"},
      {"units", "#Entity FBUSD TOTEC\nID MB mJ\nGPU 0 2 5000\n",
       "gpu 0 mem_used_bytes=2097152 energy_j=5\n"},
      {"energy_above_31_bits", "#Entity TOTEC\nGPU 0 4000000000000\n",
       "gpu 0 energy_j=4000000000\n"},
  };
}

std::vector<Row> bad_rows() {
  const auto damaged = [](std::string_view why) {
    return "note damaged_line@3: " + std::string(why) + "\n";
  };
  const char* number = "another number of cells than the heading";
  return {
      {"empty", "", ""},
      {"no_heading", "GPU 0 5\n", "note damaged_line@1: before the heading\n"},
      {"heading_of_nothing", "#Entity\nGPU 0 5\n", "note damaged_line@2: before the heading\n"},
      {"too_few", kHead + "GPU 0 5 6\n", damaged(number)},
      {"too_many", kHead + "GPU 0 5 6 7 8\n", damaged(number)},
      {"no_number", kHead + "GPU x 5 6 7\n", damaged("neither a row nor a heading")},
      {"index_beyond_reason", kHead + "GPU 99999 5 6 7\n", damaged("its GPU cannot be read")},
      {"nul", kHead + std::string("GPU 0 5 \0\n", 10), damaged("NUL bytes in the line")},
      {"blank_32", "#Entity GPUTL\nGPU 0 2147483632\n", "gpu 0 util_gpu_percent=(blank)\n"},
      {"blank_64", "#Entity TOTEC\nGPU 0 9223372036854775794\n", "gpu 0 energy_j=(blank)\n"},
      {"blank_double", "#Entity POWER\nGPU 0 140737488355328.000\n", "gpu 0 power_w=(blank)\n"},
      {"malformed", "#Entity POWER\nGPU 0 12.3.4\n", "gpu 0 power_w=(malformed)\n"},
      {"cut", kHead + "GPU 0     627.020     100    0.981\nGPU 1     627.020     100    0.9",
       "gpu 0 power_w=627.02 util_gpu_percent=100 sm_active_ratio=0.981\n"
       "note truncated@4: the last line is cut\n"},
      {"cut_cells", kHead + "GPU 1     62",
       "note truncated@3: another number of cells than the heading\n"},
      {"cut_heading", kHead + "#Entity PO", "note truncated@3: the last line is cut\n"},
      {"new_heading", kHead + "#Entity POWER\nGPU 0 5\n",
       "note schema@3: the heading changed\ngpu 0 power_w=5\n"},
      {"watches",
       "Error setting watches. Result: The third-party Profiling module returned an "
       "unrecoverable error\n",
       "note source_error@1: Error setting watches. Result: The third-party Profiling module "
       "returned "
       "an unrecoverable error\n"},
      {"no_engine", kHead + "Error: Host engine is not running\n",
       "note driver_missing@3: Error: Host engine is not running\n"},
  };
}

TEST(DcgmiDmon, Good) {
  for (const Row& row : good_rows()) {
    EXPECT_EQ(decode_text(Dialect::dcgmi_dmon, row.text), row.wanted) << row.name;
  }
}

TEST(DcgmiDmon, Bad) {
  for (const Row& row : bad_rows()) {
    EXPECT_EQ(decode_text(Dialect::dcgmi_dmon, row.text), row.wanted) << row.name;
  }
}

TEST(DcgmiDmon, HoldsUnderDamage) {
  for (const Row& row : good_rows()) expect_holds_under_damage(Dialect::dcgmi_dmon, row.text);
  for (const Row& row : bad_rows()) expect_holds_under_damage(Dialect::dcgmi_dmon, row.text);
}

}  // namespace
}  // namespace muster
