#include "app/pack_build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "app/pack_test_kit.h"
#include "core/blocks/block_hash.h"
#include "tests/support/memory_files.h"
#include "tests/support/memory_work_folders.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

const std::vector<std::string> kNames = {"blocks.i32", "docs.u64",     "loss.bits",
                                         "hashes.u64", "errors.jsonl", "manifest.json"};

PackRequest request(std::vector<std::string> paths, const std::string& out) {
  PackRequest made;
  made.paths = std::move(paths);
  made.out = out;
  made.block_tokens = 16;
  made.chunk_bytes = 100;
  made.mark_bytes = 300;
  made.threads = 2;
  return made;
}

// Inputs and outputs in memory.
class PackBuild : public ::testing::Test {
 protected:
  Result<PackResult> build(const PackRequest& request) {
    return build_pack(request, byte_vocabulary(), files_, folders_, {}, {});
  }
  // All bytes of a pack, names in front.
  std::string contents(const std::string& out) {
    std::string all;
    for (const std::string& name : kNames) all += name + "\n" + folders_.text(out, name);
    return all;
  }
  std::string write(const std::string& name, std::string_view text) {
    files_.add(name, std::string(text));
    return name;
  }
  std::vector<std::int32_t> ids(const std::string& out) {
    const std::string bytes = folders_.text(out, "blocks.i32");
    std::vector<std::int32_t> made(bytes.size() / 4);
    std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
  }

  MemoryFiles files_;
  MemoryWorkFolders folders_;
};

// Records of many lengths, a few of them bad, in two files.
std::string records_text(int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) {
    if (i % 13 == 5) {
      text += "{\"no\":1}\n";
    } else if (i % 17 == 3) {
      text += "\n";
    } else if (i % 5 == 0) {
      text += fmt::format(R"({{"messages":[{{"role":"user","content":"q{}"}},)"
                          R"({{"role":"assistant","content":"{}"}}]}})"
                          "\n",
                          i, std::string(static_cast<std::size_t>(i * 7 % 40), 'a'));
    } else {
      text += fmt::format("{{\"text\":\"{}{}\"}}\n", i,
                          std::string(static_cast<std::size_t>(i * 31 % 61), 'x'));
    }
  }
  return text;
}

TEST_F(PackBuild, WhatIsThereIsLeftAsItIs) {
  const std::string in = write("a.jsonl", records_text(0, 50));
  ASSERT_TRUE(folders_.make("out") && folders_.make("two.part"));
  EXPECT_EQ(build(request({in}, "out")).error().code, Errc::invalid_input);
  EXPECT_FALSE(folders_.has("out.part"));
  EXPECT_NE(build(request({in}, "two")).error().context.find("--resume"), std::string::npos);
  const auto working = folders_.take("two.part");
  ASSERT_TRUE(working);
  const Error busy = build(request({in}, "two")).error();
  EXPECT_EQ(busy.code, Errc::unavailable) << "nobody is told to remove what another works in";
  EXPECT_FALSE(folders_.has("two"));
}

TEST_F(PackBuild, WhatCannotBecomeAPackLeavesNothing) {
  const std::string bad = write("bad.jsonl", "{\"no\":1}\n");
  const std::string small = write("small.jsonl", "{\"text\":\"a\"}\n");
  for (const auto mode : {blocks::PackMode::concat, blocks::PackMode::best_fit}) {
    for (const std::string& in : {bad, small}) {
      PackRequest wanted = request({in}, "out");
      wanted.mode = mode;
      if (mode == blocks::PackMode::best_fit && in == small) continue;  // one padded block
      const Error error = build(wanted).error();
      EXPECT_EQ(error.code, Errc::not_found);
      EXPECT_EQ(error.context.find("the first: " + bad + ":1: the field is missing: no \"text\"") !=
                    std::string::npos,
                in == bad)
          << error.context;
      EXPECT_FALSE(folders_.has("out") || folders_.has("out.part"));
    }
  }
  EXPECT_EQ(build(request({"none"}, "out")).error().code, Errc::not_found);
  EXPECT_FALSE(folders_.has("out.part"));
}

