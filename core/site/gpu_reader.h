#pragma once

#include "core/site/site_text.h"

namespace muster {

// States of GPUs:
//
//   GPU 00000000:87:00.0                                nvidia-smi -q, whole or any part of it
//       Remapped Rows
//           Remapping Failure Occurred        : Yes
//   |   0  NVIDIA H100 80GB HBM3  On  | 00000000:1B:00.0 Off |  0 |     the table of nvidia-smi
//   Unable to determine the device handle for GPU0000:5e:00.0: Unknown Error
//   GPU 0: NVIDIA H100 (UUID: GPU-...)                  nvidia-smi -L: claimed, no fact
//
// Kept of -q are the sections that tell of damage or limits: remapped rows, retired pages, ECC,
// clock-event reasons ("Active" only), MIG, fabric, recovery action. `name` is the field, with its
// section in front where the field alone is ambiguous: "Volatile SRAM Uncorrectable". "N/A" and
// "Not Supported" are left out. Of the table, kept are "Volatile Uncorr. ECC" and what reads ERR!.
void read_gpu_states(SiteText& text);

}  // namespace muster
