#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "core/flight/flight_values.h"
#include "core/flight/flight_window.h"

// Reads the JSON variant of a dump, row by row: a file of any length needs memory for one row, and
// a file cut in the middle gives the rows before the cut. Integers stay exact (times in ns are
// beyond what a double holds).
//
// A row that is no JSON by itself is given on as None. Where the brackets no longer fit, or nothing
// ends within limits::kFlightRowBytes, reading ends there (FlightDocument::cut_at).

namespace muster {

class FlightJsonReader {
 public:
  FlightJsonReader();
  ~FlightJsonReader();
  FlightJsonReader(const FlightJsonReader&) = delete;
  FlightJsonReader& operator=(const FlightJsonReader&) = delete;

  // Items of the list `entries` (of the top level, or of the bare list) go to `rows` one by one.
  // `values` is reset. Neither a list nor a dict: Errc::invalid_input.
  Result<FlightDocument> read(FlightWindow& window, FlightValues& values, FlightRowSink& rows);

 private:
  class Reading;
  class Pieces;
  std::unique_ptr<Pieces> pieces_;
};

}  // namespace muster
