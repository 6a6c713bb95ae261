#include "core/shape/mfu.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster::shape {
namespace {

TEST(Mfu, Parameters) {
  for (const char* bad : {"", "b", "-1b", "0", "12", "1e30", "nan", "32 bananas", "3 2b", "inf"}) {
    EXPECT_FALSE(parse_parameters(bad)) << bad;
  }
  EXPECT_EQ(*parse_parameters("32e9"), 32e9);
  EXPECT_EQ(*parse_parameters("0.6B"), 0.6e9);
  EXPECT_EQ(*parse_parameters(" 350 M "), 350e6);
  EXPECT_EQ(*parse_parameters("1.8t"), 1.8e12);
}

TEST(Mfu, Peaks) {
  EXPECT_EQ(find_gpu_peak("MI300X"), nullptr);
  EXPECT_EQ(find_gpu_peak(""), nullptr);
  EXPECT_EQ(find_gpu_peak("NVIDIA H100 80GB HBM3")->tflops, 989);
  EXPECT_EQ(find_gpu_peak("h100 pcie")->tflops, 756);
  EXPECT_EQ(find_gpu_peak("GB200")->name, "GB200");
  EXPECT_EQ(find_gpu_peak("H200")->name, "H200");
  for (const GpuPeak& peak : gpu_peak_table()) EXPECT_EQ(find_gpu_peak(peak.name), &peak);
}

TEST(Mfu, OfACurve) {
  Curve curve;
  curve.source = "x";
  curve.points.resize(3);
  EXPECT_EQ(add_mfu({8e9, find_gpu_peak("H100"), 1}, curve), "") << "no rate, no figure";
  curve.points[0].tokens_per_s = 9890;  // 6 x 8e9 x 9,890 = 474.7 T of 989
  curve.points[1].tokens_per_s = 9890;
  curve.points[1].mfu_ratio = 0.3;  // the log's own goes first
  const std::string text = add_mfu({8e9, find_gpu_peak("H100"), 1}, curve);
  EXPECT_NEAR(curve.points[0].mfu_ratio, 0.48, 1e-9);
  EXPECT_EQ(curve.points[1].mfu_ratio, 0.3);
  EXPECT_TRUE(std::isnan(curve.points[2].mfu_ratio));
  EXPECT_NE(text.find("MFU 48.0 %"), std::string::npos) << text;
  Curve fleet;
  fleet.points.resize(1);
  fleet.points[0].tokens_per_s = 98900;
  EXPECT_NE(add_mfu({8e9, find_gpu_peak("H100"), 1}, fleet).find("more than the GPUs can do"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::shape
