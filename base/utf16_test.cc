#include "base/utf16.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using namespace std::string_view_literals;

TEST(Utf16, Table) {
  struct Row {
    const char* name;
    std::string_view bytes, text;
  };
  const Row rows[] = {
      {"nothing", ""sv, ""},
      {"mark alone", "\xff\xfe"sv, ""},
      {"half a mark", "\xff"sv, ""},
      {"half a unit at the end",
       "\xff\xfe"
       "a\0b"sv,
       "a"},
      {"low half alone",
       "\xff\xfe\x00\xdc"
       "a\0"sv,
       "\xef\xbf\xbd"
       "a"},
      {"high half alone",
       "\xff\xfe\x3d\xd8"
       "a\0"sv,
       "\xef\xbf\xbd"
       "a"},
      {"two high halves", "\xff\xfe\x3d\xd8\x3d\xd8\x00\xde"sv, "\xef\xbf\xbd\xf0\x9f\x98\x80"},
      {"little end first",
       "\xff\xfe"
       "a\0\n\0"sv,
       "a\n"},
      {"big end first", "\xfe\xff\0a\0\n"sv, "a\n"},
      {"two bytes", "\xfe\xff\0\xe9"sv, "\xc3\xa9"},
      {"three bytes", "\xfe\xff\x20\xac"sv, "\xe2\x82\xac"},
      {"four bytes", "\xff\xfe\x3d\xd8\x00\xde"sv, "\xf0\x9f\x98\x80"},
      {"files joined",
       "\xff\xfe"
       "a\0\xff\xfe"
       "b\0"sv,
       "ab"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Utf16Decoder().feed(row.bytes), row.text) << row.name;
    for (std::size_t cut = 0; cut <= row.bytes.size(); ++cut) {
      Utf16Decoder decoder;
      const std::string first = decoder.feed(row.bytes.substr(0, cut));
      EXPECT_EQ(first + decoder.feed(row.bytes.substr(cut)), row.text) << row.name << cut;
    }
  }
}

TEST(Utf16, IsKnownByItsMark) {
  EXPECT_TRUE(Utf16Decoder::begins("\xff\xfet\0"sv));
  EXPECT_TRUE(Utf16Decoder::begins("\xfe\xff"sv));
  for (const std::string_view other : {""sv, "\xff"sv, "t\0i\0"sv, "\xef\xbb\xbftime"sv}) {
    EXPECT_FALSE(Utf16Decoder::begins(other));
  }
}

TEST(Utf16, IsKnownWithoutItsMark) {
  std::string text, little, big;
  for (int i = 0; i < 20; ++i) text += static_cast<char>('a' + i);
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  EXPECT_EQ(Utf16Decoder::big_endian_without_mark(little), false);
  EXPECT_EQ(Utf16Decoder::big_endian_without_mark(big), true);
  EXPECT_EQ(Utf16Decoder(false).feed(little), text);
  EXPECT_EQ(Utf16Decoder(true).feed(big), text);
  const std::string zeros(100, '\0');
  for (const std::string& other : {std::string(), text, zeros, zeros + text, text + zeros,
                                   little.substr(0, 20), "\xff\xfe" + little}) {
    EXPECT_EQ(Utf16Decoder::big_endian_without_mark(other), std::nullopt);
  }
}

}  // namespace
}  // namespace muster
