// Any bytes as one log and as two: never a crash; witnesses keep the order of their lines, stay
// within the bounds, and are all placed after the join.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/comms/witness_join.h"

namespace {

muster::LogReading read(std::string_view log, std::optional<std::int32_t> rank) {
  muster::WatchdogReader reader(
      {.source = "log", .rank = rank, .written = muster::wall_from_ns(1'780'000'000'000'000'000)});
  std::uint64_t number = 0;
  for (const std::string_view line : muster::split(log, '\n')) reader.line(line, ++number);
  muster::LogReading reading = reader.finish();
  std::uint64_t last = 0;
  for (const muster::LogWitness& witness : reading.witnesses) {
    MUSTER_CHECK(witness.value.line && *witness.value.line >= last, "in the order of the lines");
    MUSTER_CHECK(witness.value.text.size() <= muster::limits::kEvidenceChars, "bounded");
    MUSTER_CHECK(!witness.placed || witness.value.rank >= 0, "a rank is not negative");
    last = *witness.value.line;
  }
  MUSTER_CHECK(reading.notes.size() <= muster::limits::kNotesOfLog, "bounded");
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  std::vector<muster::LogReading> logs;
  logs.push_back(read(log.substr(0, size / 2), 5));
  logs.push_back(read(log, std::nullopt));
  const std::size_t read_in = logs[0].witnesses.size() + logs[1].witnesses.size();
  const muster::JoinedWitnesses all = muster::join_witnesses(std::move(logs));
  MUSTER_CHECK(all.witnesses.size() <= read_in, "a join makes nothing up");
  return 0;
}
