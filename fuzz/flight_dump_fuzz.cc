#include <algorithm>
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

// The same bytes a few at a time.
class Pieces final : public muster::FlightInput {
 public:
  Pieces(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t n = std::min({buffer.size(), bytes_.size(), piece_});
    std::copy_n(bytes_.data(), n, buffer.data());
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

}  // namespace

// The memory is used again from input to input, as the product does; what one left behind must not
// change the answer to the next, nor may it matter in which pieces the bytes come.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static muster::FlightReaderScratch used;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto dump = muster::read_flight_dump({"rank_1", bytes}, used);
  if (dump) check_places(*dump);
  if (size % 8 != 0) return 0;  // new memory for each would take most of the time
  muster::FlightReaderScratch fresh;
  Pieces pieces(bytes, 1 + size % 61);
  const auto again = muster::read_flight_dump({"rank_1", {}, &pieces}, fresh);
  MUSTER_CHECK(dump.has_value() == again.has_value(), "used memory changes nothing");
  if (!dump) return 0;
  MUSTER_CHECK(dump->cut_at == again->cut_at, "the cut stays where it is");
  MUSTER_CHECK(dump->entries.size() == again->entries.size(), "used memory loses no entry");
  MUSTER_CHECK(dump->signatures == again->signatures, "used memory changes no signature");
  MUSTER_CHECK(dump->stacks == again->stacks && dump->frames == again->frames,
               "used memory changes no stack");
  MUSTER_CHECK(dump->notes == again->notes, "used memory changes no note");
  return 0;
}
