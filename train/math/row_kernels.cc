#include "train/math/row_kernels.h"

#include "train/math/kernel_set.h"

namespace muster::train {
namespace {

const KernelSet& best_set() {
  static const KernelSet& set = []() -> const KernelSet& {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? kernel_set_v4() : v3 ? kernel_set_v3() : kernel_set_v1();
  }();
  return set;
}

}  // namespace

template <>
const RowKernels<double>& row_kernels<double>() {
  return best_set().f64;
}
template <>
const RowKernels<float>& row_kernels<float>() {
  return best_set().f32;
}
template <>
const RowKernels<Bf16>& row_kernels<Bf16>() {
  return best_set().bf16;
}

PlainProduct plain_product() {
  return best_set().product;
}

}  // namespace muster::train
