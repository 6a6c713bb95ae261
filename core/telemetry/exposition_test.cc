#include "core/telemetry/exposition.h"

#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace {

TEST(Exposition, TheTableIsInTheOrderOfMetricsAndNamesAreUnique) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < exposition_table().size(); ++i) {
    const ExpositionRow& row = exposition_table()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.metric), i) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    const bool counter = metric_row(row.metric).kind == MetricKind::counter;
    EXPECT_EQ(row.name.ends_with("_total"), counter) << row.name;
    EXPECT_EQ(exposition_from_name(row.name), &row);
  }
  EXPECT_EQ(exposition_from_name("muster_gpu_power"), nullptr);
  EXPECT_EQ(exposition_from_name("DCGM_FI_DEV_POWER_USAGE"), nullptr);
}

TEST(Exposition, UnitsComeBack) {
  for (const PageUnit unit : {PageUnit::same, PageUnit::ratio, PageUnit::hertz, PageUnit::mebibytes,
                              PageUnit::millijoule}) {
    for (int value = 0; value <= 100; ++value) {
      EXPECT_DOUBLE_EQ(from_page_unit(unit, to_page_unit(unit, value)), value);
    }
  }
  EXPECT_EQ(from_page_unit(PageUnit::ratio, 0.57), 57);
}

TEST(Exposition, WritesAPage) {
  const MetricReading readings[] = {
      {Metric::power_w, Reading::of(627.02)},
      {Metric::util_gpu_percent, Reading::of(97)},
      {Metric::ecc_corrected, Reading::absent(Absence::lost)},
  };
  TelemetryRow row;
  row.key.host = "n1";
  row.key.index = 3;
  row.key.uuid = "GPU-1";
  row.key.name = "a \"quoted\" \\ name\n\x1b[31m\xff";
  row.readings = readings;
  const std::string page = render_exposition({&row, 1});
  const std::string labels =
      R"({host="n1",gpu="3",uuid="GPU-1",model="a \"quoted\" \\ name\\n\\x1b[31m\\xff")";
  EXPECT_EQ(page,
            "# HELP muster_gpu_power_watts board power\n"
            "# TYPE muster_gpu_power_watts gauge\n"
            "muster_gpu_power_watts" +
                labels +
                "} 627.02\n"
                "# HELP muster_gpu_utilization_ratio share of time with a kernel resident\n"
                "# TYPE muster_gpu_utilization_ratio gauge\n"
                "muster_gpu_utilization_ratio" +
                labels +
                "} 0.97\n"
                "# HELP muster_absent a value that the source could not give, and why\n"
                "# TYPE muster_absent gauge\n"
                "muster_absent" +
                labels +
                R"(,metric="ecc_corrected",reason="GPU lost"} 1)"
                "\n");
}

TEST(Exposition, ARowOfAnotherKindSaysSo) {
  const MetricReading reading{Metric::util_gpu_percent, Reading::of(5)};
  TelemetryRow row;
  row.key.kind = SeriesKind::task;
  row.key.rank = 7;
  row.readings = {&reading, 1};
  EXPECT_NE(render_exposition({&row, 1}).find(
                "muster_gpu_utilization_ratio{rank=\"7\",kind=\"task\"} 0.05\n"),
            std::string::npos);
  EXPECT_EQ(render_exposition({}), "");
}

}  // namespace
}  // namespace muster
