#include "core/blocks/block_scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/blocks/best_fit.h"
#include "core/blocks/doc_ends.h"

namespace muster::blocks {
namespace {

constexpr std::int32_t kEos = 99, kPad = 0;

struct Pack {
  PackManifest manifest;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> loss;
  std::vector<std::uint64_t> ends;
};

// Two blocks of 8: documents of 5, 6 and 4 tokens with their EOS, one token in the tail.
Pack concat() {
  Pack out;
  out.manifest.block_tokens = 8;
  out.manifest.blocks = 2;
  out.manifest.vocabulary_count = 100;
  out.manifest.eos = kEos;
  out.manifest.eos_policy = EosPolicy::every;
  out.manifest.documents = 4;
  out.manifest.pieces = 3;
  out.manifest.trained_tokens = 16;
  out.ids = {1, 2, 3, 4, kEos, 1, 2, 3, 4, 5, kEos, 1, 2, 3, kEos, 7};
  out.loss = {0xff, 0xff};
  out.ends = {5, 11, 15};
  return out;
}

// Two blocks of 8: pieces of 5 and 2, one of padding; a piece of 6, two of padding.
Pack best_fit() {
  Pack out = concat();
  out.manifest.mode = PackMode::best_fit;
  out.manifest.pad = kPad;
  out.manifest.documents = 3;
  out.manifest.pieces = 3;
  out.manifest.pad_tokens = 3;
  out.manifest.trained_tokens = 13;
  out.ids = {1, 2, 3, 4, kEos, 1, kEos, kPad, 1, 2, 3, 4, 5, kEos, kPad, kPad};
  out.loss = {0x7f, 0x3f};
  out.ends = {5, 7, 14};
  return out;
}

Status check(const Pack& pack) {
  BlockCounts counts;
  DocEndsCheck ends(pack.ids.size(), 8, pack.manifest.mode != PackMode::concat);
  Status fine = ends.add(pack.ends);
  // Block by block, as threads would.
  for (std::uint64_t b = 0; fine && b < pack.ids.size() / 8; ++b) {
    fine = scan_blocks(pack.manifest, b, std::span(pack.ids).subspan(b * 8, 8),
                       std::span(pack.loss).subspan(b, 1), pack.ends, counts);
  }
  BlockCounts at_once;
  if (fine) fine = scan_blocks(pack.manifest, 0, pack.ids, pack.loss, pack.ends, at_once);
  EXPECT_TRUE(!fine || (at_once.eos_inside == counts.eos_inside &&
                        at_once.eos_at_ends == counts.eos_at_ends &&
                        at_once.pad_tokens == counts.pad_tokens));
  return fine ? check_counts(pack.manifest, counts, ends.piece_tokens()) : fine;
}

TEST(BlockScan, SoundPacks) {
  for (const Pack& pack : {concat(), best_fit()}) {
    const Status fine = check(pack);
    EXPECT_TRUE(fine) << fine.error().context;
  }
  Pack unknown = concat();
  unknown.manifest.documents.reset();
  unknown.manifest.eos.reset();
  unknown.manifest.eos_policy = EosPolicy::none;
  unknown.manifest.vocabulary_count.reset();
  unknown.manifest.pieces = 0;
  unknown.ends.clear();
  EXPECT_TRUE(check(unknown));
}

struct Row {
  const char* name;
  Pack (*make)();
  std::function<void(Pack&)> spoil;
  Errc code;
  const char* says;
};

const Row kRows[] = {
    {"id_of_the_vocabulary_count", concat, [](Pack& p) { p.ids[9] = 100; }, Errc::invalid_input,
     "block 1, token 1: id 100 is not below 100"},
    {"negative_id", concat, [](Pack& p) { p.ids[3] = -1; }, Errc::invalid_input,
     "block 0, token 3: id -1"},
    {"negative_without_a_vocabulary", concat,
     [](Pack& p) {
       p.manifest.vocabulary_count.reset();
       p.ids[3] = INT32_MIN;
     },
     Errc::invalid_input, "block 0, token 3"},
    {"document_without_eos", concat, [](Pack& p) { p.ids[10] = 1; }, Errc::corrupt,
     "2 documents that end in the EOS were counted, the manifest says 3"},
    {"end_in_another_place", concat, [](Pack& p) { p.ends[1] = 10; }, Errc::corrupt,
     "2 documents that end"},
    {"bit_lost", concat, [](Pack& p) { p.loss[1] = 0xfe; }, Errc::corrupt,
     "15 trained tokens were counted, the manifest says 16"},
    {"block_lost", concat, [](Pack& p) { p.manifest.blocks = 3; }, Errc::corrupt, "2 blocks"},
    {"text_in_the_padding", best_fit, [](Pack& p) { p.ids[7] = 5; }, Errc::corrupt,
     "block 0, token 7: padding is id 5, not 0"},
    {"padding_that_is_trained", best_fit, [](Pack& p) { p.loss[1] = 0x7f; }, Errc::corrupt,
     "block 1, token 6: padding is trained on"},
    {"padding_not_told", best_fit, [](Pack& p) { p.manifest.pad_tokens = 2; }, Errc::corrupt,
     "3 tokens of padding"},
    {"piece_lost", best_fit, [](Pack& p) { p.ends.pop_back(); }, Errc::corrupt, "block 1, token 0"},
};

TEST(BlockScan, NamesWhatIsWrong) {
  for (const Row& row : kRows) {
    Pack pack = row.make();
    row.spoil(pack);
    const Status fine = check(pack);
    ASSERT_FALSE(fine) << row.name;
    EXPECT_EQ(fine.error().code, row.code) << row.name;
    EXPECT_NE(fine.error().context.find(row.says), std::string::npos)
        << row.name << ": " << fine.error().context;
  }
}

// What best_fit plans is what the scan accepts, whatever the lengths.
TEST(BlockScan, AcceptsWhatIsPlanned) {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const bool split = trial % 2 == 0;
    std::vector<std::uint64_t> lengths(1 + random() % 30);
    for (auto& length : lengths) length = 1 + random() % 20;
    const BestFitPlan plan = plan_best_fit(lengths, 8, split);
    Pack pack;
    pack.manifest.block_tokens = 8;
    pack.manifest.blocks = plan.blocks;
    pack.manifest.mode = split ? PackMode::best_fit_split : PackMode::best_fit;
    pack.manifest.eos = kEos;
    pack.manifest.eos_policy = EosPolicy::every;
    pack.manifest.pad = kPad;
    pack.manifest.documents = lengths.size();
    pack.manifest.pieces = plan.pieces.size();
    pack.manifest.pad_tokens = plan.pad_tokens;
    pack.manifest.truncated_documents = plan.truncated_documents;
    pack.manifest.trained_tokens = plan.blocks * 8 - plan.pad_tokens;
    pack.ids.assign(plan.blocks * 8, kPad);
    pack.loss.assign(plan.blocks, 0);
    std::size_t piece = 0;
    for (const std::uint64_t length : lengths) {
      for (std::uint64_t done = 0; done < length && (split || done == 0);) {
        const PiecePlace& place = plan.pieces[piece++];
        for (std::uint32_t i = 0; i < place.tokens; ++i, ++done) {
          const std::uint64_t at = place.block * 8 + place.offset + i;
          pack.ids[at] = done + 1 == length ? kEos : 5;
          pack.loss[at / 8] = static_cast<std::uint8_t>(pack.loss[at / 8] | (1U << (at % 8)));
        }
      }
    }
    pack.ends = piece_ends(plan, 8);
    const Status fine = check(pack);
    ASSERT_TRUE(fine) << fine.error().context;
  }
}

}  // namespace
}  // namespace muster::blocks
