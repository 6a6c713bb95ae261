#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/rank_witness.h"

// What NCCL's RAS answered (ncclras, port 28028): JSON since 2.28.7, text since 2.24 (STATUS and
// VERBOSE STATUS). It counts the operations that each rank has launched, for each communicator; it
// knows no sizes and no order.
//
// A rank of RAS is a place in one communicator. Only where a communicator has as many ranks as the
// job has GPUs is it the rank of the job; processes of smaller communicators are found again by
// host, process and device, and those that are not found become notes.
//
// One answer is a snapshot: counts that differ by one are usual while a job runs. They are
// witnesses for the judge, not findings.

namespace muster {

struct RasReading {
  std::vector<RankWitness> witnesses;
  std::map<std::int32_t, std::string> hosts;  // as RAS shows them: mostly addresses
  std::vector<std::string> notes;
};

// The begin of a file (a few KiB are enough).
bool looks_like_ras(std::string_view head);

// Errc::invalid_input where it is no answer of RAS, Errc::corrupt and Errc::exhausted of the JSON.
Result<RasReading> read_ras(std::string_view bytes, const std::string& source);

}  // namespace muster
