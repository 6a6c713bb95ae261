#include "app/pack_convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "app/pack_check.h"
#include "app/pack_verify.h"
#include "core/blocks/megatron_index.h"
#include "core/blocks/npy_header.h"
#include "edge/os/files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t kEos = 9;
constexpr std::uint64_t kLength = 16;  // tokens of a block

std::string bytes_of(const Ids& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * 4};
}
Ids ids_of(const std::string& bytes) {
  Ids out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), out.size() * 4);
  return out;
}

// Ids that tell where they are from, and the EOS behind about each twelfth.
Ids stream(std::uint64_t count, std::int32_t from) {
  std::mt19937 random(static_cast<unsigned>(from));
  Ids out;
  for (std::uint64_t i = 0; i < count; ++i) {
    out.push_back(random() % 12 == 0 ? kEos : from + static_cast<std::int32_t>(i));
  }
  return out;
}

PackConvertRequest to_pack(std::vector<std::string> inputs, std::string out) {
  PackConvertRequest request;
  request.inputs = std::move(inputs);
  request.out = std::move(out);
  request.block_tokens = kLength;
  return request;
}

Result<PackConverted> convert(const PackConvertRequest& request) {
  return convert_pack(request, [](std::uint64_t, std::uint64_t) { return true; });
}

class PackConvert : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Three ranks of an older packer, the second shorter, the third with a torn end.
  std::vector<std::string> write_ranks() {
    std::vector<std::string> out;
    for (const std::uint64_t blocks : {10U, 8U, 11U}) {
      const auto rank = out.size();
      Ids ids = stream(blocks * kLength, static_cast<std::int32_t>(1000 * (rank + 1)));
      all_.insert(all_.end(), ids.begin(), ids.end());
      if (rank == 2) ids.resize(ids.size() + 5, 1);
      out.push_back(folder_.write("rank0" + std::to_string(rank) + ".i32", bytes_of(ids)));
    }
    return out;
  }

  std::string made_pack(std::optional<std::int32_t> eos) {
    PackConvertRequest request = to_pack(write_ranks(), path("pack"));
    request.eos = eos;
    const auto made = convert(request);
    EXPECT_TRUE(made) << made.error().context;
    return path("pack");
  }

  static PackVerdict verified(const std::string& pack, std::uint64_t batch = 4) {
    PackVerifyRequest request;
    request.folder = pack;
    request.global_batch = batch;
    const auto verdict = verify_pack(request);
    EXPECT_TRUE(verdict) << verdict.error().context;
    return verdict ? *verdict : PackVerdict{};
  }

  TemporaryFolder folder_;
  Ids all_;  // of all ranks, whole blocks
};

TEST_F(PackConvert, RanksBecomeOneListAndNothingIsLost) {
  for (const bool with_eos : {false, true}) {
    const TemporaryFolder fresh;
    PackConvertRequest request = to_pack(write_ranks(), fresh.path() + "/pack");
    if (with_eos) request.eos = kEos;
    const auto made = convert(request);
    ASSERT_TRUE(made) << made.error().context;
    EXPECT_NE(made->summary.find("; 20 bytes behind the whole blocks"), std::string::npos)
        << made->summary;
    const std::string manifest = file_text(request.out + "/manifest.json");
    EXPECT_NE(manifest.find("\"records\":11,"), std::string::npos) << manifest;
    EXPECT_EQ(manifest.find("\"documents\":0,") == std::string::npos, with_eos) << manifest;
    EXPECT_EQ(ids_of(file_text(request.out + "/blocks.i32")), all_);
    const PackVerdict verdict = verified(request.out);
    EXPECT_NE(verdict.line.find("blocks=29x16"), std::string::npos) << verdict.line;
    EXPECT_NE(verdict.line.find("steps=7x4 dropped=1"), std::string::npos) << verdict.line;
    EXPECT_EQ(verdict.line.find("documents=unknown") == std::string::npos, with_eos);
    all_.clear();
  }
}

