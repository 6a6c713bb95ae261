#include "core/telemetry/lspci.h"

#include <gtest/gtest.h>

#include "core/telemetry/decoder_test_kit.h"

namespace muster {
namespace {

using testkit::Seen;

Seen read(std::string_view text) {
  return testkit::decode(make_lspci_decoder, text, 7);
}

const std::string kGpu =
    "65:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5] (rev a1)\n"
    "\tSubsystem: NVIDIA Corporation Device 16c1\n"
    "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
    "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes\n"
    "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
    "\t\tLnkSta2: Current De-emphasis Level: -6dB\n";

TEST(Lspci, LinksOfGpus) {
  const Seen seen = read(
      "00:00.0 Host bridge: Intel Corporation Device 09a2\n"
      "\t\tLnkSta:\tSpeed 8GT/s, Width x4\n" +
      kGpu +
      "0001:66:00.1 Audio device: NVIDIA Corporation Device 22ba\n"
      "\t\tLnkSta:\tSpeed 8GT/s, Width x2\n"
      "10000:17:00.0 VGA compatible controller [0300]: Device [10de:2684]\n"
      "\t\tLnkCap:\tPort #0, Speed 64GT/s, Width x16\n");
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_EQ(seen.rows[0].pci, "65:00.0");
  EXPECT_EQ(seen.rows[0].value(Metric::pcie_gen), 1);
  EXPECT_EQ(seen.rows[0].value(Metric::pcie_gen_max), 5);
  EXPECT_EQ(seen.rows[0].value(Metric::pcie_width), 8);
  EXPECT_EQ(seen.rows[0].value(Metric::pcie_width_max), 16);
  EXPECT_FALSE(seen.rows[0].at.has_value());
  EXPECT_EQ(seen.rows[1].pci, "10000:17:00.0");
  EXPECT_EQ(seen.rows[1].value(Metric::pcie_gen_max), 6);
  EXPECT_EQ(seen.rows[1].absence(Metric::pcie_gen), "no reading");
  EXPECT_TRUE(seen.notes.empty());
}

TEST(Lspci, BadLinesHaveAReason) {
  const std::string head = "65:00.0 3D controller: NVIDIA Corporation\n\tLnkSta: ";
  const std::pair<const char*, const char*> kRows[] = {
      {"Speed 3GT/s, Width x16\n", "malformed"},   {"Speed unknown, Width x16\n", "malformed"},
      {"Speed , Width x16\n", "not reported"},     {"nothing\n", "not reported"},
      {"Speed 16 GT/s, Width x16\n", "malformed"}, {"\n", "not reported"},
  };
  for (const auto& [line, why] : kRows) {
    EXPECT_EQ(read(head + line).rows.at(0).absence(Metric::pcie_gen), why) << line;
  }
  for (const char* width : {"x", "16", "x-1", "x999", "x1x"}) {
    EXPECT_EQ(
        read(head + "Speed 8GT/s, Width " + width + "\n").rows.at(0).absence(Metric::pcie_width),
        "malformed")
        << width;
  }
  const Seen denied = read("65:00.0 3D controller: NVIDIA\n\tCapabilities: <access denied>\n");
  EXPECT_TRUE(denied.rows.empty());
  EXPECT_EQ(denied.count(NoteKind::device_access), 1);
}

TEST(Lspci, ATornLastLineIsDropped) {
  const std::string text = "65:00.0 3D controller: NVIDIA\n\tLnkSta:\tSpeed 8GT/s, Width x1";
  EXPECT_TRUE(read(text).rows.empty());
  EXPECT_EQ(read(text).count(NoteKind::truncated), 1);
  EXPECT_EQ(read(text + "6 (ok)").rows.at(0).value(Metric::pcie_width), 16);
}

TEST(Lspci, CutAndFlippedAtEveryByte) {
  testkit::cut_everywhere(make_lspci_decoder, kGpu);
  testkit::flip_everywhere(make_lspci_decoder, kGpu);
}

TEST(Lspci, IsRecognised) {
  EXPECT_TRUE(looks_like_lspci(kGpu));
  EXPECT_TRUE(looks_like_lspci("0000:00:00.0 Host bridge: Intel\n"));
  for (const char* head : {"", "-[0000:00]-+-00.0", "10:00:00.0 step: 1", "65:00.0", "step 1: 2",
                           "2026-08-01 10:00:00 a: b", "zz:00.0 a: b"}) {
    EXPECT_FALSE(looks_like_lspci(head)) << head;
  }
}

}  // namespace
}  // namespace muster
