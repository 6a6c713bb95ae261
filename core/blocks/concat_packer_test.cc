#include "core/blocks/concat_packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace muster::blocks {
namespace {

// What a pack would hold.
class Kept final : public BlockSink {
 public:
  explicit Kept(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}
  Status blocks(std::uint64_t first_block, std::span<const std::int32_t> block_ids,
                std::span<const std::uint8_t> loss) override {
    if (full) return make_error(Errc::exhausted, "full");
    EXPECT_EQ(first_block * block_tokens_, ids.size());
    EXPECT_EQ(block_ids.size() % block_tokens_, 0U);
    EXPECT_EQ(loss.size() * 8, block_ids.size());
    ids.insert(ids.end(), block_ids.begin(), block_ids.end());
    bits.append(loss, 0, block_ids.size());
    return {};
  }
  Status ends(std::span<const std::uint64_t> block_ends) override {
    for (const std::uint64_t end : block_ends) EXPECT_LE(end, ids.size()) << "not written yet";
    all_ends.insert(all_ends.end(), block_ends.begin(), block_ends.end());
    return {};
  }

  std::vector<std::int32_t> ids;
  LossBits bits;
  std::vector<std::uint64_t> all_ends;
  bool full = false;

 private:
  std::uint32_t block_tokens_;
};

void add_document(TokenRun& run, std::int32_t& next_id, std::uint64_t length, bool trained) {
  for (std::uint64_t i = 0; i < length; ++i) run.ids.push_back(next_id++);
  run.ends.push_back(run.ids.size());
  run.trained.append(length, trained);
}

bool same(const LossBits& a, const LossBits& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

struct Text {
  std::vector<std::uint64_t> lengths;
  std::vector<bool> trained;
};

Text random_text(std::mt19937_64& random) {
  Text out;
  const std::uint64_t documents = random() % 40;
  for (std::uint64_t d = 0; d < documents; ++d) {
    out.lengths.push_back(random() % 4 == 0 ? random() % 200 : random() % 20);
    out.trained.push_back(random() % 2 == 0);
  }
  return out;
}

// Packs `text` in runs of as many documents as `next` says; breaks off and goes on from the pending
// run after `break_after` runs.
template <typename Next>
void pack(const Text& text, Next&& next, int break_after, Kept& kept, TokenRun& tail) {
  ConcatPacker first(16, kept);
  ConcatPacker* packer = &first;
  std::optional<ConcatPacker> second;
  std::int32_t id = 0;
  int runs = 0;
  for (std::size_t d = 0; d < text.lengths.size();) {
    TokenRun run;
    for (std::uint64_t n = next(); n > 0 && d < text.lengths.size(); --n, ++d) {
      add_document(run, id, text.lengths[d], text.trained[d]);
    }
    ASSERT_TRUE(packer->add(run));
    if (++runs == break_after) {
      second.emplace(16, kept, packer->next_block());
      ASSERT_TRUE(second->add(packer->pending()));
      packer = &*second;
    }
  }
  tail = packer->pending();
}

TEST(ConcatPacker, RunsMakeNoDifferenceAndNothingIsLost) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const Text text = random_text(random);
    Kept whole(16), parts(16);
    TokenRun whole_tail, parts_tail;
    pack(text, [&] { return text.lengths.size(); }, 0, whole, whole_tail);
    pack(text, [&] { return random() % 5; }, 1 + static_cast<int>(random() % 6), parts, parts_tail);
    ASSERT_EQ(whole.ids, parts.ids);
    ASSERT_EQ(whole.all_ends, parts.all_ends);
    ASSERT_TRUE(same(whole.bits, parts.bits));
    ASSERT_EQ(whole_tail.ids, parts_tail.ids);
    ASSERT_EQ(whole_tail.ends, parts_tail.ends);
    ASSERT_TRUE(same(whole_tail.trained, parts_tail.trained));

    // Ids count up, so the blocks and the tail are the stream if they do.
    std::vector<std::int32_t> all = whole.ids;
    all.insert(all.end(), whole_tail.ids.begin(), whole_tail.ids.end());
    std::vector<std::uint64_t> ends = whole.all_ends;
    for (const std::uint64_t end : whole_tail.ends) ends.push_back(end + whole.ids.size());
    std::uint64_t token = 0;
    std::vector<std::uint64_t> expected;
    for (std::size_t d = 0; d < text.lengths.size(); ++d) {
      for (std::uint64_t i = 0; i < text.lengths[d]; ++i, ++token) {
        ASSERT_EQ(all[token], static_cast<std::int32_t>(token));
        if (token < whole.ids.size()) {
          ASSERT_EQ(whole.bits.at(token), text.trained[d]);
        }
      }
      if (text.lengths[d] > 0) expected.push_back(token);
    }
    ASSERT_EQ(all.size(), token);
    ASSERT_EQ(ends, expected);
    ASSERT_LT(whole_tail.ids.size(), 16U);
  }
}

TEST(ConcatPacker, AnEndAtTheEdgeOfABlockIsGivenOnceTheBlockIs) {
  Kept kept(8);
  ConcatPacker packer(8, kept);
  TokenRun run;
  std::int32_t id = 0;
  add_document(run, id, 5, true);
  ASSERT_TRUE(packer.add(run));
  EXPECT_TRUE(kept.all_ends.empty());
  EXPECT_EQ(packer.pending().ends, (std::vector<std::uint64_t>{5}));
  run.clear();
  add_document(run, id, 3, false);
  add_document(run, id, 0, false);
  ASSERT_TRUE(packer.add(run));
  EXPECT_EQ(kept.all_ends, (std::vector<std::uint64_t>{5, 8}));
  EXPECT_EQ(count_set(kept.bits.bytes()), 5U);
  EXPECT_TRUE(packer.pending().ids.empty());
}

TEST(ConcatPacker, SaysWhatTheSinkSays) {
  Kept kept(8);
  kept.full = true;
  ConcatPacker packer(8, kept);
  TokenRun run;
  std::int32_t id = 0;
  add_document(run, id, 9, true);
  const Status added = packer.add(run);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::exhausted);
}

}  // namespace
}  // namespace muster::blocks
