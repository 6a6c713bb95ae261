#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/storage/read_plan.h"

// Our figures against those of fio, run in turn on the same file with the same offsets, order and
// block size. Only a ratio taken side by side says anything: both move with the machine.

namespace muster::storage {

inline constexpr std::size_t kPairs = 7;

struct FioPair {
  double fio = 0, ours = 0;  // bytes per second, one after the other
};

enum class Agreement : std::uint8_t {
  agrees,
  differs,
  not_measured,  // too few pairs, or pairs that differ among themselves by more than the bar
};
std::string_view agreement_name(Agreement agreement);

struct Comparison {
  RowKind kind = RowKind::warm;
  Agreement agreement = Agreement::not_measured;
  double bar = 0;    // how far the median ratio may be from 1
  double ratio = 0;  // ours over fio, median of the pairs
  // Half of the distance between the second least and the second greatest ratio: the median of
  // seven lies between those two in 7 of 8 series.
  double spread = 0;
  double least = 0, most = 0;
  double fio_median = 0, our_median = 0;  // bytes per second
  std::size_t pairs = 0;
};

// 0.05 past the page cache, 0.10 through it: a copy in memory moves with what else the machine
// does.
double bar_of(RowKind kind);

Comparison compare(RowKind kind, std::span<const FioPair> pairs);

}  // namespace muster::storage
