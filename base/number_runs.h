#pragma once

#include <type_traits>
#include <vector>

namespace muster {

// Neighbours in a rising list: 0 1 2 5 is 0-2 and 5-5.
template <typename T>
struct NumberRun {
  T first{}, last{};
  bool operator==(const NumberRun&) const = default;
};

// `numbers`: a list of integers that rises.
template <typename Numbers>
auto runs_of(const Numbers& numbers) {
  using T = std::remove_cvref_t<decltype(numbers[0])>;
  std::vector<NumberRun<T>> out;
  for (const T number : numbers) {
    if (!out.empty() && out.back().last + 1 == number) {
      out.back().last = number;
    } else {
      out.push_back({number, number});
    }
  }
  return out;
}

}  // namespace muster
