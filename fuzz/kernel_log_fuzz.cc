// Any bytes as a kernel log: never a crash; events keep the order of their lines, stay within the
// bounds, have a judgement that the table of causes allows, and do not depend on where the file
// came from.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/kernel/kernel_cause.h"
#include "core/kernel/kernel_reader.h"

namespace {

muster::KernelReading read(std::string_view log, std::string host) {
  muster::KernelReader reader(
      {.host = std::move(host), .written = muster::wall_from_ns(1'780'000'000'000'000'000)});
  std::uint64_t number = 0;
  for (const std::string_view line : muster::split(log, '\n')) reader.line(line, ++number);
  return reader.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  const muster::KernelReading reading = read(log, "");
  std::uint64_t last = 0;
  for (const muster::KernelEvent& event : reading.events) {
    MUSTER_CHECK(event.line >= last, "in the order of the lines");
    MUSTER_CHECK(event.text.size() <= muster::limits::kEvidenceChars, "bounded");
    const muster::KernelJudgement out = muster::cause_of(event);
    MUSTER_CHECK(muster::cause_row(out.cause).allows(out.severity), "an allowed severity");
    MUSTER_CHECK(!out.meaning.empty(), "words for people");
    last = event.line;
  }
  for (const muster::KernelEvent& event : read(log, "n1").events) {
    MUSTER_CHECK(!event.host.empty(), "the host of the file where the line has none");
  }
  return 0;
}
