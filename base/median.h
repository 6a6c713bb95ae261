#pragma once

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace muster {

// The middle one; of an even number the upper of the two. At least one value; their order is lost.
template <typename T>
T median_of(std::vector<T>& values) {
  MUSTER_CHECK(!values.empty(), "a median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace muster
