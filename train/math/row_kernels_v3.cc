#include "train/math/row_kernels_body.h"

namespace muster::train {

const KernelSet& kernel_set_v3() {
  return kKernelSet;
}

}  // namespace muster::train
