#include "core/checkpoint/checkpoint_manifest.h"

#include <gtest/gtest.h>

namespace muster::checkpoint {
namespace {

CheckpointManifest sample() {
  CheckpointManifest m;
  m.step = 500;
  m.tokens = 131'072'000;
  m.seed = ~0ull;
  m.pack_digest = 1;
  m.skipped = 2;
  m.plan_digest = 0x8000000000000000u;
  m.world = 16;
  m.exact = true;
  m.files = {{"model.safetensors", 1234, std::string(32, 'a')},
             {"state/rank-00000-of-00016.safetensors", 99, std::string(32, '0')}};
  return m;
}

TEST(CheckpointManifest, ReadsBack) {
  const auto again = decode_checkpoint_manifest(encode_checkpoint_manifest(sample()));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_EQ(*again, sample());
}

TEST(CheckpointManifest, BadOnes) {
  struct Row {
    const char *name, *from, *to;
  };
  const Row rows[] = {
      {"another schema", "muster.checkpoint/1", "muster.pack/1"},
      {"a later version", "muster.checkpoint/1", "muster.checkpoint/2"},
      {"no step", "\"step\":500", "\"stop\":500"},
      {"a negative step", "\"step\":500", "\"step\":-5"},
      {"no rank", "\"world\":16", "\"world\":0"},
      {"too many ranks", "\"world\":16", "\"world\":99999999"},
      {"out of the folder", "\"model.safetensors\"", "\"../model.safetensors\""},
      {"from the root", "\"model.safetensors\"", "\"/etc/passwd\""},
      {"no name", "\"model.safetensors\"", "\"\""},
      {"twice", "\"model.safetensors\"", "\"state/rank-00000-of-00016.safetensors\""},
      {"no hash", "\"hash\":\"aaaa", "\"hash\":\"AAAA"},
      {"a seed of other length", "\"seed\":\"ffff", "\"seed\":\"fff"},
      {"no files", "\"files\"", "\"fils\""},
  };
  for (const Row& row : rows) {
    std::string text = encode_checkpoint_manifest(sample());
    const std::size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.name;
    text.replace(at, std::string(row.from).size(), row.to);
    EXPECT_FALSE(decode_checkpoint_manifest(text)) << row.name;
  }
}

TEST(CheckpointManifest, CutAtEveryByte) {
  const std::string text = encode_checkpoint_manifest(sample());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode_checkpoint_manifest(text.substr(0, i))) << i;
  }
}

}  // namespace
}  // namespace muster::checkpoint
