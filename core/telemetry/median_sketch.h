#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace muster {

// The median of a stream of any length in 2 KiB. Keeps every stride-th value; when full, every
// second one goes and the stride doubles, so that the kept values stay spread over the whole
// stream. Exact up to 256 values.
class MedianSketch {
 public:
  void add(double value) {
    if (seen_++ % stride_ != 0) return;
    if (values_.size() == kKept) {
      for (std::size_t i = 0; i * 2 < kKept; ++i) values_[i] = values_[i * 2];
      values_.resize(kKept / 2);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) return;
    }
    values_.push_back(value);
  }

  // The share-th value (0.5: the median); nothing before the first.
  std::optional<double> quantile(double share = 0.5) const {
    if (values_.empty()) return std::nullopt;
    std::vector<double> copy = values_;
    const auto at =
        static_cast<std::ptrdiff_t>(std::llround(share * static_cast<double>(copy.size() - 1)));
    std::nth_element(copy.begin(), copy.begin() + at, copy.end());
    return copy[static_cast<std::size_t>(at)];
  }
  std::uint64_t seen() const { return seen_; }

 private:
  static constexpr std::size_t kKept = 256;
  std::vector<double> values_;
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace muster
