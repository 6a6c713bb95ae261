#include "core/blocks/loss_bits.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace muster::blocks {
namespace {

TEST(LossBits, AppendsWhereverBitsStand) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<bool> expected;
    LossBits bits;
    for (int part = 0; part < 6; ++part) {
      const std::uint64_t count = random() % 40;
      if (random() % 2 == 0) {
        const bool value = random() % 2 == 0;
        bits.append(count, value);
        expected.insert(expected.end(), count, value);
        continue;
      }
      std::vector<std::uint8_t> source(8);
      for (auto& byte : source) byte = static_cast<std::uint8_t>(random());
      const std::uint64_t begin = random() % 24;
      bits.append(source, begin, count);
      for (std::uint64_t i = begin; i < begin + count; ++i) {
        expected.push_back(((source[i / 8] >> (i % 8)) & 1) != 0);
      }
    }
    ASSERT_EQ(bits.size(), expected.size());
    ASSERT_EQ(bits.bytes().size(), loss_bytes(expected.size()));
    std::uint64_t set = 0;
    for (std::uint64_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(bits.at(i), expected[i]) << trial << " bit " << i;
      set += expected[i] ? 1 : 0;
    }
    // Bits behind the last are 0, or this would count them.
    ASSERT_EQ(count_set(bits.bytes()), set);
  }
}

TEST(LossBits, LeastBitFirst) {
  LossBits bits;
  bits.append(1, true);
  bits.append(8, false);
  bits.append(1, true);
  ASSERT_EQ(bits.bytes().size(), 2U);
  EXPECT_EQ(bits.bytes()[0], 0x01);
  EXPECT_EQ(bits.bytes()[1], 0x02);
}

TEST(LossBits, CountsWordsAndWhatIsLeft) {
  for (std::size_t n = 0; n < 40; ++n) {
    EXPECT_EQ(count_set(std::vector<std::uint8_t>(n, 0x81)), 2 * n);
  }
}

}  // namespace
}  // namespace muster::blocks
