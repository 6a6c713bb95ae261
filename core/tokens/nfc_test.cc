#include "core/tokens/nfc.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tokens {
namespace {

struct Row {
  const char* name;
  std::string text, expected;
};

const Row kRows[] = {
    {"ascii", "plain text", "plain text"},
    {"composed", "caf\u00e9", "caf\u00e9"},
    {"accent", "cafe\u0301s", "caf\u00e9s"},
    {"mark at the start", "\u0301x", "\u0301x"},
    {"marks in order", "q\u0307\u0323", "q\u0323\u0307"},
    {"blocked", "a\u0315\u0300", "\u00e0\u0315"},
    {"same class blocks", "a\u0300\u0301", "\u00e0\u0301"},
    {"two steps", "u\u0308\u0304", "\u01d6"},
    {"jamo", "\u1112\u1161\u11ab\u1100\u1173\u11af", "\ud55c\uae00"},
    {"syllable and tail", "\uac00\u11a8", "\uac01"},
    {"whole syllable and tail", "\uac01\u11a8", "\uac01\u11a8"},
    {"lead alone", "\u1100x", "\u1100x"},
    {"singleton", "\u212b\u2126", "\u00c5\u03a9"},
    {"excluded", "\u0958\ufb1d", "\u0915\u093c\u05d9\u05b4"},
    {"compatibility ideograph", "\uf900\U0002f800", "\u8c48\u4e3d"},
    {"kana", "\u304b\u3099", "\u304c"},
    {"two starters", "\u0d46\u0d3e", "\u0d4a"},
    {"beyond the plane", "\U00011099\U000110ba", "\U0001109a"},
    // U+1E4EC is newer than Unicode 9.0, where it has class 0: nothing moves past it.
    {"newer mark", "a\U0001e4ec\u0323", "a\U0001e4ec\u0323"},
    {"newer composition", "\U00016d63\U00016d67", "\U00016d63\U00016d67"},
};

TEST(Nfc, IsThatOfUnicode9) {
  for (const Row& row : kRows) {
    std::vector<ChangedRun> changed;
    EXPECT_EQ(to_nfc(row.text, changed), row.expected) << row.name;
    EXPECT_EQ(changed.empty(), row.text == row.expected) << row.name;
    if (row.text != row.expected) {
      EXPECT_TRUE(may_need_nfc(row.text)) << row.name;
    }
  }
}

TEST(Nfc, TellsWhatItChanged) {
  std::vector<ChangedRun> changed;
  EXPECT_EQ(to_nfc("xxe\u0301yya\u0300", changed), "xx\u00e9yy\u00e0");
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].from, (ByteRange{2, 5}));
  EXPECT_EQ(changed[0].to, (ByteRange{2, 4}));
  EXPECT_EQ(changed[1].from, (ByteRange{7, 10}));
  EXPECT_EQ(changed[1].to, (ByteRange{6, 8}));
}

TEST(Nfc, NeedsNothingOfUsualText) {
  EXPECT_FALSE(may_need_nfc("The quick brown fox \u2014 caf\u00e9"));
  EXPECT_FALSE(may_need_nfc("\ud55c\uad6d\uc5b4 \u4e2d\u6587\u3002 \u304c\u30ac \U0001f600"));
}

TEST(Nfc, IsNoQuadraticWork) {
  std::string marks;
  for (int i = 0; i < 300'000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  std::vector<ChangedRun> changed;
  EXPECT_EQ(to_nfc(marks, changed).size(), marks.size());
}

}  // namespace
}  // namespace muster::tokens
