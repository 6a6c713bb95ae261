// Both splitters of lines look at eight bytes at a time: here against the plain way, byte by byte.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/blank_cells.h"
#include "core/telemetry/csv_columns.h"

namespace muster {
namespace {

using Cells = std::vector<std::string_view>;

struct Row {
  const char* name;
  std::string_view line;
  Cells cells;
};
const auto kRowName = [](const auto& row) { return std::string(row.param.name); };

class SplitCells : public ::testing::TestWithParam<Row> {};
TEST_P(SplitCells, ByCommas) {
  Cells cells;
  split_cells(GetParam().line, ',', cells, 4);
  EXPECT_EQ(cells, GetParam().cells);
}
const Row kCommas[] = {
    {"empty", "", {""}},
    {"only_a_comma", ",", {"", ""}},
    {"no_comma", "power.draw", {"power.draw"}},
    {"at_the_eighth_byte", "1234567,9", {"1234567", "9"}},
    {"at_the_ninth_byte", "12345678,0", {"12345678", "0"}},
    {"last_byte", "12345678901234,", {"12345678901234", ""}},
    {"eight_commas", ",,,,,,,,", {"", "", "", ""}},
    {"more_than_the_limit", "a,b,c,d,e", {"a", "b", "c", "d"}},
    {"bytes_above_127", "\xac,\xd3\xac\x80,b", {"\xac", "\xd3\xac\x80", "b"}},
    {"neighbours_of_the_comma", "-+.,-+.-+.-,+", {"-+.", "-+.-+.-", "+"}},
    {"quoted", "a, \"b,c\" ,d", {"a", "b,c", "d"}},
    {"quote_without_end", "\"a,b", {"\"a", "b"}},
    {"quote_inside", "a\"b,c", {"a\"b", "c"}},
};
INSTANTIATE_TEST_SUITE_P(Table, SplitCells, ::testing::ValuesIn(kCommas), kRowName);

class SplitBlanks : public ::testing::TestWithParam<Row> {};
TEST_P(SplitBlanks, ByBlanks) {
  Cells cells;
  split_blanks(GetParam().line, cells, 4);
  EXPECT_EQ(cells, GetParam().cells);
}
const Row kBlanks[] = {
    {"empty", "", {}},
    {"only_blanks", "  \t      \t ", {}},
    {"one", "gpu", {"gpu"}},
    {"eight_bytes", "12345678", {"12345678"}},
    {"ends_with_the_eighth", "1234567 9", {"1234567", "9"}},
    {"begins_with_the_ninth", "12345678 0", {"12345678", "0"}},
    {"tabs", "\ta\tb\t\tc\t", {"a", "b", "c"}},
    {"limit_in_the_tail", "a b c d e", {"a", "b", "c", "d"}},
    {"limit_in_eight", "a b c d e f g h i", {"a", "b", "c", "d"}},
    {"bytes_above_127", "\xa0 \x89 b", {"\xa0", "\x89", "b"}},
};
INSTANTIATE_TEST_SUITE_P(Table, SplitBlanks, ::testing::ValuesIn(kBlanks), kRowName);

Cells plainly(std::string_view line, bool by_commas) {
  Cells cells;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const bool ends =
        i == line.size() || (by_commas ? line[i] == ',' : line[i] == ' ' || line[i] == '\t');
    if (!ends) continue;
    if (by_commas || i > from) cells.push_back(line.substr(from, i - from));
    from = i + 1;
  }
  return cells;
}

TEST(SplitLaw, AsByteByByte) {
  constexpr std::string_view kBytes = " ,\t-!+1a\xa0\xac\x89 ,";
  std::uint64_t seed = 1;
  for (int i = 0; i < 50'000; ++i) {
    std::string line;
    for (int n = i % 40; n > 0; --n) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      line += kBytes[(seed >> 33) % kBytes.size()];
    }
    Cells cells;
    split_cells(line, ',', cells, 100);
    ASSERT_EQ(cells, plainly(line, true)) << line;
    split_blanks(line, cells, 100);
    ASSERT_EQ(cells, plainly(line, false)) << line;
  }
}

}  // namespace
}  // namespace muster