TEST_F(PackBuild, ASmallPackByHand) {
  const std::string in =
      write("a.jsonl", "{\"text\":\"abcdefg\"}\n{\"x\":1}\n{\"text\":\"hijklmnop\"}\n");
  auto result = build(request({in}, "out"));
  ASSERT_TRUE(result) << result.error().context;
  const blocks::PackManifest& m = result->manifest;
  EXPECT_EQ(m.blocks, 1U);
  EXPECT_EQ(m.document_tokens, 18U);  // 7 + EOS + 9 + EOS
  EXPECT_EQ(m.tail_tokens, 2U);
  EXPECT_EQ(m.documents, 2U);
  EXPECT_EQ(m.eos_added, 2U);
  EXPECT_EQ(m.eos_policy, blocks::EosPolicy::every);
  EXPECT_EQ(m.trained_tokens, 16U);
  ASSERT_EQ(m.inputs.size(), 1U);
  EXPECT_EQ(m.inputs[0].records, 3U);
  EXPECT_EQ(m.inputs[0].errors, 1U);
  EXPECT_EQ(ids("out"), (std::vector<std::int32_t>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 256, 'h', 'i',
                                                   'j', 'k', 'l', 'm', 'n', 'o'}));
  ASSERT_EQ(result->first_errors.size(), 1U);
  EXPECT_NE(result->first_errors[0].find("\"line\":2"), std::string::npos);
  EXPECT_EQ(folders_.text("out", "errors.jsonl"), result->first_errors[0] + "\n");
  const auto manifest = blocks::decode_manifest(folders_.text("out", "manifest.json"));
  ASSERT_TRUE(manifest) << manifest.error().context;
  EXPECT_EQ(*manifest, m);
  EXPECT_FALSE(folders_.has("out.part"));
  EXPECT_EQ(folders_.text("out", "journal"), "");
}

TEST_F(PackBuild, TheSameBytesForAnyThreadsAndChunksOfDocuments) {
  const std::vector<std::string> in = {write("a.jsonl", records_text(0, 300)),
                                       write("b.jsonl", records_text(300, 200))};
  for (const auto mode :
       {blocks::PackMode::concat, blocks::PackMode::best_fit, blocks::PackMode::best_fit_split}) {
    std::string first;
    int number = 0;
    for (const std::size_t threads : {1U, 2U, 5U}) {
      for (const std::size_t chunk : {1U, 100U, 100000U}) {
        PackRequest wanted = request(in, fmt::format("out{}_{}", static_cast<int>(mode), number));
        wanted.threads = threads;
        wanted.chunk_bytes = chunk;
        wanted.mode = mode;
        const auto result = build(wanted);
        ASSERT_TRUE(result) << result.error().context;
        const std::string all = contents(fmt::format("out{}_{}", static_cast<int>(mode), number++));
        if (first.empty()) first = all;
        EXPECT_EQ(all, first) << threads << " " << chunk;
        const auto decoded = blocks::decode_manifest(all.substr(all.find("manifest.json\n") + 14));
        ASSERT_TRUE(decoded) << decoded.error().context;
      }
    }
  }
}

TEST_F(PackBuild, FoldersAreReadByName) {
  write("in/b.jsonl", "{\"text\":\"bbbbbbbbbbbbbbb\"}");
  write("in/a.jsonl", "{\"text\":\"aaaaaaaaaaaaaaa\"}");
  const auto result = build(request({"in"}, "out"));
  ASSERT_TRUE(result) << result.error().context;
  ASSERT_EQ(result->manifest.inputs.size(), 2U);
  EXPECT_TRUE(result->manifest.inputs[0].path.ends_with("/a.jsonl"));
  // What a build in that folder left is no text, and neither is a pack.
  for (const char* name : {"journal", "blocks.i32", "spill.docs.u64"}) {
    write(std::string("in/x.part/") + name, "1");
  }
  const auto same = build(request({"in"}, "out2"));
  ASSERT_TRUE(same) << same.error().context;
  EXPECT_EQ(same->manifest.inputs, result->manifest.inputs);
  for (const char* name : {"blocks.i32", "manifest.json"}) write(std::string("in/p/") + name, "1");
  const auto pack = build(request({"in"}, "out3"));
  ASSERT_FALSE(pack);
  EXPECT_NE(pack.error().context.find("in/p/ is a pack itself"), std::string::npos)
      << pack.error().context;
}

