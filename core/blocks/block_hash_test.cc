#include "core/blocks/block_hash.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace muster::blocks {
namespace {

// Values of the reference implementation (python3-xxhash): the hashes are a contract.
TEST(BlockHash, IsXxh3InItsCanonicalForm) {
  EXPECT_EQ(hash_text(hash_bytes("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_text(hash_bytes("muster")), "90d256a5656efe7ed3172c6c7a83b39c");
  std::vector<std::int32_t> ids(2048);
  std::iota(ids.begin(), ids.end(), 0);
  EXPECT_EQ(hash_block(ids), 0x3768692bafb0d0f4ULL);
  const std::vector<std::uint64_t> leaves = {1, 2, 3};
  EXPECT_EQ(hash_text(hash_group(leaves)), "d0d66ae2837a0117026f21f9c50dcf1f");
  EXPECT_EQ(hash_text(hash_root(std::vector<Hash128>{{1, 2}, {3, 4}})),
            "93e085440feb4ed733491ce3a4ecfabd");
}

TEST(BlockHash, APieceAtATimeIsTheSame) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7);
  RunningHash hash;
  for (std::size_t at = 0; at < text.size(); at += 37) {
    hash.add(std::string_view(text).substr(at, 37));
  }
  EXPECT_EQ(hash.value(), hash_bytes(text));
  EXPECT_EQ(RunningHash().value(), hash_bytes(""));
}

TEST(BlockHash, TextsThatAreNoHash) {
  const std::string good = "0123456789abcdef0123456789abcdef";
  ASSERT_TRUE(parse_hash(good));
  EXPECT_EQ(hash_text(*parse_hash(good)), good);
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(parse_hash(good.substr(0, i)));
    for (const char c : {'A', 'g', ' ', '-', 'x', '\0'}) {
      std::string bad = good;
      bad[i] = c;
      EXPECT_FALSE(parse_hash(bad)) << bad;
    }
  }
  EXPECT_FALSE(parse_hash(good + "0"));
}

TEST(BlockHash, Groups) {
  EXPECT_EQ(groups_of(0), 0U);
  EXPECT_EQ(groups_of(1), 1U);
  EXPECT_EQ(groups_of(kGroupBlocks), 1U);
  EXPECT_EQ(groups_of(kGroupBlocks + 1), 2U);
}

}  // namespace
}  // namespace muster::blocks
