#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "core/flight/dump.h"
#include "core/flight/flight_window.h"

// Bytes of a flight-recorder file -> FlightDump. Knows by content whether it is the pickle that
// PyTorch writes (also one that Python wrote again), the JSON variant, or a record of our own
// trainer (record_reader.h, which says what differs), and reads all formats: the bare list of
// torch 2.2, 1.x, 2.0 to 2.10 and later 2.x, whose unknown keys are passed over. Never executes
// anything (pickle_reader.h).
//
// What is damaged is lost and said in `notes`, the rest stands:
// - A field of another type than it should have is absent; so are numbers and times beyond 2^62.
// - A file cut in the middle gives its finished entries and `cut_at`; so does one that turns into
//   garbage after its first entry. An empty file is a dump in progress: no entries, cut at 0.
// - What is no dump or wants to run code is an Error (Errc::invalid_input) that begins with the
//   name. A file of zeros or of random bytes is refused after its first bytes.
// - What is too long is read up to a limit (limits::kFlight...) and is `cut_at` there. Of a ring
//   longer than is kept the last entries stay, and the first ones are `entries_let_go`. Memory is
//   bounded by these limits whatever the length of the file, and garbage is read no further than
//   limits::kFlightRowBytes behind the last row, and kFlightHeadBytes where nothing of a dump came.
//
// Groups: those that the entries name, in order of appearance, joined with pg_config by name and
// with pg_status by number; then those that only pg_config names. Where two groups of one name have
// entries, pg_config tells of the one that was made last; the members of the other are not known.
// `ranks` of "[]" is not told. A status of a number that no entry has is left out.
//
// The rank of the file name counts only if it is a member of one of the groups, where any are told.
//
// Speed: about 1.1 ms for the 370 kB of 2,000 entries on a busy core (flight_read_bench).

namespace muster {

struct FlightSource {
  std::string name;        // as the user gave it, for a member of an archive "archive.tar:member"
  std::string_view bytes;  // the file, or its begin
  FlightInput* rest = nullptr;                // what comes behind it; null: nothing
  std::size_t keep = limits::kFlightEntries;  // entries, the last ones
};

// The memory of the reader, used again for the next file. One thread at a time. Keeps a few MiB.
class FlightReaderScratch {
 public:
  FlightReaderScratch();
  ~FlightReaderScratch();
  FlightReaderScratch(const FlightReaderScratch&) = delete;
  FlightReaderScratch& operator=(const FlightReaderScratch&) = delete;

 private:
  friend Result<FlightDump> read_flight_dump(const FlightSource&, FlightReaderScratch&);
  struct State;
  std::unique_ptr<State> state_;
};

Result<FlightDump> read_flight_dump(const FlightSource& source, FlightReaderScratch& scratch);

// The rank that a file name tells: the last run of digits of its last part, without endings like
// ".json", ".gz" and ".zst", and without the marks of second copies (" (2)", " - Copy", ".~1~").
// Digits of folders and of the archive around a member do not count. Nothing: no digits there, or
// more than a rank can have.
std::optional<std::int32_t> flight_rank_of(std::string_view name);

}  // namespace muster
