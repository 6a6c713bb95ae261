#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/telemetry_row.h"

// The readings of one row as a few bytes. Pure.
//
// Each reading is a byte for the metric (its number in the table `metric` of the file, not that of
// the enumeration, which may change between versions), a byte for the form, and the value:
//
//   0..15  absent, the reason           nothing more
//   16     a whole number               zigzag, 7 bits a byte, at most 10 bytes
//   17     a number that a float holds  4 bytes, little endian
//   18     any other number             8 bytes, little endian
//
// Twelve readings of a GPU take about 50 bytes; as a row each they would take about 200.

namespace muster {

// `number_of` gives the number of a metric in the file, below 0 where it has none: left out.
std::string encode_readings(std::span<const MetricReading> readings,
                            const std::function<int(Metric)>& number_of);

struct NumberedReading {
  std::uint8_t number = 0;
  Reading reading;
};

// Stops at the first damage; what was whole before it counts, `whole` says whether that was all.
// At most 256 readings. A number that is not finite is damage.
struct DecodedReadings {
  std::vector<NumberedReading> readings;
  bool whole = true;
};
DecodedReadings parse_readings(std::string_view blob);

}  // namespace muster
