#pragma once

#include <cstddef>
#include <cstdint>

// Sums in the memory of a GPU, queued on a stream (a cudaStream_t); nothing waits.

namespace muster::train {

void gpu_add(float* sum, const float* part, std::size_t elements, void* stream);
void gpu_add(double* sum, const double* part, std::size_t elements, void* stream);
// `part` as bf16.
void gpu_add_bf16(float* sum, const std::uint16_t* part, std::size_t elements, void* stream);
void gpu_round_bf16(const float* from, std::uint16_t* to, std::size_t elements, void* stream);

}  // namespace muster::train