TEST_F(PackConvert, ToRanksAndBackEveryBlockIsThereOnce) {
  const std::string pack = made_pack({});
  PackConvertRequest request;
  request.inputs = {pack};
  request.to = PackForm::ranks;
  request.out = path("ranks");
  request.world_size = 2;
  request.micro_batch = 2;
  request.global_batch = 4;
  request.seed = 3;
  const auto done = convert(request);
  ASSERT_TRUE(done) << done.error().context;
  std::multiset<Ids> blocks, expected;
  for (const char* name : {"rank00.i32", "rank01.i32"}) {
    const Ids ids = ids_of(file_text(request.out + "/" + name));
    EXPECT_EQ(ids.size(), 14 * kLength) << "7 steps of 2 blocks";
    for (std::size_t i = 0; i < ids.size(); i += kLength) {
      blocks.insert(Ids(ids.begin() + static_cast<std::ptrdiff_t>(i),
                        ids.begin() + static_cast<std::ptrdiff_t>(i + kLength)));
    }
  }
  for (std::size_t i = 0; i < all_.size(); i += kLength) {
    expected.insert(Ids(all_.begin() + static_cast<std::ptrdiff_t>(i),
                        all_.begin() + static_cast<std::ptrdiff_t>(i + kLength)));
  }
  std::size_t found = 0;
  for (const Ids& block : blocks) {
    EXPECT_EQ(blocks.count(block), 1U);
    found += expected.count(block);
  }
  EXPECT_EQ(found, 28U) << "one of 29 blocks does not fill a step";
  PackCheckRequest check{{request.out}, kLength, 2, 1};
  const auto checked = check_rank_files(check, real_files());
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->report.findings[0].cause, Cause::healthy);
}

TEST_F(PackConvert, ThroughMegatronAndBackItIsTheSamePack) {
  const std::string pack = made_pack(kEos);
  PackConvertRequest out;
  out.inputs = {pack};
  out.to = PackForm::megatron;
  out.out = path("set");
  ASSERT_TRUE(convert(out));
  EXPECT_FALSE(real_files().stat(path("set_loss_mask.idx"))) << "everything is trained on";
  EXPECT_EQ(ids_of(file_text(path("set.bin"))), all_);
  PackConvertRequest back = to_pack({path("set.idx")}, path("again"));
  back.eos = kEos;
  ASSERT_TRUE(convert(back));
  for (const char* name : {"/blocks.i32", "/docs.u64", "/loss.bits", "/hashes.u64"}) {
    EXPECT_EQ(file_text(pack + name), file_text(path("again") + name)) << name;
  }
  EXPECT_EQ(verified(pack).line, verified(path("again")).line);
}

TEST_F(PackConvert, TheMaskOfMegatronIsRead) {
  const Ids ids = stream(3 * kLength + 5, 100);
  const blocks::MegatronIndex index{blocks::IdType::i32, 2, 3};
  const std::int32_t sizes[] = {20, static_cast<std::int32_t>(ids.size()) - 20};
  const std::int64_t documents[] = {0, 1, 2};
  const auto idx = [&](blocks::IdType type, std::int64_t second) {
    const std::int64_t pointers[] = {0, second};
    return blocks::megatron_header({type, index.sequences, index.document_entries}) +
           std::string(reinterpret_cast<const char*>(sizes), sizeof sizes) +
           std::string(reinterpret_cast<const char*>(pointers), sizeof pointers) +
           std::string(reinterpret_cast<const char*>(documents), sizeof documents);
  };
  folder_.write("set.bin", bytes_of(ids));
  folder_.write("set.idx", idx(blocks::IdType::i32, 80));
  std::string mask(ids.size(), '\1');
  for (const std::size_t i : {0U, 7U, 8U, 21U, 40U}) mask[i] = '\0';
  folder_.write("set_loss_mask.bin", mask);
  folder_.write("set_loss_mask.idx", idx(blocks::IdType::u8, 20));
  const auto made = convert(to_pack({path("set.bin")}, path("pack")));
  ASSERT_TRUE(made) << made.error().context;
  const std::string bits = file_text(path("pack/loss.bits"));
  for (std::size_t i = 0; i < 3 * kLength; ++i) {
    EXPECT_EQ((bits.at(i / 8) >> (i % 8)) & 1, mask[i]) << i;
  }
  EXPECT_NE(verified(path("pack"), 2).line.find("tail=5"), std::string::npos);
  // And out again, with a byte for each token.
  PackConvertRequest out;
  out.inputs = {path("pack")};
  out.to = PackForm::megatron;
  out.out = path("out");
  ASSERT_TRUE(convert(out));
  EXPECT_EQ(file_text(path("out_loss_mask.bin")), mask.substr(0, 3 * kLength));
  // A mask of another data set is refused.
  folder_.write("set_loss_mask.bin", mask + "\1");
  EXPECT_FALSE(convert(to_pack({path("set.bin")}, path("pack2"))));
  EXPECT_FALSE(real_files().stat(path("pack2")));
}

