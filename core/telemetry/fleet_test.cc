#include "core/telemetry/fleet.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

SeriesKey gpu(std::string_view uuid, std::string_view pci, std::optional<int> index) {
  SeriesKey key;
  key.uuid = uuid;
  key.pci = pci;
  key.index = index;
  return key;
}

TEST(NormalizePci, OneSpelling) {
  struct Row {
    const char *in, *out;
  };
  const Row rows[] = {
      {"", ""},
      {"x", ""},
      {"3b:00:00:00", ""},
      {"zz:00.0", ""},
      {"0000:3b:0", ""},
      {"000000000:3b:00.0", ""},
      {"1:2:3", ""},
      {"00000000:3B:00.0", "0000:3b:00"},
      {"0000:3b:00", "0000:3b:00"},
      {"3b:00.0", "0000:3b:00"},
      {"PCI:0000:3b:00", "0000:3b:00"},
      {"00010000:3b:00.0", "00010000:3b:00"},
      {"0002:3b:00", "0002:3b:00"},
  };
  for (const Row& row : rows) EXPECT_EQ(normalize_pci(row.in), row.out) << row.in;
}

TEST(Fleet, ARenumberedIndexIsAnotherGpu) {
  Fleet fleet;
  const auto a = fleet.resolve(gpu("GPU-a", "", 0), "n1");
  const auto b = fleet.resolve(gpu("GPU-b", "", 1), "n1");
  ASSERT_NE(a, b);
  // GPU-a is lost, the driver calls GPU-b index 0 now.
  EXPECT_EQ(fleet.resolve(gpu("GPU-b", "", 0), "n1"), b);
  EXPECT_EQ(fleet.identity(*b).index, 0);
}

TEST(Fleet, LearnsABetterKeyOfTheSameGpu) {
  Fleet fleet;
  const auto by_index = fleet.resolve(gpu("", "", 3), "n1");
  EXPECT_EQ(fleet.resolve(gpu("GPU-a", "00000000:3b:00.0", 3), "n1"), by_index);
  EXPECT_EQ(fleet.resolve(gpu("", "0000:3B:00", std::nullopt), "n1"), std::optional<SeriesId>(1))
      << "an address alone was never claimed by a row that had only the index";
  EXPECT_NE(fleet.resolve(gpu("", "", 3), "n2"), by_index);
}

TEST(Fleet, SameUuidOnTwoHostsIsTwoSeries) {
  Fleet fleet;
  EXPECT_NE(fleet.resolve(gpu("GPU-a", "", 0), "n1"), fleet.resolve(gpu("GPU-a", "", 0), "n2"));
}

TEST(Fleet, NamesCulpritsAsOperatorsDo) {
  Fleet fleet;
  EXPECT_EQ(fleet.culprit(*fleet.resolve(gpu("", "", 3), "n1")).id, "n1/3");
  EXPECT_EQ(fleet.culprit(*fleet.resolve(gpu("", "00000000:3B:00.0", std::nullopt), "n1")).id,
            "n1/0000:3b:00");
  EXPECT_EQ(fleet.culprit(*fleet.resolve(gpu("", "", 3), "")).id, "this/3");
  SeriesKey task;
  task.kind = SeriesKind::task;
  task.rank = 112;
  EXPECT_EQ(fleet.culprit(*fleet.resolve(task, "")).id, "112");
  SeriesKey port;
  port.kind = SeriesKind::port;
  port.device = "mlx5_0/1";
  EXPECT_EQ(fleet.culprit(*fleet.resolve(port, "n1")).id, "n1/mlx5_0/1");
}

}  // namespace
}  // namespace muster
