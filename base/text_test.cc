#include "base/text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ParseNumbers, RejectsAllButTheWhole) {
  for (const char* bad : {"", " 7", "7 ", "7x", "0x7", "--7", "+7", "1e999", "nan(", "7,5"}) {
    EXPECT_FALSE(parse_double(bad).has_value()) << bad;
  }
  for (const char* bad : {"", "-", "7.5", "9223372036854775808", "0x10", "seven"}) {
    EXPECT_FALSE(parse_int(bad).has_value()) << bad;
  }
  for (const char* bad : {"", "-1", "18446744073709551616", "1.0"}) {
    EXPECT_FALSE(parse_uint(bad).has_value()) << bad;
  }
  for (const char* bad : {"", "0x", "10", "0xg", "0x11111111111111111"}) {
    EXPECT_FALSE(parse_hex(bad).has_value()) << bad;
  }
  EXPECT_EQ(parse_double("-7.25e1"), -72.5);
  EXPECT_EQ(parse_int("-7"), -7);
  EXPECT_EQ(parse_uint("18446744073709551615"), ~0ull);
  EXPECT_EQ(parse_hex("0xFFffFFffFFffFFff"), ~0ull);
}

TEST(EscapeControls, MakesHostileTextHarmless) {
  struct Row {
    std::string_view in, out;
  };
  const Row rows[] = {
      {"plain \xc3\xa9", "plain \xc3\xa9"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {"a\nb\tc\r", "a\\nb\\tc\\x0d"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},  // C1 CSI in UTF-8
      {"\xe2\x80\xae"
       "abc",
       "\\u{202e}abc"},                     // right-to-left override
      {"\xff\xfe", "\\xff\\xfe"},           // not UTF-8
      {"\xc0\xaf", "\\xc0\\xaf"},           // overlong slash
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // surrogate
      {"\xe2\x82", "\\xe2\\x82"},           // cut sequence
      {std::string_view("a\0b", 3), "a\\x00b"},
  };
  for (const Row& row : rows) EXPECT_EQ(escape_controls(row.in), row.out);
  EXPECT_EQ(escape_controls("abcdef", 5), "ab...");
  EXPECT_EQ(escape_controls("abcde", 5), "abcde");
  EXPECT_EQ(escape_controls("ab\x1b", 5), "ab...");
}

TEST(WholeCharacters, NoneIsCut) {
  struct Row {
    const char *text, *left;
    std::size_t bytes;
  };
  for (const Row& row :
       {Row{"", "", 0}, Row{"", "", 9}, Row{"abc", "", 0}, Row{"abc", "ab", 2},
        Row{"abc", "abc", 3}, Row{"a\xc3\xa9", "a", 2}, Row{"a\xc3\xa9", "a\xc3\xa9", 3},
        Row{"\xe2\x82\xac", "", 1}, Row{"\xe2\x82\xac", "", 2}, Row{"x\xf0\x9f\x98\x80y", "x", 4},
        Row{"x\xf0\x9f\x98\x80y", "x\xf0\x9f\x98\x80", 5}, Row{"a\xa9\xa9\xa9", "a\xa9", 2},
        Row{"a\xa9\xa9\xa9\xa9\xa9", "a\xa9\xa9\xa9\xa9", 5}, Row{"a\xc3(", "a\xc3", 2}}) {
    EXPECT_EQ(whole_characters(row.text, row.bytes), row.left) << row.text << row.bytes;
  }
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("", ',').size(), 1u);
  EXPECT_EQ(split("a,,b,", ',').size(), 4u);
  EXPECT_EQ(trim(" \t a b \r"), "a b");
}

}  // namespace
}  // namespace muster
