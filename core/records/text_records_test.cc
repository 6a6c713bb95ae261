#include "core/records/text_records.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/records/records_test_kit.h"

namespace muster::records {
namespace {

Said read(std::string_view bytes, std::string_view split) {
  const auto how = TextSplit::parse(split);
  if (!how) return {how.error().context};
  Told told;
  read_text(bytes, *how, 1, told);
  return told.said;
}

TEST(TextSplit, BadWords) {
  for (const std::string_view word : {"", "\\q", "\\", "a\\", "\xFF", "\\x41"}) {
    EXPECT_FALSE(TextSplit::parse(word)) << word;
  }
}

TEST(TextSplit, GoodWords) {
  EXPECT_EQ(TextSplit::parse("file")->mark(), "");
  EXPECT_EQ(TextSplit::parse("line")->mark(), "\n");
  EXPECT_EQ(TextSplit::parse("\\n---\\n")->mark(), "\n---\n");
  EXPECT_EQ(TextSplit::parse("<|endoftext|>")->mark(), "<|endoftext|>");
  EXPECT_EQ(TextSplit::parse("a\\\\n")->mark(), "a\\n");
  EXPECT_EQ(TextSplit::parse("\\0")->mark(), std::string_view("\0", 1));
  for (const std::string word : {"file", "line", "\\n---\\n", "a\\\\n", "\\0\\t\\r\\f", "<s>"}) {
    EXPECT_EQ(TextSplit::parse(word)->word(), word);
  }
}

TEST(TextRecords, AFile) {
  EXPECT_EQ(read("a\r\nb\n", "file"), (Said{"1: a\r\nb\n"}));
  EXPECT_EQ(read("", "file"), (Said{"1! empty_text"}));
  EXPECT_EQ(read("ab\xC3", "file"), (Said{"1! invalid_utf8: byte 2 of the document"}));
  EXPECT_EQ(read(std::string_view("a\0b", 3), "file"),
            (Said{"1! raw_nul: byte 1 of the document"}));
  EXPECT_EQ(read(std::string(limits::kRecordBytes + 1, 'a'), "file"), (Said{"1! too_long"}));
}

TEST(TextRecords, Lines) {
  EXPECT_EQ(read("a\n\n b \r\nc", "line"), (Said{"1: a", "2! blank", "3! crlf", "3:  b ", "4: c"}));
  EXPECT_EQ(read("a\n\xFF\nc\n", "line"),
            (Said{"1: a", "2! invalid_utf8: byte 0 of the document", "3: c"}));
}

TEST(TextRecords, Separators) {
  EXPECT_EQ(read("a\nb\n--\nc\n--\n", "--\\n"), (Said{"1: a\nb\n", "4: c\n"}));
  EXPECT_EQ(read("a<s><s>b", "<s>"), (Said{"1: a", "1! empty_text", "1: b"}));
  EXPECT_EQ(read("a<s", "<s>"), (Said{"1: a<s"}));
}

TEST(TextRecords, Utf8) {
  EXPECT_EQ(first_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("é한😀"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("é\x80"), 2U);
  EXPECT_EQ(first_invalid_utf8("\xC0\x80"), 0U);       // too long for its value
  EXPECT_EQ(first_invalid_utf8("a\xED\xA0\x80"), 1U);  // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0U);
}

}  // namespace
}  // namespace muster::records
