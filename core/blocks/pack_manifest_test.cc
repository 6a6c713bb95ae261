#include "core/blocks/pack_manifest.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/limits.h"
#include "core/blocks/block_hash.h"

namespace muster::blocks {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

void rehash(PackManifest& m) {
  std::vector<Hash128> groups;
  m.groups.clear();
  for (std::uint64_t i = 0; i < groups_of(m.blocks); ++i) {
    groups.push_back(hash_bytes(std::to_string(i)));
    m.groups.push_back(hash_text(groups.back()));
  }
  m.root = hash_text(hash_root(groups));
}

PackManifest sound() {
  PackManifest m;
  m.block_tokens = 2048;
  m.blocks = kGroupBlocks + 3;
  m.tokenizer = hash_text(hash_bytes("tokenizer"));
  m.vocabulary_count = 151'669;
  m.eos = 151'643;
  m.eos_policy = EosPolicy::every;
  m.chat_template = "qwen3";
  m.inputs = {{"a.jsonl", 100, 12, 10, 2, hash_text(hash_bytes("a"))}, {"b.txt", 5, 1, 1, 0, ""}};
  m.documents = 11;
  m.eos_added = 11;
  m.document_tokens = m.tokens() + 17;
  m.tail_tokens = 17;
  m.pieces = 10;
  m.trained_tokens = 4711;
  m.global_batch = 128;
  m.remainder = Remainder::fill;
  m.split = "\\n";
  m.specials = "usual";
  m.doc_ends_hash = hash_text(hash_bytes("ends"));
  m.loss_bits_hash = hash_text(hash_bytes("loss"));
  rehash(m);
  return m;
}

PackManifest best_fit() {
  PackManifest m = sound();
  m.mode = PackMode::best_fit;
  m.pad = 0;
  m.tail_tokens = 0;
  m.pad_tokens = 1000;
  m.truncated_tokens = 50;
  m.truncated_documents = 2;
  m.pieces = 11;
  m.document_tokens = m.tokens() - 1000 + 50;
  return m;
}

TEST(PackManifest, ReadsBackWhatItWrote) {
  PackManifest bare;  // ids of another packer
  bare.blocks = 1;
  bare.document_tokens = bare.tokens();
  bare.doc_ends_hash = bare.loss_bits_hash = hash_text(hash_bytes(""));
  rehash(bare);
  PackManifest empty = bare;
  empty.blocks = empty.document_tokens = 0;
  rehash(empty);
  PackManifest split = best_fit();
  split.mode = PackMode::best_fit_split;
  split.truncated_tokens = split.truncated_documents = 0;
  split.document_tokens = split.tokens() - split.pad_tokens;
  split.pieces = 40;
  for (const PackManifest& m : {sound(), best_fit(), split, bare, empty}) {
    const auto read = decode_manifest(encode_manifest(m));
    ASSERT_TRUE(read) << read.error().context;
    EXPECT_EQ(*read, m);
  }
}

struct BadRow {
  const char* name;
  std::function<void(PackManifest&)> spoil;
  const char* says;
};

const BadRow kBad[] = {
    {"block_of_nothing", [](auto& m) { m.block_tokens = 0; }, "block_tokens"},
    {"block_within_a_byte", [](auto& m) { m.block_tokens = 2044; }, "block_tokens"},
    {"block_too_long", [](auto& m) { m.block_tokens = limits::kPackBlockTokens + 8; },
     "block_tokens"},
    {"too_many_blocks", [](auto& m) { m.blocks = limits::kPackBlocks + 1; }, "blocks"},
    {"blocks_of_64_bits", [](auto& m) { m.blocks = kMost; }, "blocks"},
    {"more_than_came", [](auto& m) { --m.document_tokens; }, "does not add up"},
    {"less_than_came", [](auto& m) { ++m.document_tokens; }, "does not add up"},
    {"account_beyond_64_bits",
     [](auto& m) {
       m.tail_tokens = kMost;
       m.document_tokens += m.tail_tokens - 17;
     },
     "does not add up"},
    {"tail_of_a_block",
     [](auto& m) {
       m.document_tokens += 2048;
       m.tail_tokens += 2048;
     },
     "tail_tokens"},
    {"padding_of_concat",
     [](auto& m) {
       m.pad_tokens = 1;
       --m.document_tokens;
     },
     "pad_tokens"},
    {"cut_by_concat", [](auto& m) { m.truncated_documents = 1; }, "truncated_tokens"},
    {"more_pieces_than_documents", [](auto& m) { m.pieces = 12; }, "pieces"},
    {"pieces_without_documents",
     [](auto& m) {
       m.documents.reset();
       m.eos_policy = EosPolicy::none;
       m.eos_added = 0;
     },
     "pieces"},
    {"an_input_left_out", [](auto& m) { m.inputs.pop_back(); }, "not those of the inputs"},
    {"trained_beyond", [](auto& m) { m.trained_tokens = m.tokens() + 1; }, "trained_tokens"},
    {"no_eos", [](auto& m) { m.eos.reset(); }, "eos"},
    {"eos_beyond_the_vocabulary", [](auto& m) { m.eos = 151'669; }, "eos"},
    {"eos_not_everywhere", [](auto& m) { m.eos_added = 10; }, "eos_added"},
    {"pad_beyond_the_vocabulary", [](auto& m) { m.pad = 200'000; }, "pad"},
    {"group_missing", [](auto& m) { m.groups.pop_back(); }, "1 of 2"},
    {"group_too_many", [](auto& m) { m.groups.push_back(m.groups[0]); }, "3 of 2"},
    {"other_group", [](auto& m) { m.groups[1] = m.groups[0]; }, "not that of the groups"},
    {"group_is_no_hash", [](auto& m) { m.groups[1] = "abc"; }, "groups"},
    {"other_root", [](auto& m) { m.root = m.groups[0]; }, "not that of the groups"},
    {"root_is_no_hash", [](auto& m) { m.root = "x"; }, "root"},
    {"ends_without_a_hash", [](auto& m) { m.doc_ends_hash = ""; }, "doc_ends_hash"},
    {"step_of_nothing", [](auto& m) { m.global_batch = 0; }, "global_batch"},
    {"step_too_large", [](auto& m) { m.global_batch = limits::kPackGlobalBatch + 1; },
     "global_batch"},
    {"tokenizer_is_no_hash", [](auto& m) { m.tokenizer = "qwen"; }, "tokenizer"},
    {"input_is_no_hash", [](auto& m) { m.inputs[1].hash = "0"; }, "inputs[1]"},
};

TEST(PackManifest, RefusesWhatContradictsItself) {
  for (const BadRow& row : kBad) {
    PackManifest m = sound();
    row.spoil(m);
    const auto read = decode_manifest(encode_manifest(m));
    ASSERT_FALSE(read) << row.name;
    EXPECT_NE(read.error().context.find(row.says), std::string::npos)
        << row.name << ": " << read.error().context;
  }
  PackManifest tail = best_fit();
  tail.tail_tokens = 1;
  ++tail.document_tokens;
  EXPECT_FALSE(decode_manifest(encode_manifest(tail)));
}

TEST(PackManifest, CutAndFlippedAtEveryByte) {
  PackManifest m = sound();
  m.blocks = 3;
  m.document_tokens = m.tokens() + 17;
  rehash(m);
  const std::string text = encode_manifest(m);
  const std::string identity = manifest_identity(m);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode_manifest(text.substr(0, i))) << i;
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x04);
    const auto read = decode_manifest(flipped);
    // What is read all the same has its own numbers, never others under the same name.
    if (read && manifest_identity(*read) == identity) {
      EXPECT_EQ(read->blocks, m.blocks);
    }
  }
}

TEST(PackManifest, TheIdentityIsThatOfTheData) {
  const PackManifest m = sound();
  PackManifest renamed = m, other = m;
  renamed.inputs[0].path = "elsewhere.jsonl";
  EXPECT_EQ(manifest_identity(renamed), manifest_identity(m));
  other.loss_bits_hash = hash_text(hash_bytes("other"));
  EXPECT_NE(manifest_identity(other), manifest_identity(m));
  other = m;
  other.block_tokens = 4096;
  EXPECT_NE(manifest_identity(other), manifest_identity(m));
}

}  // namespace
}  // namespace muster::blocks
