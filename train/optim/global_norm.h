#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "train/model/dtype.h"

namespace muster::train {

// Sum of squares of a slice of a gradient, in f64. Summed over all slices, its root is the norm; a
// norm of one slice means nothing. The same bits on every processor. Not finite where an element is
// not. `dtype`: f32 or f64.
double sum_of_squares(Dtype dtype, const std::byte* gradient, std::uint64_t elements);

// What a gradient of this norm is multiplied with so that its norm is at most `largest`; nothing to
// do without one. 1e-6 keeps a norm of zero apart, as in torch.nn.utils.clip_grad_norm_.
double clip_factor(double norm, std::optional<double> largest);

}  // namespace muster::train