TEST_F(PackBuild, StoppedItGoesOnWithTheSameRequestAlone) {
  const std::string in = write("a.jsonl", records_text(0, 300));
  ASSERT_TRUE(build(request({in}, "whole")));
  const std::string whole = contents("whole");
  std::stop_source stop;
  int chunks = 0;
  const auto stopping = [&](const PackProgress&) {
    if (++chunks == 20) stop.request_stop();
  };
  PackRequest wanted = request({in}, "out");
  const auto first =
      build_pack(wanted, byte_vocabulary(), files_, folders_, stopping, stop.get_token());
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Errc::unavailable);
  EXPECT_TRUE(folders_.has("out.part") && !folders_.has("out"));
  wanted.resume = true;
  for (int change = 0; change < 3; ++change) {
    PackRequest other = wanted;
    if (change == 0) other.block_tokens = 32;
    if (change == 1) other.field = "no";
    if (change == 2) other.paths.push_back(in);
    const auto refused = build(other);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().context.find(
                  std::vector{"block", "field", "inputs"}[static_cast<std::size_t>(change)]),
              std::string::npos)
        << refused.error().context;
  }
  write("a.jsonl", records_text(1, 300));
  EXPECT_NE(build(wanted).error().context.find("have changed"), std::string::npos);
  write("a.jsonl", records_text(0, 300));
  const auto last = build(wanted);
  ASSERT_TRUE(last) << last.error().context;
  EXPECT_TRUE(last->resumed);
  EXPECT_EQ(contents("out"), whole);
}

// What a mark says is held against the files: a byte that changed behind our back is made again.
TEST_F(PackBuild, ADiskThatLiedIsFoundOut) {
  const std::string in = write("a.jsonl", records_text(0, 200));
  ASSERT_TRUE(build(request({in}, "whole")));
  const std::string whole = contents("whole");
  PackRequest wanted = request({in}, "out");
  wanted.resume = true;
  for (const std::string name :
       {"blocks.i32", "docs.u64", "loss.bits", "hashes.u64", "errors.jsonl", "journal"}) {
    for (int part = 0; part < 5; ++part) {
      folders_ = {};
      std::stop_source stop;
      int chunks = 0;
      const auto stopping = [&](const PackProgress&) {
        if (++chunks == 50) stop.request_stop();
      };
      ASSERT_FALSE(
          build_pack(wanted, byte_vocabulary(), files_, folders_, stopping, stop.get_token()));
      std::string bytes = folders_.text("out.part", name);
      ASSERT_FALSE(bytes.empty()) << name;
      const std::size_t at = (bytes.size() - 1) * static_cast<std::size_t>(part) / 4;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      folders_.replace("out.part", name, bytes);
      const auto last = build(wanted);
      ASSERT_TRUE(last) << name << ": " << last.error().context;
      EXPECT_EQ(contents("out"), whole) << name << " " << at;
    }
  }
}

// Wherever the disk fails, the build says so and goes on later to the same bytes.
TEST_F(PackBuild, AFailureOfAnyCallIsGoneOnFrom) {
  const std::string in = write("a.jsonl", records_text(0, 30));
  for (const auto mode : {blocks::PackMode::concat, blocks::PackMode::best_fit_split}) {
    PackRequest wanted = request({in}, "whole");
    wanted.mode = mode;
    folders_ = {};
    ASSERT_TRUE(build(wanted));
    const std::string whole = contents("whole");
    const std::uint64_t calls = folders_.calls;
    wanted.resume = true;
    for (std::uint64_t call = 0; call < calls; ++call) {
      folders_ = {};
      folders_.failing_call = call;
      const auto failed = build(wanted);
      EXPECT_FALSE(failed) << call;
      EXPECT_FALSE(folders_.has("whole")) << call;
      folders_.failing_call.reset();
      const auto last = build(wanted);
      ASSERT_TRUE(last) << call << ": " << last.error().context;
      EXPECT_EQ(contents("whole"), whole) << call;
    }
  }
}

// The disk dies at any call, keeps what was synced and any part of the rest; twice.
TEST_F(PackBuild, ALossOfPowerAnywhereIsGoneOnFrom) {
  const std::string in = write("a.jsonl", records_text(0, 30));
  std::mt19937_64 random(11);
  const auto chance = [&random] { return random(); };
  for (const auto mode : {blocks::PackMode::concat, blocks::PackMode::best_fit}) {
    PackRequest wanted = request({in}, "whole");
    wanted.mode = mode;
    folders_ = {};
    ASSERT_TRUE(build(wanted));
    const std::string whole = contents("whole");
    const std::uint64_t calls = folders_.calls;
    wanted.resume = true;
    for (std::uint64_t call = 0; call < calls; ++call) {
      folders_ = {};
      for (const std::uint64_t ends : {call, call + random() % calls}) {
        folders_.power_ends = ends;
        if (folders_.has("whole")) continue;
        const auto failed = build(wanted);
        EXPECT_TRUE(failed || !folders_.has("whole")) << call;
        folders_.lose_power(chance);
      }
      const auto last = folders_.has("whole") ? Result<PackResult>(PackResult()) : build(wanted);
      ASSERT_TRUE(last) << call << ": " << last.error().context;
      EXPECT_EQ(contents("whole"), whole) << call;
    }
  }
}

}  // namespace
}  // namespace muster
