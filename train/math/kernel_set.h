#pragma once

#include "train/math/row_kernels.h"

namespace muster::train {

// All kernels, compiled for one level of the x86-64 instruction set.
struct KernelSet {
  RowKernels<double> f64;
  RowKernels<float> f32;
  RowKernels<Bf16> bf16;
  PlainProduct product = nullptr;
};

const KernelSet& kernel_set_v1();  // every processor
const KernelSet& kernel_set_v3();  // AVX2 and FMA
const KernelSet& kernel_set_v4();  // AVX-512 F, BW, CD, DQ, VL

}  // namespace muster::train