TEST_F(PackConvert, NumpyBothWays) {
  const std::string pack = made_pack({});
  PackConvertRequest out;
  out.inputs = {pack};
  out.to = PackForm::numpy;
  out.out = path("x.npy");
  ASSERT_TRUE(convert(out));
  const std::string npy = file_text(out.out);
  const auto header = blocks::parse_npy_header(npy.substr(0, 4096), npy.size());
  ASSERT_TRUE(header) << header.error().context;
  EXPECT_EQ(header->shape, (std::vector<std::uint64_t>{29, kLength}));
  EXPECT_EQ(ids_of(npy.substr(header->data_at)), all_);
  ASSERT_TRUE(convert(to_pack({out.out}, path("again"))));
  EXPECT_EQ(verified(path("again")).line, verified(pack).line);
}

TEST_F(PackConvert, NothingIsOverwrittenAndNothingIsLeftBehind) {
  const std::string pack = made_pack({});
  const std::string before = verified(pack).line;
  EXPECT_FALSE(convert(to_pack(write_ranks(), pack)));
  EXPECT_FALSE(convert(to_pack({path("none.i32")}, path("x"))));
  folder_.write("bad.npy", "\x93NUMPY");
  EXPECT_FALSE(convert(to_pack({path("bad.npy")}, path("x"))));
  PackConvertRequest bounded = to_pack(write_ranks(), path("x"));
  bounded.vocabulary_count = 3000;
  const auto refused = convert(bounded);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().context.find("is not below 3000"), std::string::npos);
  for (const PackForm form : {PackForm::ranks, PackForm::megatron, PackForm::numpy}) {
    PackConvertRequest taken;
    taken.inputs = {pack};
    taken.to = form;
    taken.out = form == PackForm::megatron ? path("taken") : path("taken.idx");
    taken.world_size = 1;
    taken.global_batch = 4;
    folder_.write("taken.idx", "mine");
    EXPECT_FALSE(convert(taken));
    EXPECT_EQ(file_text(path("taken.idx")), "mine");
  }
  EXPECT_EQ(verified(pack).line, before);
  const auto names = real_files().list(folder_.path());
  ASSERT_TRUE(names);
  for (const std::string& name : *names) {
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
  }
  EXPECT_FALSE(real_files().stat(path("taken.bin")));
  EXPECT_FALSE(real_files().stat(path("x")));
}

TEST_F(PackConvert, WhatIsStoppedLeavesNothingBehind) {
  const std::string pack = made_pack({});
  for (const PackForm form :
       {PackForm::pack, PackForm::ranks, PackForm::megatron, PackForm::numpy}) {
    PackConvertRequest request = to_pack({path("rank00.i32")}, path("out"));
    if (form != PackForm::pack) request.inputs = {pack};
    request.to = form;
    request.world_size = 2;
    request.global_batch = 4;
    const auto before = real_files().list(folder_.path());
    const auto stopped = convert_pack(request, [](std::uint64_t, std::uint64_t) { return false; });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Errc::unavailable) << stopped.error().context;
    EXPECT_EQ(real_files().list(folder_.path()).value(), before.value());
  }
}

}  // namespace
}  // namespace muster
