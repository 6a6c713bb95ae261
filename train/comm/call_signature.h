#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "train/comm/communicator.h"

namespace muster::train {

enum class Fold : std::uint8_t { none, sum, min, max };

// What must be the same on all ranks before a byte moves. Fixed size without holes: it is sent and
// shared as it stands.
struct CallSignature {
  std::uint64_t seq = 0;    // in its group, from 1
  std::uint64_t bytes = 0;  // that one rank brings for each; texts: 0, they may differ
  std::uint32_t unit = 0;
  CollectiveOp op = CollectiveOp::barrier;
  Purpose purpose = Purpose::agreement;
  Dtype dtype = Dtype::f32;  // on the wire
  Fold fold = Fold::none;

  bool operator==(const CallSignature&) const = default;
};
static_assert(sizeof(CallSignature) == 24);

// "all_gather (weights, unit 3, 4096 bytes)"
std::string describe_call(const CallSignature& call);

// "rank 3", "ranks 0-2 and 5"; of many the first ones and how many more.
std::string describe_ranks(std::span<const int> ranks);

// Global ranks of a group, and what each of them calls. Nothing: all the same. Else who differs:
// the ranks outside of a strict majority; where there is none, nobody is named as odd and the text
// tells all sides.
std::optional<CollectiveFailure> judge_signatures(std::span<const int> ranks,
                                                  std::span<const CallSignature> calls);

// `missing`: ranks that did not come to `call` within `waited`. None: all came, to different calls.
CollectiveFailure missed_deadline(std::span<const int> missing, const CallSignature& call,
                                  Duration waited);
CollectiveFailure rank_gone(int rank, std::string_view how);

}  // namespace muster::train
