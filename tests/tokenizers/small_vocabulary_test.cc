// testdata/tokenizers/: the ids of Hugging Face's library with a small vocabulary of each family.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/records/jsonl_records.h"
#include "core/tokens/tokenizer.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;

const std::string kFolder = std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/";

class Texts final : public records::RecordSink {
 public:
  void document(records::Document&& document, std::uint64_t) override {
    texts.push_back(std::move(document.text));
  }
  void fault(records::Fault fault, std::uint64_t line, const std::string&) override {
    EXPECT_FALSE(records::loses_record(fault)) << line;
    if (fault == records::Fault::empty_text) texts.emplace_back();
  }
  std::vector<std::string> texts;
};

const std::vector<std::string>& texts() {
  static const Texts kTexts = [] {
    Texts sink;
    std::string lines = file_text(kFolder + "texts.jsonl");
    const std::size_t size = lines.size();
    lines.append(records::kRecordPadding, '\0');
    records::JsonlReader reader({.field = "text"});
    reader.read(std::string_view(lines).substr(0, size), 1, sink);
    return sink;
  }();
  return kTexts.texts;
}

std::vector<std::int32_t> numbers(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::int32_t> out;
  for (std::int32_t id = 0; words >> id;) out.push_back(id);
  return out;
}

std::string utf8(std::uint32_t c) {
  std::string out;
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
  }
  if (c >= 0x80) put(0x80 | (c & 0x3F));
  return out;
}

// As sweep() of make.py has them.
std::vector<std::uint32_t> swept() {
  std::vector<std::uint32_t> points;
  const auto range = [&points](std::uint32_t from, std::uint32_t to, std::uint32_t by) {
    for (std::uint32_t c = from; c < to; c += by) points.push_back(c);
  };
  range(0, 0x3400, 1);
  range(0x3400, 0xD800, 13);
  range(0xE000, 0xF900, 97);
  range(0xF900, 0x10000, 1);
  range(0x10000, 0x20000, 3);
  range(0x20000, 0x110000, 509);
  return points;
}

class Family : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto loaded = Tokenizer::from_json(file_text(kFolder + GetParam() + ".json"));
    ASSERT_TRUE(loaded) << loaded.error().context;
    tokenizer = std::move(*loaded);
  }
  std::unique_ptr<const Tokenizer> tokenizer;
};

TEST_P(Family, GivesTheIdsOfHuggingFace) {
  std::istringstream lines(file_text(kFolder + GetParam() + ".ids"));
  Encoder encoder(*tokenizer);
  // Twice: the second time many pieces come from the cache.
  ASSERT_GT(texts().size(), 200U);
  for (std::string line; const std::string& text : texts()) {
    ASSERT_TRUE(std::getline(lines, line));
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int32_t> ids;
      ASSERT_TRUE(encoder.encode(text, {}, ids));
      EXPECT_EQ(ids, numbers(line)) << round << ": " << text;
    }
  }
}

TEST_P(Family, GivesThemForEachCodePoint) {
  std::istringstream lines(file_text(kFolder + GetParam() + ".sums"));
  Encoder encoder(*tokenizer);
  const std::vector<std::uint32_t> points = swept();
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string c = utf8(points[i]);
    const std::string text = fmt::format("a{0}b {0} {0}1{0}\n{0}'s!{0}", c);
    ASSERT_TRUE(encoder.encode(text, {}, ids)) << points[i];
    if (i % 1024 != 1023 && i + 1 != points.size()) continue;
    std::string sum;
    ASSERT_TRUE(std::getline(lines, sum));
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(ids.data()),
                           static_cast<uInt>(ids.size() * sizeof(ids[0])));
    EXPECT_EQ(fmt::format("{:08x}", crc), sum)
        << fmt::format("U+{:04X} to U+{:04X}", points[i / 1024 * 1024], points[i]);
    ids.clear();
  }
}

TEST_P(Family, TellsWhereEachTokenStarts) {
  Encoder encoder(*tokenizer);
  for (const std::string& text : texts()) {
    std::vector<std::int32_t> ids, again;
    std::vector<std::uint64_t> starts;
    ASSERT_TRUE(encoder.encode(text, {}, ids));
    ASSERT_TRUE(encoder.encode_with_starts(text, {}, again, starts));
    EXPECT_EQ(again, ids) << text;
    ASSERT_EQ(starts.size(), ids.size()) << text;
    // Where nothing was normalised the tokens lie back to back in the text.
    const auto decoded = tokenizer->decode(ids);
    ASSERT_TRUE(decoded);
    if (*decoded != text) continue;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(starts[i], at) << text;
      at += tokenizer->decode({&ids[i], 1})->size();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SmallVocabulary, Family,
                         testing::Values("qwen2", "llama3", "o200k", "deepseek_v3", "normalized"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace muster
