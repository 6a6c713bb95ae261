#include "core/telemetry/nvsmi_scroll.h"

#include <gtest/gtest.h>

#include "tests/support/decode_text.h"

namespace muster {
namespace {

constexpr std::string_view kDmon =
    "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk \n"
    "# Idx      W      C      C      %      %    MHz    MHz \n";
constexpr std::string_view kDated =
    "#Date       Time        gpu    pwr     sm\n"
    "#YYYYMMDD   HH:MM:SS    Idx      W      %\n";
constexpr std::string_view kPmon =
    "# gpu         pid   type     sm    mem    command \n"
    "# Idx           #    C/G      %      %    name \n";

struct Row {
  const char* name;
  Dialect dialect;
  std::string text;
  std::string wanted;
};

std::string with(std::string_view heading, std::string_view rows) {
  return std::string(heading) + std::string(rows);
}

std::vector<Row> good_rows() {
  return {
      {"dmon", Dialect::nvsmi_dmon,
       with(kDmon, "    0    630     53     41    100      8   3201   1980 \n"),
       "gpu 0 power_w=630 temperature_c=53 mem_temperature_c=41 util_gpu_percent=100 "
       "util_mem_percent=8 mem_clock_mhz=3201 sm_clock_mhz=1980\n"},
      {"dmon_old", Dialect::nvsmi_dmon,
       "# gpu   pwr  temp    sm\n# Idx     W     C     %\n    3    40    30     -\n",
       "gpu 3 power_w=40 temperature_c=30 util_gpu_percent=(not reported)\n"},
      {"dmon_memory_and_errors", Dialect::nvsmi_dmon,
       "# gpu  fb  bar1 sbecc dbecc pci\n 0 2 1 3 - 4\n",
       "gpu 0 mem_used_bytes=2097152 ecc_corrected=3 ecc_uncorrected=(not reported) "
       "pcie_replays=4\n"},
      {"dmon_dated", Dialect::nvsmi_dmon,
       with(kDated, " 20240104   13:54:35      1     90    100\n"),
       "2024-01-04T13:54:35Z gpu 1 power_w=90 util_gpu_percent=100\n"},
      {"dmon_midnight", Dialect::nvsmi_dmon, "#Time  gpu  pwr\n 23:59:59 0 5\n 00:00:01 0 6\n",
       "note schema@1: the times have no date\n1970-01-01T23:59:59Z gpu 0 power_w=5\n"
       "1970-01-02T00:00:01Z gpu 0 power_w=6\n"},
      {"dmon_heading_again", Dialect::nvsmi_dmon, with(kDmon, with(kDmon, "0 1 2 3 4 5 6 7\n")),
       "gpu 0 power_w=1 temperature_c=2 mem_temperature_c=3 util_gpu_percent=4 util_mem_percent=5 "
       "mem_clock_mhz=6 sm_clock_mhz=7\n"},
      {"pmon_idle", Dialect::nvsmi_pmon,
       with(kPmon, "  0  -  -  -  -  -  \n  0  -  -  -  -  -  \n"),
       "gpu 0 util_gpu_percent=(not reported) util_mem_percent=(not reported)\n"
       "gpu 0 util_gpu_percent=(not reported) util_mem_percent=(not reported)\n"},
      {"pmon_folds", Dialect::nvsmi_pmon,
       with(kPmon, " 0 10 C  - 1 hog\n 0 11 C 99 7 burn it\n 0 12 C 4 - x\n 1 13 C 5 5 y\n"),
       "gpu 0 util_gpu_percent=99 util_mem_percent=7\ngpu 1 util_gpu_percent=5 "
       "util_mem_percent=5\n"},
      {"pmon_next_tick", Dialect::nvsmi_pmon,
       with(kPmon, " 0 10 C 20 1 a\n 0 11 C 10 1 b\n 0 10 C 5 1 a\n"),
       "gpu 0 util_gpu_percent=20 util_mem_percent=1\ngpu 0 util_gpu_percent=5 "
       "util_mem_percent=1\n"},
      {"pmon_memory_adds_up", Dialect::nvsmi_pmon,
       "# gpu pid type fb sm command\n 0 1 C 2 1 a\n 0 2 C 3 - b\n",
       "gpu 0 mem_used_bytes=5242880 util_gpu_percent=1\n"},
  };
}

std::vector<Row> bad_rows() {
  const Dialect d = Dialect::nvsmi_dmon;
  const auto damaged = [](std::string_view why, int line = 2) {
    return "note damaged_line@" + std::to_string(line) + ": " + std::string(why) + "\n";
  };
  const std::string h = "# gpu pwr sm\n";
  const char* number = "another number of cells than the heading";
  return {
      {"empty", d, "", ""},
      {"no_heading", d, "0 1 2\n", damaged("before the heading", 1)},
      {"units_only", d, "# Idx W %\n0 1 2\n", damaged("before the heading")},
      {"too_few", d, h + "0 1\n", damaged(number)},
      {"too_many", d, h + "0 1 2 3\n", damaged(number)},
      {"gpu_is_no_number", d, h + "0x 1 2\n", damaged("its time or GPU cannot be read")},
      {"gpu_beyond_reason", d, h + "99999 1 2\n", damaged("its time or GPU cannot be read")},
      {"gpu_negative", d, h + "-1 1 2\n", damaged("neither a row nor a heading")},
      {"free_text", d, h + "hello\n", damaged("neither a row nor a heading")},
      {"bad_cell", d, h + "0 1y 2\n", "gpu 0 power_w=(malformed) util_gpu_percent=2\n"},
      {"error_cell", d, h + "0 ERR! 2\n", "gpu 0 power_w=(read error) util_gpu_percent=2\n"},
      {"nul", d, h + std::string("0 1 \0\n", 6), damaged("NUL bytes in the line")},
      {"cut", d, h + "0 100 200\n0 100 2",
       "gpu 0 power_w=100 util_gpu_percent=200\n"
       "note truncated@3: the last line is cut\n"},
      {"cut_cells", d, h + "0 10", "note truncated@2: the last line is cut\n"},
      {"cut_heading", d, h + "# gpu p", "note truncated@2: the last line is cut\n"},
      {"bad_date", d, "#Date Time gpu pwr\n20241301 00:00:00 0 5\n",
       damaged("its time or GPU cannot be read")},
      {"bad_clock", d, "#Time gpu pwr\n25:00:00 0 5\n",
       "note schema@1: the times have no date\n" + damaged("its time or GPU cannot be read")},
      {"lost_between", d,
       h + "Unable to determine the device handle for GPU3: 0000:5e:00.0: Unknown Error\n",
       "note gpu_lost@2 gpu 3 0000:5e:00.0: Unable to determine the device handle for GPU3: "
       "0000:5e:00.0: Unknown Error\n"},
      {"new_heading", d, h + "# gpu sm\n0 5\n",
       "note schema@2: the heading changed\ngpu 0 util_gpu_percent=5\n"},
      {"pmon_cut", Dialect::nvsmi_pmon, with(kPmon, "0 1 C 5 5 a\n0 2 C 9"),
       "note truncated@4: the last line is cut\ngpu 0 util_gpu_percent=5 util_mem_percent=5\n"},
  };
}

TEST(NvsmiScroll, Good) {
  for (const Row& row : good_rows())
    EXPECT_EQ(decode_text(row.dialect, row.text), row.wanted) << row.name;
}

TEST(NvsmiScroll, Bad) {
  for (const Row& row : bad_rows())
    EXPECT_EQ(decode_text(row.dialect, row.text), row.wanted) << row.name;
}

TEST(NvsmiScroll, HoldsUnderDamage) {
  for (const Row& row : good_rows()) expect_holds_under_damage(row.dialect, row.text);
  for (const Row& row : bad_rows()) expect_holds_under_damage(row.dialect, row.text);
}

}  // namespace
}  // namespace muster
