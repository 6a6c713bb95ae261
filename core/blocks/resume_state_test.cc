#include "core/blocks/resume_state.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::blocks {
namespace {

const std::string kManifest = "0123456789abcdef0123456789abcdef";

TEST(ResumeState, ReadsBackWhatItWrote) {
  for (const ResumeState& state : {ResumeState{kManifest, 0, 0, 0, 1},
                                   ResumeState{kManifest, ~std::uint64_t{0}, 3, 1 << 20, 128}}) {
    const auto read = decode_resume_state(encode_resume_state(state));
    ASSERT_TRUE(read) << read.error().context;
    EXPECT_EQ(*read, state);
  }
}

TEST(ResumeState, CutAndFlippedAtEveryByte) {
  const std::string text = encode_resume_state({kManifest, 5, 1, 40, 128});
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode_resume_state(text.substr(0, i)));
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    const auto read = decode_resume_state(flipped);
    if (read) {
      EXPECT_LE(read->global_batch, 1000U);
    }
  }
  const auto with = [](const std::string& version, const std::string& manifest,
                       const std::string& rest) {
    return R"({"schema":"muster.pack_state/)" + version + R"(","manifest":")" + manifest + "\"," +
           rest + "}";
  };
  const std::string rest = R"("seed":0,"epoch":0,"step":0,"global_batch":1)";
  ASSERT_TRUE(decode_resume_state(with("1", kManifest, rest)));
  for (const std::string& bad :
       {with("2", kManifest, rest), with("1", "short", rest),
        with("1", kManifest, R"("seed":0,"epoch":0,"step":0,"global_batch":0)"),
        with("1", kManifest, R"("seed":-1,"epoch":0,"step":0,"global_batch":1)"),
        with("1", kManifest, R"("epoch":0,"step":0,"global_batch":1)")}) {
    EXPECT_FALSE(decode_resume_state(bad)) << bad;
  }
}

TEST(ResumeState, OnlyTheSameDataGoesOn) {
  const ResumeState state{kManifest, 5, 1, 40, 128};
  EXPECT_TRUE(check_resume(state, kManifest, 128, 40)) << "the end of the epoch is a state";
  struct Row {
    const char* says;
    Status status;
  };
  const Row rows[] = {
      {"this is ffff", check_resume(state, std::string(32, 'f'), 128, 40)},
      {"128 blocks, this run takes 64", check_resume(state, kManifest, 64, 80)},
      {"beyond the 39 steps", check_resume(state, kManifest, 128, 39)},
  };
  for (const Row& row : rows) {
    ASSERT_FALSE(row.status) << row.says;
    EXPECT_EQ(row.status.error().code, Errc::invalid_input);
    EXPECT_NE(row.status.error().context.find(row.says), std::string::npos)
        << row.status.error().context;
  }
}

}  // namespace
}  // namespace muster::blocks
