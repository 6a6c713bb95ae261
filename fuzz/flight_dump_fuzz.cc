#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/flight/dump_reader.h"

namespace {

// What the judge relies on: every place named is there.
void check_places(const muster::FlightDump& dump) {
  MUSTER_CHECK(!dump.cut_at || *dump.cut_at <= dump.bytes, "a cut lies in the file");
  MUSTER_CHECK(!dump.stacks.empty() && dump.stacks[0].empty(), "the first stack is the empty one");
  for (const muster::FlightEntry& entry : dump.entries) {
    MUSTER_CHECK(entry.group < dump.groups.size(), "the group is there");
    MUSTER_CHECK(entry.signature < dump.signatures.size(), "the signature is there");
    MUSTER_CHECK(entry.stack < dump.stacks.size(), "the stack is there");
  }
  for (const muster::FlightStack& stack : dump.stacks) {
    for (const std::uint32_t frame : stack) {
      MUSTER_CHECK(frame < dump.frames.size(), "the frame is there");
    }
  }
}

}  // namespace

// The memory is used again from input to input, as the product does; what one left behind must not
// change the answer to the next.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static muster::FlightReaderScratch used;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto dump = muster::read_flight_dump({"rank_1", bytes}, used);
  if (dump) check_places(*dump);
  if (size % 8 != 0) return 0;  // new memory for each would take most of the time
  muster::FlightReaderScratch fresh;
  const auto again = muster::read_flight_dump(bytes, "rank_1", fresh);
  MUSTER_CHECK(dump.has_value() == again.has_value(), "used memory changes nothing");
  if (!dump) return 0;
  MUSTER_CHECK(dump->entries.size() == again->entries.size(), "used memory loses no entry");
  MUSTER_CHECK(dump->signatures == again->signatures, "used memory changes no signature");
  MUSTER_CHECK(dump->stacks == again->stacks && dump->frames == again->frames,
               "used memory changes no stack");
  MUSTER_CHECK(dump->notes == again->notes, "used memory changes no note");
  return 0;
}
