#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "train/model/dtype.h"

namespace muster::train {

// Rounds to nearest even; NaN stays NaN.
void to_wire_bf16(const float* from, std::uint16_t* to, std::size_t elements);

// sum[i] += parts[0][i] + parts[1][i] + ..., added in this order, in sum_dtype(wire). `parts` have
// the type `wire`, and are aligned for it.
void add_in_rank_order(std::span<const std::byte* const> parts, std::byte* sum,
                       std::size_t elements, Dtype wire);

// The same, and replaces what stands in `sum`.
void fold_in_rank_order(std::span<const std::byte* const> parts, std::byte* sum,
                        std::size_t elements, Dtype wire);

}  // namespace muster::train
