#include "edge/config/near_word.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

TEST(NearWord, IsWhatWasMeantOrNothing) {
  struct Row {
    const char *name, *typed, *want;
  };
  const Row rows[] = {
      {"nothing like it", "elephant", ""},  {"empty", "", ""},
      {"three letters off", "rulexyz", ""}, {"half of a short word", "tx", ""},
      {"another short word", "abc", ""},    {"a letter too many", "rules", "rule"},
      {"a letter missing", "rle", "rule"},  {"another letter", "rula", "rule"},
      {"swapped", "ruel", "rule"},          {"two errors", "intervl-s", "interval_s"},
      {"itself", "rule", "rule"},           {"the first of two", "xine", "fine"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(near_word(row.typed, {"rule", "interval_s", "tz", "fine", "mine"}), row.want)
        << row.name;
  }
}

TEST(NearWord, LongWordsAreNoTypingErrors) {
  const std::string longest(64, 'a');
  EXPECT_EQ(near_word(longest, {longest}), longest);
  const std::string longer(65, 'a');
  EXPECT_EQ(near_word(longer, {longer}), "");
  EXPECT_EQ(near_word(longer, {longest}), "");
}

}  // namespace
}  // namespace muster
