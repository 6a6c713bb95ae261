#include "train/math/row_kernels_body.h"

namespace muster::train {

const KernelSet& kernel_set_v4() {
  return kKernelSet;
}

}  // namespace muster::train
