#pragma once

#include "base/result.h"
#include "core/flight/dump_reader.h"
#include "core/flight/flight_window.h"

namespace muster {

// A flight record of Muster's own trainer (core/model/flight_record.h) -> FlightDump, as if PyTorch
// had dumped it: the rank is that of the record, the frame of a call its purpose, and what had not
// ended when the rank told of a failure is past its time. The record knows itself when its rank was
// last alive (`written_at`): the time of a mapped file tells nothing.
//
// `window` begins with its magic. Rows that are being written or make no sense are left out and
// counted in a note; a file that ends early gives its rows and `cut_at`. Errc::invalid_input:
// another version, sizes beyond limits::kFlightRecord....
Result<FlightDump> read_flight_record(const FlightSource& source, FlightWindow& window);

}  // namespace muster
