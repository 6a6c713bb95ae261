#include "base/plain_number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <string>

namespace muster {
namespace {

struct Row {
  const char* name;
  const char* text;
  std::size_t used;  // 0: none
  double value;
};
class PlainNumber : public ::testing::TestWithParam<Row> {};

TEST_P(PlainNumber, Reads) {
  double value = -1;
  ASSERT_EQ(read_plain_number(GetParam().text, value), GetParam().used);
  EXPECT_EQ(value, GetParam().used > 0 ? GetParam().value : -1) << "none leaves it alone";
}

constexpr Row kRows[] = {
    {"empty", "", 0, 0},
    {"a_word", "nan", 0, 0},
    {"a_sign", "-1", 0, 0},
    {"a_plus", "+1", 0, 0},
    {"a_blank_in_front", " 1", 0, 0},
    {"point_only", ".", 0, 0},
    {"no_digit_before_the_point", ".5", 0, 0},
    {"no_digit_behind_the_point", "5.", 0, 0},
    {"point_and_unit", "5. W", 0, 0},
    {"sixteen_digits", "1234567890123456", 0, 0},
    {"sixteen_with_a_point", "1.234567890123456", 0, 0},
    {"digits_that_would_wrap", "99999999999999999999999", 0, 0},
    {"zero", "0", 1, 0},
    {"whole", "97", 2, 97},
    {"leading_zeros", "007", 3, 7},
    {"fraction", "627.02", 6, 627.02},
    {"fifteen_digits", "123456789012.345", 16, 123456789012.345},
    {"unit_behind", "69.32 W", 5, 69.32},
    {"exponent_is_left", "1e5", 1, 1},
    {"second_point_is_left", "1.2.3", 3, 1.2},
    {"comma_is_left", "1,234", 1, 1},
};
INSTANTIATE_TEST_SUITE_P(Table, PlainNumber, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

// Whatever it takes for plain is what from_chars reads, to the last bit.
TEST(PlainNumberLaw, AsFromChars) {
  std::uint64_t seed = 1;
  for (int i = 0; i < 200'000; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    std::string text = std::to_string((seed >> 14) % 1'000'000'000'000'000U);
    const std::size_t point = (seed >> 5) % 16;
    if (point > 0 && point < text.size()) text.insert(point, ".");
    double value = 0, wanted = 0;
    ASSERT_EQ(read_plain_number(text, value), text.size()) << text;
    std::from_chars(text.data(), text.data() + text.size(), wanted);
    ASSERT_EQ(value, wanted) << text;
  }
}

}  // namespace
}  // namespace muster
