#include "train/data/block_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/limits.h"
#include "base/memory_bytes.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/loss_bits.h"
#include "core/blocks/pack_manifest.h"
#include "tests/support/shell.h"
#include "train/data/pack_blocks.h"
#include "train/data/rank_file_blocks.h"

namespace muster::train {
namespace {

using testing_support::TemporaryFolder;

constexpr std::uint32_t kLength = 16;

// Token t of block b.
std::int32_t id_of(std::uint64_t block, std::uint64_t token) {
  return static_cast<std::int32_t>(block * 100 + token);
}

// Of every block b the last b mod kLength tokens count, so that no two neighbours are alike; block
// 15 also counts its first token, which is nobody's label.
bool counts(std::uint64_t block, std::uint64_t token) {
  return token >= kLength - block % kLength || (block == 15 && token == 0);
}

std::uint64_t labels_of_block(std::uint64_t block) {
  return block % kLength;
}

std::string ids_of(std::uint64_t blocks) {
  std::vector<std::int32_t> ids;
  for (std::uint64_t i = 0; i < blocks * kLength; ++i) {
    ids.push_back(id_of(i / kLength, i % kLength));
  }
  return std::string(memory_bytes(std::span<const std::int32_t>(ids)));
}

void write_pack(const TemporaryFolder& folder, std::uint64_t blocks, bool all) {
  blocks::PackManifest manifest;
  manifest.block_tokens = kLength;
  manifest.blocks = blocks;
  manifest.document_tokens = blocks * kLength;
  blocks::LossBits bits;
  for (std::uint64_t i = 0; i < blocks * kLength; ++i) {
    const bool bit = all || counts(i / kLength, i % kLength);
    bits.append(1, bit);
    manifest.trained_tokens += bit ? 1 : 0;
  }
  const std::string loss(bits.bytes().begin(), bits.bytes().end());
  const std::string ids = ids_of(blocks);
  folder.write("blocks.i32", ids);
  folder.write("loss.bits", loss);
  manifest.loss_bits_hash = hash_text(blocks::hash_bytes(loss));
  manifest.doc_ends_hash = hash_text(blocks::hash_bytes(""));
  const blocks::Hash128 group = blocks::hash_bytes(ids);  // nobody here checks it
  manifest.groups = {hash_text(group)};
  manifest.root = hash_text(blocks::hash_root(std::span(&group, 1)));
  folder.write("manifest.json", blocks::encode_manifest(manifest));
}

// Blocks of one step of this rank, by their ids, with everything about them looked at.
std::vector<std::uint64_t> blocks_of(const StepBlocks& step, bool all) {
  std::vector<std::uint64_t> out;
  for (const MicroBatch& batch : step.micro_batches()) {
    EXPECT_EQ(batch.length, kLength);
    for (std::uint64_t row = 0; row < batch.sequences; ++row) {
      const std::uint64_t block = static_cast<std::uint64_t>(batch.ids[row * kLength]) / 100;
      out.push_back(block);
      for (std::uint64_t t = 0; t < kLength; ++t) {
        EXPECT_EQ(batch.ids[row * kLength + t], id_of(block, t));
        EXPECT_EQ(batch.counted[row * kLength + t] != 0, all || counts(block, t));
      }
    }
  }
  return out;
}

TEST(PackBlocks, AStepHasTheSameBlocksAndLabelsForEveryWorld) {
  const TemporaryFolder folder;
  write_pack(folder, 26, false);
  std::map<std::uint64_t, std::multiset<std::uint64_t>> expected;
  for (const std::uint64_t world : {1u, 2u, 4u}) {
    for (const std::uint64_t micro : {1u, 2u}) {
      std::map<std::uint64_t, std::multiset<std::uint64_t>> found;
      for (std::uint64_t rank = 0; rank < world; ++rank) {
        const auto source =
            open_pack_blocks(folder.path(), {8 / world / micro, micro, rank, world, 5});
        ASSERT_TRUE(source) << source.error().context;
        EXPECT_EQ((*source)->steps(), 3u);
        StepBlocks step;
        for (std::uint64_t s = 0; s < 6; ++s) {
          ASSERT_TRUE((*source)->read(s / 3, s % 3, step));
          const auto blocks = blocks_of(step, false);
          EXPECT_EQ(blocks.size(), 8 / world);
          found[s].insert(blocks.begin(), blocks.end());
          if (rank + 1 == world) {
            std::uint64_t labels = 0;
            for (const std::uint64_t block : found[s]) labels += labels_of_block(block);
            EXPECT_EQ(step.labels, labels);
          }
        }
      }
      if (expected.empty()) expected = found;
      EXPECT_EQ(found, expected) << world << " ranks, micro batches of " << micro;
    }
  }
  EXPECT_NE(expected[0], expected[3]) << "epochs have orders of their own";
}

TEST(PackBlocks, WhereEveryTokenCountsLabelsAreArithmetic) {
  const TemporaryFolder folder;
  write_pack(folder, 9, true);
  const auto source = open_pack_blocks(folder.path(), {2, 2, 0, 2, 0});
  ASSERT_TRUE(source);
  StepBlocks step;
  ASSERT_TRUE((*source)->read(0, 0, step));
  EXPECT_EQ(step.labels, 8 * (kLength - 1));
  EXPECT_EQ(blocks_of(step, true).size(), 4u);
  EXPECT_TRUE((*source)->shared());
  EXPECT_NE((*source)->digest(), 0u);
}

TEST(PackBlocks, RefusesWhatIsNoPack) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;  // null: the file is taken away
    StepCut cut;
    Errc code;
  };
  const Row rows[] = {
      {"no manifest", "manifest.json", nullptr, {}, Errc::not_found},
      {"a manifest that is none", "manifest.json", "{}", {}, Errc::invalid_input},
      {"no blocks", "blocks.i32", nullptr, {}, Errc::not_found},
      {"blocks that were cut", "blocks.i32", "cut", {}, Errc::corrupt},
      {"no bits", "loss.bits", nullptr, {}, Errc::not_found},
      {"bits that were cut", "loss.bits", "", {}, Errc::corrupt},
      {"a rank beyond the world", "other", "", {1, 1, 2, 2, 0}, Errc::invalid_input},
      {"nothing at once", "other", "", {1, 0, 0, 1, 0}, Errc::invalid_input},
      {"no accumulation", "other", "", {0, 1, 0, 1, 0}, Errc::invalid_input},
      {"a product that overflows",
       "other",
       "",
       {1ull << 40, 1ull << 40, 0, 1, 0},
       Errc::invalid_input},
      {"more than there is", "other", "", {5, 2, 0, 1, 0}, Errc::invalid_input},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const TemporaryFolder folder;
    write_pack(folder, 9, false);
    if (row.text != nullptr) folder.write(row.file, row.text);
    if (row.text == nullptr) std::filesystem::remove(folder.path() + "/" + row.file);
    const auto source = open_pack_blocks(folder.path(), row.cut);
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().code, row.code) << source.error().context;
  }
}

