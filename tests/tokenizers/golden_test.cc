// Ids of real vocabularies, where they are at hand: MUSTER_TOKENIZERS=FOLDER holds
// qwen3/tokenizer.json, adversarial.docs, codepoints.docs.zst (per document u32 little-endian
// length, then its bytes) and beside them NAME.qwen3.i32[.zst] (ids, int32) and
// NAME.qwen3.i32.len[.zst] (u32 ids of each document), made by Hugging Face's tokenizers 0.22.2.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/tokens/tokenizer.h"
#include "edge/os/files.h"
#include "edge/os/zstd_stream.h"

namespace muster {
namespace {

std::string whole(const std::string& path) {
  auto file = real_files().open(path);
  if (!file) {
    ADD_FAILURE() << file.error().context;
    return {};
  }
  auto stream = decompressed(std::move(*file), path);
  std::string out, buffer(1 << 20, '\0');
  while (stream) {
    const auto got = (*stream)->read(buffer);
    if (!got || *got == 0) break;
    out.append(buffer, 0, *got);
  }
  return out;
}

template <typename T>
T take(std::string_view bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

struct Golden {
  const char* name;
  const char* suffix;
  std::size_t documents;
};

class Qwen3 : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("MUSTER_TOKENIZERS");
    if (folder == nullptr) GTEST_SKIP() << "MUSTER_TOKENIZERS names no folder of real tokenizers";
    folder_ = folder;
  }
  std::string folder_;
};

TEST_P(Qwen3, GivesTheIdsOfHuggingFace) {
  const auto tokenizer = Tokenizer::from_json(whole(folder_ + "/qwen3/tokenizer.json"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().context;
  const Golden& row = GetParam();
  const std::string base = folder_ + "/" + row.name;
  const std::string docs = whole(base + ".docs" + row.suffix);
  const std::string ids = whole(base + ".qwen3.i32" + row.suffix);
  const std::string counts = whole(base + ".qwen3.i32.len" + row.suffix);
  Encoder encoder(**tokenizer);
  std::size_t at = 0, id = 0, wrong = 0, documents = 0;
  for (; at + 4 <= docs.size(); ++documents) {
    const auto size = take<std::uint32_t>(std::string_view(docs).substr(at), 0);
    const std::string_view text = std::string_view(docs).substr(at + 4, size);
    at += 4 + size;
    std::vector<std::int32_t> got, again;
    std::vector<std::uint64_t> starts;
    ASSERT_TRUE(encoder.encode(text, {}, got)) << documents;
    ASSERT_TRUE(encoder.encode_with_starts(text, {}, again, starts)) << documents;
    ASSERT_EQ(got, again);
    ASSERT_EQ(starts.size(), got.size());
    std::vector<std::int32_t> expected(take<std::uint32_t>(counts, documents));
    for (std::int32_t& one : expected) one = take<std::int32_t>(ids, id++);
    if (got == expected) continue;
    if (++wrong <= 5) {
      EXPECT_EQ(got, expected) << row.name << " document " << documents;
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(documents, row.documents);
}
INSTANTIATE_TEST_SUITE_P(Files, Qwen3,
                         testing::Values(Golden{"adversarial", "", 90},
                                         Golden{"codepoints", ".zst", 269384}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace muster
