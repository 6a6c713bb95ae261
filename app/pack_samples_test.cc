#include "app/pack_samples.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "app/pack_test_kit.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

// 300 documents in three forms; every seventh record is none, the chats train on their answers.
std::string lines() {
  std::string out;
  for (int i = 0; i < 300; ++i) {
    const std::string text = std::to_string(i) + std::string(static_cast<std::size_t>(i % 50), 'x');
    if (i % 7 == 3) out += "{}\n";
    out += i % 3 == 0 ? R"({"messages":[{"role":"user","content":"<e>"},)"
                        R"({"role":"assistant","content":")" +
                            text + "\"}]}\n"
                      : "{\"text\":\"<e>" + text + "\"}\n";
  }
  return out;
}

PackRequest request(const TemporaryFolder& folder, blocks::PackMode mode) {
  PackRequest made;
  made.paths = {folder.path() + "/a.jsonl", folder.path() + "/b.jsonl"};
  made.out = folder.path() + "/pack";
  made.block_tokens = 64;
  made.mode = mode;
  made.chunk_bytes = 1000;
  return made;
}

void build(const PackRequest& wanted, const PackVocabulary& vocabulary) {
  const auto made =
      build_pack(wanted, vocabulary, real_files(), real_work_folders(), {}, std::stop_token());
  ASSERT_TRUE(made) << made.error().context;
}

Result<PackSamples> compare(const TemporaryFolder& folder, const PackVocabulary& vocabulary,
                            std::uint64_t seed = 0) {
  std::string damaged;
  const auto pack = OpenPack::open(folder.path() + "/pack", damaged);
  EXPECT_TRUE(pack) << damaged;
  return compare_samples(*pack, vocabulary, real_files(), seed, {});
}

constexpr blocks::PackMode kModes[] = {blocks::PackMode::concat, blocks::PackMode::best_fit,
                                       blocks::PackMode::best_fit_split};

TEST(PackSamples, WhatWasPackedIsFoundAgain) {
  for (const blocks::PackMode mode : kModes) {
    const TemporaryFolder folder;
    folder.write("a.jsonl", lines());
    folder.write("b.jsonl", lines());
    build(request(folder, mode), byte_vocabulary());
    for (const std::uint64_t seed : {0U, 1U}) {
      const auto samples = compare(folder, byte_vocabulary(), seed);
      ASSERT_TRUE(samples) << samples.error().context;
      EXPECT_FALSE(samples->different) << samples->different->text;
      EXPECT_TRUE(samples->blind.empty());
      EXPECT_EQ(samples->compared, 256U);
      EXPECT_EQ(samples->documents, 256U);
    }
  }
}

TEST(PackSamples, AnInputThatIsNotTheOneThatWasPackedIsBlindAndAccusesNobody) {
  struct Row {
    const char* name;
    std::function<void(const std::string& path)> change;
    const char* says;
  };
  const Row rows[] = {
      {"gone", [](const auto& path) { std::remove(path.c_str()); }, "No such file"},
      {"a folder",
       [](const auto& path) {
         std::remove(path.c_str());
         testing_support::run_shell("mkdir " + path);
       },
       "it is no file"},
      {"longer", [](const auto& path) { testing_support::run_shell("echo {} >> " + path); },
       "bytes, and had"},
      {"another of the same length",
       [](const auto& path) { testing_support::run_shell("sed -i s/xx/yy/ " + path); },
       "its hash is another"},
  };
  for (const Row& row : rows) {
    for (const blocks::PackMode mode : kModes) {
      const TemporaryFolder folder;
      folder.write("a.jsonl", lines());
      const std::string path = folder.write("b.jsonl", lines());
      build(request(folder, mode), byte_vocabulary());
      row.change(path);
      const auto samples = compare(folder, byte_vocabulary());
      ASSERT_TRUE(samples) << row.name << ": " << samples.error().context;
      EXPECT_FALSE(samples->different) << row.name << ": " << samples->different->text;
      ASSERT_EQ(samples->blind.size(), 1U) << row.name;
      EXPECT_EQ(samples->blind[0].source, path);
      EXPECT_NE(samples->blind[0].reason.find(row.says), std::string::npos)
          << samples->blind[0].reason;
      EXPECT_GT(samples->compared, 90U) << row.name;
      EXPECT_LT(samples->compared, 166U) << row.name;
    }
  }
}

// An encoder that is wrong from a document on: a pack that it made is told by a right one.
class Wrong final : public TextEncoder {
 public:
  explicit Wrong(std::string word) : word_(std::move(word)) {}
  Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                std::vector<std::int32_t>& out) override {
    std::vector<std::uint64_t> starts;
    return encode_with_starts(utf8, plain, out, starts);
  }
  Status encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                            std::vector<std::int32_t>& out,
                            std::vector<std::uint64_t>& starts) override {
    Status done = right_.encode_with_starts(utf8, plain, out, starts);
    if (utf8.find(word_) != std::string_view::npos) out.back() ^= 1;
    return done;
  }

 private:
  std::string word_;
  ByteEncoder right_;
};

TEST(PackSamples, APackOfOtherTokensIsTold) {
  for (const blocks::PackMode mode : kModes) {
    const TemporaryFolder folder;
    folder.write("a.jsonl", lines());
    folder.write("b.jsonl", lines());
    PackVocabulary wrong = byte_vocabulary();
    wrong.make_encoder = [] { return std::make_unique<Wrong>("7xx"); };
    build(request(folder, mode), wrong);
    const auto samples = compare(folder, byte_vocabulary());
    ASSERT_TRUE(samples) << samples.error().context;
    ASSERT_TRUE(samples->different);
    EXPECT_TRUE(samples->different->source.ends_with(".jsonl"));
    EXPECT_GT(samples->different->line.value_or(0), 0U);
    const char* says = mode == blocks::PackMode::concat ? "in the pack" : "nowhere in the pack";
    EXPECT_NE(samples->different->text.find(says), std::string::npos) << samples->different->text;
    // And the wrong one is told by its text, whatever the pack holds.
    const auto decoded = compare(folder, wrong);
    ASSERT_TRUE(decoded && decoded->different);
    EXPECT_NE(decoded->different->text.find("its ids stand for"), std::string::npos)
        << decoded->different->text;
  }
}

TEST(PackSamples, OtherTokenizersAndPacksOfIdsAreRefused) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", lines());
  folder.write("b.jsonl", lines());
  build(request(folder, blocks::PackMode::concat), byte_vocabulary());
  PackVocabulary other = byte_vocabulary();
  other.hash = blocks::hash_text(blocks::hash_bytes("other"));
  EXPECT_EQ(compare(folder, other).error().code, Errc::invalid_input);
  other = byte_vocabulary();
  other.chat.reset();
  EXPECT_EQ(compare(folder, other).error().code, Errc::invalid_input);
  std::string manifest = file_text(folder.path() + "/pack/manifest.json");
  manifest.replace(manifest.find("\"specials\":\"usual\""), 18, "\"specials\":\"usual?\"");
  folder.write("pack/manifest.json", manifest);
  const auto old = compare(folder, byte_vocabulary());
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().context.find("does not tell how"), std::string::npos);
}

}  // namespace
}  // namespace muster