TEST(PackBlocks, AFileThatIsCutWhileItIsReadIsAnError) {
  const TemporaryFolder folder;
  write_pack(folder, 9, false);
  const auto source = open_pack_blocks(folder.path(), {9, 1, 0, 1, 0});
  ASSERT_TRUE(source);
  std::filesystem::resize_file(folder.path() + "/blocks.i32", 100);
  StepBlocks step;
  const Status done = (*source)->read(0, 0, step);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::corrupt);
}

TEST(RankFile, IsNamedByItsContent) {
  const TemporaryFolder folder;
  const std::string bytes = ids_of(11) + "tail";
  std::string flipped = bytes;
  flipped.back() = 'L';
  std::set<std::uint64_t> digests;
  for (const std::string& content : {bytes, bytes, flipped}) {
    const auto source = open_rank_file(folder.write("rank00.i32", content), kLength, {1, 1, 0, 1});
    ASSERT_TRUE(source) << source.error().context;
    digests.insert((*source)->digest());
  }
  EXPECT_EQ(digests.size(), 2u);
}

TEST(RankFile, WholeBlocksInAnOrderOfTheSeed) {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank03.i32", ids_of(11) + "tail");
  std::set<std::vector<std::uint64_t>> orders;
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto source = open_rank_file(path, kLength, {2, 2, 3, 4, seed});
    ASSERT_TRUE(source) << source.error().context;
    EXPECT_EQ((*source)->blocks(), 11u);
    EXPECT_EQ((*source)->steps(), 2u);
    EXPECT_FALSE((*source)->shared());
    for (const std::uint64_t epoch : {0u, 1u}) {
      std::vector<std::uint64_t> order;
      StepBlocks step;
      for (std::uint64_t s = 0; s < 2; ++s) {
        ASSERT_TRUE((*source)->read(epoch, s, step));
        EXPECT_EQ(step.labels, 16 * (kLength - 1));
        EXPECT_EQ(step.micro_batches().size(), 2u);
        const auto blocks = blocks_of(step, true);
        order.insert(order.end(), blocks.begin(), blocks.end());
      }
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), 8u) << "none twice";
      orders.insert(order);
    }
  }
  EXPECT_EQ(orders.size(), 4u);
}

TEST(RankFile, Refuses) {
  struct Row {
    const char* name;
    std::uint64_t blocks, length;
    StepCut cut;
  };
  const Row rows[] = {
      {"an empty file", 0, kLength, {}},
      {"less than one step", 3, kLength, {2, 2, 0, 1, 0}},
      {"blocks of nothing", 4, 0, {}},
      {"blocks without a label", 4, 1, {}},
      {"blocks beyond the limit", 4, limits::kPackBlockTokens + 1ull, {}},
      {"a rank beyond the world", 4, kLength, {1, 1, 1, 1, 0}},
      {"a product that overflows", 4, kLength, {1ull << 33, 1ull << 33, 0, 1, 0}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const TemporaryFolder folder;
    const auto source =
        open_rank_file(folder.write("ids.i32", ids_of(row.blocks)), row.length, row.cut);
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().code, Errc::invalid_input);
  }
  const auto none = open_rank_file("/nowhere/ids.i32", kLength, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
}

}  // namespace
}  // namespace muster::train
