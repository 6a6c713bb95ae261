#include "core/telemetry/nvsmi_xml.h"

#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "core/telemetry/decoder_test_kit.h"
#include "core/telemetry/nvsmi_gpu.h"

namespace muster {
namespace {

using testkit::Seen;

Seen read(std::string_view xml, std::size_t chunk = 1 << 20) {
  return testkit::decode(make_nvsmi_xml_decoder, xml, chunk);
}

std::string document(const std::string& gpus, int attached,
                     const std::string& time = "Fri Aug 14 10:16:52 2026") {
  return "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n"
         "<nvidia_smi_log>\n\t<timestamp>" +
         time + "</timestamp>\n\t<attached_gpus>" + std::to_string(attached) +
         "</attached_gpus>\n" + gpus + "</nvidia_smi_log>\n";
}

std::string gpu(const std::string& body, const std::string& bus = "0A") {
  return "\t<gpu id=\"00000000:" + bus +
         ":00.0\">\n<product_name>NVIDIA GB200</product_name>\n"
         "<uuid>GPU-" +
         bus + "</uuid>" + body + "\t</gpu>\n";
}

struct Value {
  const char* body;
  Metric metric;
  double value;
};
constexpr Value kValues[] = {
    {"<power_readings><power_draw>47.1 W</power_draw></power_readings>", Metric::power_w, 47.1},
    {"<gpu_power_readings><power_draw>48 W</power_draw></gpu_power_readings>", Metric::power_w, 48},
    {"<gpu_power_readings><average_power_draw>N/A</average_power_draw><instant_power_draw>49.68 "
     "W</instant_power_draw></gpu_power_readings>",
     Metric::power_w, 49.68},
    {"<module_power_readings><average_power_draw>467 W</average_power_draw>"
     "</module_power_readings><gpu_memory_power_readings><average_power_draw>35 W"
     "</average_power_draw></gpu_memory_power_readings><gpu_power_readings>"
     "<average_power_draw>165.9 W</average_power_draw></gpu_power_readings>",
     Metric::power_w, 165.9},
    {"<module_power_readings><average_power_draw>467 W</average_power_draw>"
     "</module_power_readings>",
     Metric::module_power_w, 467},
    {"<power_readings><power_limit>300 W</power_limit><enforced_power_limit>250 W"
     "</enforced_power_limit></power_readings>",
     Metric::power_limit_w, 250},
    {"<gpu_power_readings><current_power_limit>700.00 W</current_power_limit>"
     "<requested_power_limit>800 W</requested_power_limit></gpu_power_readings>",
     Metric::power_limit_w, 700},
    {"<ecc_errors><volatile><sram_correctable>1</sram_correctable><dram_correctable>2"
     "</dram_correctable></volatile><aggregate><dram_correctable>99</dram_correctable>"
     "</aggregate></ecc_errors>",
     Metric::ecc_corrected, 3},
    {"<ecc_errors><volatile><sram_uncorrectable_parity>1</sram_uncorrectable_parity>"
     "<sram_uncorrectable_secded>2</sram_uncorrectable_secded><dram_uncorrectable>4"
     "</dram_uncorrectable></volatile></ecc_errors>",
     Metric::ecc_uncorrected, 7},
    {"<ecc_errors><volatile><double_bit><total>5</total></double_bit></volatile></ecc_errors>",
     Metric::ecc_uncorrected, 5},
    {"<clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active"
     "</clocks_throttle_reason_hw_slowdown><clocks_throttle_reason_sw_power_cap>Not Active"
     "</clocks_throttle_reason_sw_power_cap></clocks_throttle_reasons>",
     Metric::throttle_mask, 8},
    {"<clocks_event_reasons><clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>"
     "<clocks_event_reason_hw_power_brake_slowdown>Active"
     "</clocks_event_reason_hw_power_brake_slowdown></clocks_event_reasons>",
     Metric::throttle_mask, 0x81},
    {"<pci><pci_gpu_link_info><link_widths><current_link_width>8x</current_link_width>"
     "</link_widths></pci_gpu_link_info></pci>",
     Metric::pcie_width, 8},
    {"<mig_mode><current_mig>Disabled</current_mig></mig_mode>", Metric::mig_mode, 0},
    {"<mig_mode><current_mig>Enabled</current_mig></mig_mode>", Metric::mig_mode, 1},
    {"<remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows>",
     Metric::remap_pending, 1},
    {"<performance_state>P0</performance_state>", Metric::pstate, 0},
    {"<fb_memory_usage><used>2 MiB</used></fb_memory_usage>", Metric::mem_used_bytes, 2097152},
    {"<gpu_recovery_action>Drain and Reset</gpu_recovery_action>", Metric::recovery_action, 4},
    {"<applications_clocks><sm_clock>1 MHz</sm_clock></applications_clocks><clocks><sm_clock>1980 "
     "MHz</sm_clock></clocks>",
     Metric::sm_clock_mhz, 1980},
};

TEST(NvsmiXml, ValuesByFullPath) {
  for (const Value& row : kValues) {
    const Seen seen = read(document(gpu(row.body), 1));
    ASSERT_EQ(seen.rows.size(), 1U) << row.body;
    EXPECT_DOUBLE_EQ(seen.rows[0].value(row.metric), row.value) << row.body;
    EXPECT_TRUE(seen.notes.empty()) << row.body;
  }
}

struct Missing {
  const char* body;
  Metric metric;
  const char* why;
};
constexpr Missing kMissing[] = {
    {"<remapped_rows>GPU is lost</remapped_rows>", Metric::remap_failed, "GPU lost"},
    {"<power_smoothing>Insufficient Permissions</power_smoothing>", Metric::power_smoothing,
     "no permission"},
    {"<power_smoothing>N/A</power_smoothing>", Metric::power_smoothing, "not reported"},
    {"<clocks_event_reasons>GPU is lost</clocks_event_reasons>", Metric::throttle_mask, "GPU lost"},
    {"<ecc_errors><volatile><dram_correctable>GPU is lost</dram_correctable></volatile>"
     "</ecc_errors>",
     Metric::ecc_corrected, "GPU lost"},
    {"<utilization><gpu_util>Unknown Error</gpu_util></utilization>", Metric::util_gpu_percent,
     "read error"},
    {"<utilization><gpu_util>9O %</gpu_util></utilization>", Metric::util_gpu_percent, "malformed"},
    {"<mig_mode><current_mig>Enabled</current_mig></mig_mode><utilization><gpu_util>N/A"
     "</gpu_util></utilization>",
     Metric::util_gpu_percent, "MIG is on"},
    {"<mig_mode><current_mig>Requested functionality has been deprecated</current_mig></mig_mode>",
     Metric::mig_mode, "unsupported"},
    {"<gpu_recovery_action>Pray</gpu_recovery_action>", Metric::recovery_action, "malformed"},
    {"<average_power_draw>5 W</average_power_draw>", Metric::power_w, "no reading"},
    {"<gpu_power_readings/>", Metric::power_w, "no reading"},
};

TEST(NvsmiXml, MissingValuesHaveAReason) {
  for (const Missing& row : kMissing) {
    const Seen seen = read(document(gpu(row.body), 1));
    ASSERT_EQ(seen.rows.size(), 1U) << row.body;
    EXPECT_EQ(seen.rows[0].absence(row.metric), row.why) << row.body;
  }
}

const char kPower[] =
    "<gpu_power_readings><average_power_draw>165.9 W</average_power_draw></gpu_power_readings>";

TEST(NvsmiXml, KeysAndTime) {
  const Seen seen = read(document(gpu(kPower) + gpu(kPower, "0B"), 2), 5);
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_EQ(seen.rows[1].pci, "00000000:0B:00.0");
  EXPECT_EQ(seen.rows[1].uuid, "GPU-0B");
  EXPECT_EQ(seen.rows[1].name, "NVIDIA GB200");
  EXPECT_EQ(seen.rows[1].index, 1);
  EXPECT_EQ(format_rfc3339(*seen.rows[1].at), "2026-08-14T10:16:52Z");
  EXPECT_FALSE(seen.rows[1].at_has_zone);
  // `-i 3` lists one of eight: its place is no index.
  EXPECT_EQ(read(document(gpu(kPower), 8)).rows.at(0).index, std::nullopt);
}

TEST(NvsmiXml, DocumentsFollowEachOther) {
  const std::string one = document(gpu(kPower), 1);
  const std::string two = document(gpu(kPower), 1, "Fri Aug 14 10:16:57 2026");
  const Seen seen = read(one + two, 64);
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_EQ(seen.rows[1].index, 0);
  EXPECT_EQ(*seen.rows[1].at - *seen.rows[0].at, std::chrono::seconds(5));
  // A sampler that was killed and started again.
  const Seen torn = read(one.substr(0, one.size() - 30) + two);
  ASSERT_GE(torn.rows.size(), 1U);
  EXPECT_EQ(torn.rows.back().index, 0);
  EXPECT_GE(torn.notes.size(), 1U);
}

TEST(NvsmiXml, ALostGpuIsARowAndANote) {
  const Seen seen =
      read(document(gpu(kPower) + gpu("<utilization>GPU is lost</utilization>", "0B"), 2));
  ASSERT_EQ(seen.rows.size(), 2U);
  ASSERT_EQ(seen.notes.size(), 1U);
  EXPECT_EQ(seen.notes[0].kind, NoteKind::gpu_lost);
  EXPECT_EQ(seen.notes[0].pci, "00000000:0B:00.0");
}

TEST(NvsmiXml, ADamagedGpuIsLostAlone) {
  const std::string bad = gpu("<utilization><gpu_util>5 %</utilization>", "0B");
  const Seen seen = read(document(gpu(kPower) + bad + gpu(kPower, "0C"), 3));
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_EQ(seen.rows[1].index, 2);
  EXPECT_EQ(seen.count(NoteKind::damaged_line), 1);
  const std::string whole = document(gpu(kPower) + gpu(kPower, "0B"), 2);
  const Seen cut = read(whole.substr(0, whole.rfind("<uuid>")));
  ASSERT_EQ(cut.rows.size(), 1U);
  EXPECT_EQ(cut.rows[0].index, std::nullopt);
  EXPECT_EQ(cut.count(NoteKind::truncated), 1);
}

TEST(NvsmiXml, EntitiesAreNeitherExpandedNorFetched) {
  std::string bomb =
      "<?xml version=\"1.0\"?><!DOCTYPE nvidia_smi_log [<!ENTITY a \"69 W\">"
      "<!ENTITY f SYSTEM \"file:///etc/passwd\">";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb += "<!ENTITY " + std::string(1, c) + " \"";
    for (int i = 0; i < 10; ++i) bomb += "&" + std::string(1, static_cast<char>(c - 1)) + ";";
    bomb += "\">";
  }
  bomb += "]><nvidia_smi_log>" +
          gpu("<gpu_power_readings><power_draw>&a;</power_draw></gpu_power_readings>"
              "<utilization><gpu_util>&f;</gpu_util><memory_util>&j;</memory_util></utilization>") +
          "</nvidia_smi_log>";
  const Seen seen = read(bomb);
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.rows[0].absence(Metric::power_w), "malformed");
  EXPECT_EQ(seen.rows[0].absence(Metric::util_gpu_percent), "malformed");
  EXPECT_EQ(seen.rows[0].absence(Metric::util_mem_percent), "malformed");
  // A DTD inside the element that is parsed.
  const auto inner = parse_nvsmi_gpu("<gpu id=\"1\"><!DOCTYPE x [<!ENTITY a \"1\">]></gpu>");
  EXPECT_FALSE(inner && !inner->readings.empty());
}

