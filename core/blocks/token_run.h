#pragma once

#include <cstdint>
#include <vector>

#include "core/blocks/loss_bits.h"

namespace muster::blocks {

// What a range of records became: ids of whole documents back to back, each with its EOS where the
// policy wants one.
struct TokenRun {
  std::vector<std::int32_t> ids;
  std::vector<std::uint64_t> ends;  // of each document in `ids`, rising; equal ends: an empty one
  LossBits trained;                 // as many bits as ids

  void clear() {
    ids.clear();
    ends.clear();
    trained.clear();
  }
};

}  // namespace muster::blocks
