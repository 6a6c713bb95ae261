#pragma once

#include "core/site/site_text.h"

namespace muster {

// Versions of NVIDIA's driver:
//
//   NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Tue Oct ...
//   | NVIDIA-SMI 535.54.03   Driver Version: 535.54.03   CUDA Version: 12.2 |
//   NVML library version: 535.216
//   host   driver
//   n01    525.105.17
//
// The first is of /proc/driver/nvidia/version, the next two of nvidia-smi. The last is a table, by
// tabs, commas or blanks, of any columns where one is called host, node or hostname and one driver.
void read_drivers(SiteText& text);

}  // namespace muster
