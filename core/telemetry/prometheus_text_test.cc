#include "core/telemetry/prometheus_text.h"

#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "core/telemetry/decoder_test_kit.h"
#include "core/telemetry/exposition.h"

namespace muster {
namespace {

using testkit::Seen;

Seen read(std::string_view page) {
  return testkit::decode(make_prometheus_text_decoder, page);
}

struct BadLine {
  const char* name;
  const char* line;
};
constexpr BadLine kBad[] = {
    {"no_value", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"}\n"},
    {"word_for_value", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} N/A\n"},
    {"unit_in_value", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 12W\n"},
    {"open_quote", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0} 12\n"},
    {"open_brace", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\" 12\n"},
    {"no_equals", "DCGM_FI_DEV_POWER_USAGE{gpu \"0\"} 12\n"},
    {"no_quotes", "DCGM_FI_DEV_POWER_USAGE{gpu=0} 12\n"},
    {"no_comma", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"UUID=\"x\"} 12\n"},
    {"lone_backslash", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\\\n"},
    {"glued_value", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"}12\n"},
    {"bad_stamp", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 12 yesterday\n"},
    {"negative_stamp", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 12 -5\n"},
    {"huge_stamp", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 12 9223372036854775807\n"},
    {"two_samples", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 12 1700000000000 7\n"},
    {"name_from_digit", "0DCGM{gpu=\"0\"} 12\n"},
    {"html", "<html>404 page not found</html>\n"},
    {"overflow", "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1e999\n"},
};

TEST(PrometheusText, BadLinesAreLostAlone) {
  for (const BadLine& bad : kBad) {
    const std::string page = std::string("DCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 100\n") + bad.line +
                             "DCGM_FI_DEV_POWER_USAGE{gpu=\"2\"} 200\n";
    const Seen seen = read(page);
    ASSERT_EQ(seen.rows.size(), 2U) << bad.name;
    EXPECT_EQ(seen.rows[1].value(Metric::power_w), 200) << bad.name;
    EXPECT_EQ(seen.count(NoteKind::damaged_line), 1) << bad.name;
  }
}

struct Good {
  const char* line;
  Metric metric;
  double value;
};
constexpr Good kGood[] = {
    {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\", UUID=\"GPU-1\" , } 627.02", Metric::power_w, 627.02},
    {"DCGM_FI_DEV_BOARD_POWER_WATTS {gpu=\"0\"}\t627.02  ", Metric::power_w, 627.02},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\"} 1500", Metric::energy_j, 1.5},
    {"DCGM_FI_DEV_FB_USED{gpu=\"0\"} 2", Metric::mem_used_bytes, 2097152},
    {"DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1", Metric::util_gpu_percent, 1},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\"} 1", Metric::util_gpu_percent, 100},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\"} 0.57", Metric::util_gpu_percent, 57},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\"} 57", Metric::util_gpu_percent, 57},
    {"DCGM_FI_PROF_TENSOR_UTIL_RATIO{gpu=\"0\"} 0.4", Metric::tensor_active_ratio, 0.4},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{gpu=\"0\"} 9612044118", Metric::ecc_corrected, 9612044118},
    {"DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",err_code=\"79\",err_msg=\"off \\\"bus\\\"\"} 79",
     Metric::last_xid, 79},
    {"nvidia_smi_clocks_current_sm_clock_hz{uuid=\"1\"} 1.98e+09", Metric::sm_clock_mhz, 1980},
    {"nvidia_smi_utilization_gpu_ratio{uuid=\"1\"} 0.07", Metric::util_gpu_percent, 7},
    {"nvidia_smi_clocks_event_reasons_active{uuid=\"1\"} 132", Metric::throttle_mask, 132},
    {"node_infiniband_link_downed_total{device=\"mlx5_0\",port=\"1\"} 3", Metric::ib_link_downed,
     3},
    {"muster_gpu_sm_clock_hertz{host=\"n1\",gpu=\"0\"} 1980000000", Metric::sm_clock_mhz, 1980},
    {"DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 50 # {trace=\"1\"} 2", Metric::temperature_c, 50},
};

TEST(PrometheusText, NamesAndUnits) {
  for (const Good& good : kGood) {
    const Seen seen = read(std::string(good.line) + "\n");
    ASSERT_EQ(seen.rows.size(), 1U) << good.line;
    EXPECT_DOUBLE_EQ(seen.rows[0].value(good.metric), good.value) << good.line;
    EXPECT_TRUE(seen.notes.empty()) << good.line;
  }
}

TEST(PrometheusText, MissingValuesHaveAReason) {
  const std::pair<const char*, const char*> kRows[] = {
      {"NaN", "not reported"},   {"+Inf", "malformed"},        {"9223372036854775794", "blank"},
      {"2147483634", "blank"},   {"140737488355328", "blank"}, {"140737488355332", "a value"},
      {"2147483636", "a value"},
  };
  for (const auto& [text, reason] : kRows) {
    const Seen seen = read(std::string("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} ") + text + "\n");
    ASSERT_EQ(seen.rows.size(), 1U) << text;
    EXPECT_EQ(seen.rows[0].absence(Metric::power_w), reason) << text;
  }
  // A port may really have sent that much.
  const Seen port = read(
      "node_infiniband_port_data_received_bytes_total{device=\"m\"} "
      "140737488355328\n");
  EXPECT_EQ(port.rows[0].value(Metric::ib_rx_bytes), 140737488355328);
}

TEST(PrometheusText, OneRowForEachSeriesWithItsKey) {
  const Seen seen = read(
      "# HELP DCGM_FI_DEV_GPU_UTIL util\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"3\",UUID=\"GPU-a\",pci_bus_id=\"00000000:18:00.0\","
      "modelName=\"NVIDIA H100\",Hostname=\"n1\",instance=\"10.0.0.1:9400\"} 97\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"4\",UUID=\"GPU-b\",instance=\"n2:9400\"} 5\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"3\",UUID=\"GPU-a\",Hostname=\"n1\"} 627.02\n"
      "http_requests_total{code=\"200\"} 5\n"
      "node_infiniband_state_id{device=\"mlx5_0\",port=\"1\",instance=\"n1:9100\"} 4\n");
  ASSERT_EQ(seen.rows.size(), 3U);
  EXPECT_EQ(seen.rows[0].host, "n1");
  EXPECT_EQ(seen.rows[0].index, 3);
  EXPECT_EQ(seen.rows[0].uuid, "GPU-a");
  EXPECT_EQ(seen.rows[0].pci, "00000000:18:00.0");
  EXPECT_EQ(seen.rows[0].name, "NVIDIA H100");
  ASSERT_EQ(seen.rows[0].readings.size(), 2U);
  EXPECT_EQ(seen.rows[0].readings[0].metric, Metric::power_w);
  EXPECT_FALSE(seen.rows[0].at.has_value());
  EXPECT_EQ(seen.rows[1].host, "n2");
  EXPECT_EQ(seen.rows[2].kind, SeriesKind::port);
  EXPECT_EQ(seen.rows[2].device, "mlx5_0/1");
  EXPECT_TRUE(seen.notes.empty());
}

TEST(PrometheusText, PagesFollowEachOther) {
  const std::string one = "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1\n";
  const std::string two = "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 2\n";
  EXPECT_EQ(read(one + two).rows.size(), 2U);
  EXPECT_EQ(read(one + "# EOF\n" + two).rows.size(), 2U);
  const Seen timed = read("# scraped_at 2026-09-04T08:00:00Z\n" + one +
                          "# scraped_at 2026-09-04T08:01:00Z\n" + two);
  ASSERT_EQ(timed.rows.size(), 2U);
  EXPECT_EQ(format_rfc3339(*timed.rows[1].at), "2026-09-04T08:01:00Z");
  EXPECT_TRUE(timed.rows[1].at_has_zone);
  EXPECT_EQ(read("# scraped_at yesterday\n" + one).count(NoteKind::damaged_line), 1);
  EXPECT_EQ(read("# scraped_at 2026-09-04T08:00:00\n" + one).count(NoteKind::damaged_line), 1);
  const Seen stamped = read(
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1 1700000000000\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 2 1700000001.5\n");
  ASSERT_EQ(stamped.rows.size(), 2U);
  EXPECT_EQ(wall_to_ns(*stamped.rows[0].at), 1700000000000000000);
  EXPECT_EQ(wall_to_ns(*stamped.rows[1].at), 1700000001500000000);
}

TEST(PrometheusText, OnceSeenAsPercentARatioStaysPercent) {
  const Seen seen = read(
      "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\"} 1\n"
      "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"1\"} 97\n"
      "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\"} 1\n");
  ASSERT_EQ(seen.rows.size(), 3U);
  EXPECT_EQ(seen.rows[0].value(Metric::util_gpu_percent), 1);
  EXPECT_EQ(seen.rows[2].value(Metric::util_gpu_percent), 1);
}

TEST(PrometheusText, InstancesOfMigAreOneGpu) {
  const std::string one =
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",GPU_I_ID=\"7\"} 300\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",GPU_I_ID=\"7\"} 0.1\n";
  const std::string two =
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",GPU_I_ID=\"8\"} 300\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",GPU_I_ID=\"8\"} 0.9\n";
  const Seen seen = read(one + two);
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.rows[0].value(Metric::power_w), 300);
  EXPECT_EQ(seen.rows[0].absence(Metric::sm_active_ratio), "MIG is on");
  EXPECT_EQ(seen.rows[0].value(Metric::mig_mode), 1);
  const Seen with_whole = read(one + "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\"} 0.5\n");
  EXPECT_EQ(with_whole.rows[0].value(Metric::sm_active_ratio), 0.5);
}

TEST(PrometheusText, NvidiaGpuExporterNamesItsGpuElsewhere) {
  const Seen seen = read(
      "nvidia_smi_command_exit_code 0\nnvidia_smi_failed_scrapes_total 4\n"
      "nvidia_smi_enforced_power_limit_watts{uuid=\"12345678-0000-0000-0000-000000000000\"} 700\n"
      "nvidia_smi_power_limit_watts{uuid=\"12345678-0000-0000-0000-000000000000\"} 650\n"
      "nvidia_smi_gpu_info{index=\"2\",name=\"NVIDIA H200\",pci_bus_id=\"00000000:83:00.0\","
      "uuid=\"12345678-0000-0000-0000-000000000000\"} 1\n");
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.rows[0].uuid, "GPU-12345678-0000-0000-0000-000000000000");
  EXPECT_EQ(seen.rows[0].index, 2);
  EXPECT_EQ(seen.rows[0].pci, "00000000:83:00.0");
  EXPECT_EQ(seen.rows[0].name, "NVIDIA H200");
  EXPECT_EQ(seen.rows[0].value(Metric::power_limit_w), 700);
  EXPECT_TRUE(seen.notes.empty());
  EXPECT_EQ(read("nvidia_smi_command_exit_code 15\n").count(NoteKind::gpu_lost), 1);
  EXPECT_EQ(read("nvidia_smi_command_exit_code 9\n").count(NoteKind::driver_missing), 1);
  EXPECT_EQ(read("nvidia_smi_last_collect_success 0\n").count(NoteKind::source_error), 1);
  EXPECT_EQ(read("nvidia_smi_failed_scrapes_total 4\nnvidia_smi_failed_scrapes_total 5\n")
                .count(NoteKind::source_error),
            1);
}

TEST(PrometheusText, ReadsBackWhatTheAgentExposes) {
  std::vector<MetricReading> readings;
  for (const MetricRow& metric : metric_table()) {
    readings.push_back({metric.metric, Reading::of(3)});
  }
  readings[5].reading = Reading::absent(Absence::lost);
  TelemetryRow row;
  row.key.host = "n1";
  row.key.index = 3;
  row.key.uuid = "GPU-a";
  row.key.pci = "0000:3b:00";
  row.key.device = "mlx5_0/1";
  row.readings = readings;
  const Seen seen = read(render_exposition({&row, 1}));
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.rows[0].pci, "0000:3b:00");
  ASSERT_EQ(seen.rows[0].readings.size(), kMetricCount);
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const Metric metric = metric_table()[i].metric;
    if (i == 5) {
      EXPECT_EQ(seen.rows[0].absence(metric), "GPU lost");
    } else {
      EXPECT_EQ(seen.rows[0].value(metric), 3) << metric_row(metric).name;
    }
  }
}

TEST(PrometheusText, IsRecognised) {
  for (const char* head : {"# HELP x y\n", "# scraped_at 2026-09-04T08:00:00Z\n",
                           "\n# note\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1\n", "a{b=\"c\"} 1\n",
                           "node_load1 0.5\n", "muster_gpu_power_watts{gpu=\"0\"} 1"}) {
    EXPECT_TRUE(looks_like_prometheus_text(head)) << head;
  }
  for (const char* head : {"", "\n\n", "step 1 loss 2\n", "a 1\n", "{\"status\":\"success\"}",
                           "index, power.draw [W]\n0, 1 W\n", "<?xml version=\"1.0\" ?>\n",
                           "# gpu pwr\n# Idx W\n 0 70\n", "[1.0] NVRM: Xid 79\n"}) {
    EXPECT_FALSE(looks_like_prometheus_text(head)) << head;
  }
}

const char kSmall[] =
    "# scraped_at 2026-09-04T08:00:00Z\n# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n"
    "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",Hostname=\"n\\\\1\"} 627.02\n"
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\", Hostname=\"n\\\\1\"} 97\n"
    "DCGM_FI_DEV_POWER_USAGE{gpu=\"1\",Hostname=\"n1\"} 100 1700000000000\n"
    "nvidia_smi_pstate{uuid=\"x\"} 0\n";

TEST(PrometheusText, CutAndFlippedAtEveryByte) {
  testkit::cut_everywhere(make_prometheus_text_decoder, kSmall);
  testkit::flip_everywhere(make_prometheus_text_decoder, kSmall);
  EXPECT_EQ(read("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 62").count(NoteKind::truncated), 1);
}

TEST(PrometheusText, AVeryLongLineIsDropped) {
  const std::string line = "DCGM_FI_DEV_POWER_USAGE{gpu=\"" + std::string(300000, 'x') + "\"} 1\n";
  const Seen seen = read(line + "DCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 5\n");
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.count(NoteKind::damaged_line), 1);
}

}  // namespace
}  // namespace muster
