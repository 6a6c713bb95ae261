#include "core/storage/starvation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster::storage {
namespace {

constexpr double kGB = 1e9, kTB = 1e12;
// The run of 16 B300: a step of 5 s takes 262,144 tokens of 4 bytes; each node has 4 TB of memory.
constexpr Demand kSeed{5, 262'144 * 4.0};
constexpr Supply kSeedSupply{6.34 * kGB, 1.31 * kGB, 4 * kTB};

TEST(Starvation, Table) {
  struct Row {
    const char* name;
    Demand demand;
    Supply supply;
    Starves starves;
    Inversion::Kind inversion;
  };
  using Kind = Inversion::Kind;
  const Row rows[] = {
      {"nothing measured", kSeed, {}, Starves::unknown, Kind::unknown},
      {"cold not measured", kSeed, {6 * kGB, {}, kTB}, Starves::unknown, Kind::unknown},
      {"cold not measured, cache too slow",
       {1, 7 * kGB},
       {6 * kGB, {}, kTB},
       Starves::unknown,
       Kind::always},
      {"memory not known", {1, 2 * kGB}, {6 * kGB, kGB, {}}, Starves::yes, Kind::unknown},
      {"warm not measured", {1, 2 * kGB}, {{}, kGB, kTB}, Starves::yes, Kind::unknown},
      {"the seed's run", kSeed, kSeedSupply, Starves::no, Kind::never},
      {"too close", {1, kGB}, {6 * kGB, 1.05 * kGB, kTB}, Starves::unknown, Kind::never},
      {"twice what cold gives", {1, 2 * kGB}, {6 * kGB, kGB, kTB}, Starves::yes, Kind::beyond},
      {"more than memory gives", {1, 7 * kGB}, {6 * kGB, kGB, kTB}, Starves::yes, Kind::always},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(starves_name(starvation_of(row.demand, row.supply).starves),
              starves_name(row.starves))
        << row.name;
    EXPECT_EQ(inversion_name(inversion_of(row.demand, row.supply).kind),
              inversion_name(row.inversion))
        << row.name;
  }
}

TEST(Starvation, TheSeedsHeadroomIsThousands) {
  const Starvation verdict = starvation_of(kSeed, kSeedSupply);
  EXPECT_NEAR(*verdict.cold_headroom, 6246, 1);
  EXPECT_NE(
      starvation_text(kSeed, kSeedSupply).find("cannot starve steps of 5 s that read 1.05 MB"),
      std::string::npos)
      << starvation_text(kSeed, kSeedSupply);
  EXPECT_NE(inversion_text(kSeed, kSeedSupply).find("no size of the dataset"), std::string::npos);
}

// At the size that is named the mean rate is the need: a little less data feeds, a little more
// starves.
TEST(Starvation, TheSizeOfTheTurn) {
  for (const double need : {1.1, 1.5, 2.0, 3.0, 5.0, 5.9}) {
    const Demand demand{2, need * 2 * kGB};
    const Supply supply{6 * kGB, kGB, 100 * kGB};
    const Inversion turn = inversion_of(demand, supply);
    ASSERT_EQ(turn.kind, Inversion::Kind::beyond) << need;
    EXPECT_DOUBLE_EQ(turn.in_order_bytes, 100 * kGB);
    EXPECT_GT(turn.shuffled_bytes, 100 * kGB) << need;
    const auto rate = [&](double share) {
      return shuffled_rate(turn.shuffled_bytes * share, 100 * kGB, 6 * kGB, kGB);
    };
    EXPECT_NEAR(rate(1), need * kGB, 1e3) << need;
    EXPECT_GT(rate(0.99), need * kGB) << need;
    EXPECT_LT(rate(1.01), need * kGB) << need;
  }
  EXPECT_DOUBLE_EQ(shuffled_rate(50, 100, 6, 1), 6);
}

TEST(Starvation, Words) {
  struct Row {
    const char* name;
    Demand demand;
    Supply supply;
    const char* verdict;
    const char* turn;
  };
  const Row rows[] = {
      {"unknown",
       {1, kGB},
       {},
       "cannot tell whether storage starves steps of 1 s that read 1.00 GB",
       "a figure is missing"},
      {"starves",
       {0.5, kGB},
       {6 * kGB, kGB, 100 * kGB},
       "starves steps of 0.5 s that read 1.00 GB in a first epoch: cold reads give 1.00 GB/s, 0.50 "
       "times",
       "beyond 100 GB (read in order) or 167 GB (shuffled) every epoch waits"},
      {"close", {1, kGB}, {6 * kGB, kGB, kTB}, "may or may not", "no size of the dataset changes"},
      {"beyond memory",
       {1, 9 * kGB},
       {6 * kGB, kGB, kTB},
       "0.11 times",
       "the page cache itself gives less"},
  };
  for (const Row& row : rows) {
    const std::string verdict = starvation_text(row.demand, row.supply);
    EXPECT_NE(verdict.find(row.verdict), std::string::npos) << row.name << ": " << verdict;
    const std::string turn = inversion_text(row.demand, row.supply);
    EXPECT_NE(turn.find(row.turn), std::string::npos) << row.name << ": " << turn;
  }
  EXPECT_EQ(cache_text({}), "");
  EXPECT_EQ(cache_text({{}, {}, 2 * kGB}),
            "a dataset up to 2.00 GB stays in memory after its first epoch");
}

TEST(Starvation, Times) {
  EXPECT_EQ(times_text(0.0012), "0.0012 times");
  EXPECT_EQ(times_text(0.853), "0.85 times");
  EXPECT_EQ(times_text(12.34), "12.3 times");
  EXPECT_EQ(times_text(6246.2), "6246 times");
}

TEST(Starvation, Sizes) {
  struct Row {
    double bytes;
    const char* text;
  };
  const Row rows[] = {
      {0, "0 B"},          {1, "1 B"},           {999, "999 B"},     {999.6, "1.00 kB"},
      {1000, "1.00 kB"},   {9'999, "10.0 kB"},   {99'960, "100 kB"}, {1'048'576, "1.05 MB"},
      {4.04e9, "4.04 GB"}, {23.5e12, "23.5 TB"}, {5e21, "5000 EB"}};
  for (const Row& row : rows) EXPECT_EQ(size_text(row.bytes), row.text);
}

}  // namespace
}  // namespace muster::storage
