// Any bytes as an answer of NCCL RAS and as a host map: never a crash, ranks are not negative, and
// whatever is said stays bounded.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "core/comms/host_map.h"
#include "core/comms/ras_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto ras = muster::read_ras(bytes, "ras")) {
    for (const muster::RankWitness& witness : ras->witnesses) {
      MUSTER_CHECK(witness.rank >= 0, "a rank is not negative");
      MUSTER_CHECK(witness.text.size() <= muster::limits::kEvidenceChars, "bounded");
    }
  }
  const muster::HostMap map = muster::parse_host_map(bytes);
  MUSTER_CHECK(map.hosts.size() <= muster::limits::kSeries, "bounded");
  MUSTER_CHECK(map.hosts.empty() || map.hosts.begin()->first >= 0, "a rank is not negative");
  MUSTER_CHECK(map.complaints.size() <= muster::limits::kNotesOfLog, "bounded");
  return 0;
}
