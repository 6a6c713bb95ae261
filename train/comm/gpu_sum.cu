#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "train/comm/gpu_sum.h"

namespace muster::train {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kBlocksMost = 4096;  // each goes on where the grid ends

unsigned blocks_for(std::size_t elements) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>((elements + kThreads - 1) / kThreads, 1, kBlocksMost));
}

__device__ std::size_t first() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t step() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

template <typename T>
__global__ void add(T* sum, const T* part, std::size_t elements) {
  for (std::size_t i = first(); i < elements; i += step()) sum[i] += part[i];
}

__global__ void add_wide(float* sum, const __nv_bfloat16* part, std::size_t elements) {
  for (std::size_t i = first(); i < elements; i += step()) sum[i] += __bfloat162float(part[i]);
}

__global__ void round_all(const float* from, __nv_bfloat16* to, std::size_t elements) {
  for (std::size_t i = first(); i < elements; i += step()) to[i] = __float2bfloat16_rn(from[i]);
}

}  // namespace

void gpu_add(float* sum, const float* part, std::size_t elements, void* stream) {
  add<<<blocks_for(elements), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(sum, part,
                                                                                elements);
}

void gpu_add(double* sum, const double* part, std::size_t elements, void* stream) {
  add<<<blocks_for(elements), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(sum, part,
                                                                                elements);
}

void gpu_add_bf16(float* sum, const std::uint16_t* part, std::size_t elements, void* stream) {
  add_wide<<<blocks_for(elements), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      sum, reinterpret_cast<const __nv_bfloat16*>(part), elements);
}

void gpu_round_bf16(const float* from, std::uint16_t* to, std::size_t elements, void* stream) {
  round_all<<<blocks_for(elements), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      from, reinterpret_cast<__nv_bfloat16*>(to), elements);
}

}  // namespace muster::train