TEST(NvsmiXml, DepthAndSizeAreBounded) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  const Seen seen = read(document(gpu(deep) + gpu(kPower, "0B"), 2));
  ASSERT_EQ(seen.rows.size(), 1U);
  EXPECT_EQ(seen.notes.at(0).text, "a GPU nested too deep");
  const Seen long_one = read(document(gpu(std::string(3 << 20, 'x')) + gpu(kPower, "0B"), 2));
  ASSERT_EQ(long_one.rows.size(), 1U);
  EXPECT_EQ(long_one.notes.at(0).text, "a GPU is above the limit");
  const Seen empty = read(std::string(1 << 20, ' '));
  EXPECT_TRUE(empty.rows.empty() && empty.notes.empty());
}

TEST(NvsmiXml, CutAndFlippedAtEveryByte) {
  const std::string text = document(gpu(kPower) + gpu("<remapped_rows>GPU is lost"
                                                      "</remapped_rows>",
                                                      "0B"),
                                    2);
  testkit::cut_everywhere(make_nvsmi_xml_decoder, text);
  testkit::flip_everywhere(make_nvsmi_xml_decoder, text);
}

TEST(NvsmiXml, IsRecognised) {
  EXPECT_TRUE(looks_like_nvsmi_xml(document("", 0)));
  EXPECT_TRUE(looks_like_nvsmi_xml("\n <nvidia_smi_log>"));
  for (const char* head : {"", "<html>nvidia_smi_log</html>", "<?xml version=\"1.0\" ?><rss>",
                           "nvidia_smi_log", "{\"a\": \"<nvidia_smi_log>\"}"}) {
    EXPECT_FALSE(looks_like_nvsmi_xml(head)) << head;
  }
}

}  // namespace
}  // namespace muster
