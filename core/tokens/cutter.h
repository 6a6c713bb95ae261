#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tokens/cut_table.h"
#include "core/tokens/merge_table.h"

namespace muster::tokens {

// Cuts pieces into the tokens that merging would leave of them (cut_table.h says why they are the
// same). Owns its scratch memory: one for each thread.
//
// From the left the longest token is taken that stays apart from the one before it. Where none
// does, that place is no border at all, so what led there is taken back, and no later try ends
// there again. Each place is come to once: time grows with the piece, whatever it is.
class Cutter {
 public:
  // Both must outlive this.
  Cutter(const CutTable& table, const MergeTable& merges) : table_(table), merges_(merges) {}

  // Appends the ids of `piece`, which is not empty.
  void cut(std::string_view piece, std::vector<std::uint32_t>& ids);

 private:
  const CutTable& table_;
  const MergeTable& merges_;
  std::vector<std::uint64_t> closed_;  // a bit for each place that is no border
};

}  // namespace muster::tokens
