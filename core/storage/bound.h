#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/storage/row_result.h"

// What keeps a row from being faster, by comparing it with its neighbours. Rates within 10 % of
// each other count as equal: that is what two runs of one row differ by on a quiet machine.

namespace muster::storage {

enum class Bound : std::uint8_t {
  page_copy,    // one thread moves the bytes through the page cache
  latency,      // one read at a time: a block over the time that it takes
  queue_depth,  // more reads in flight would get more
  readahead,    // the kernel asks for too little ahead of a buffered reader
  device,       // the device, or the path to it: nothing tried here gets more
  unknown,      // the row that would decide is not measured
};

std::string_view bound_name(Bound bound);  // "queue_depth"

struct BoundAnswer {
  Bound bound = Bound::unknown;
  std::string why;  // a short line with the figures
};

// Of a row that is measured. `read_ahead_kb` is that of the device, where it is known.
BoundAnswer bound_of(const RowResult& row, std::span<const RowResult> rows,
                     std::optional<std::uint64_t> read_ahead_kb);

}  // namespace muster::storage
