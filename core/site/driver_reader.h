#pragma once

#include "core/site/site_text.h"

namespace muster {

// Versions of NVIDIA's driver:
//
//   NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.127.08  Tue Oct ...
//   /proc/driver/nvidia/version | NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA
//   Version: 12.4 |  nvidia-smi NVML library version: 550.144 host   driver a table, by tabs,
//   commas or blanks, of any columns where n01    525.105.17                      one is called
//   host, node or hostname and one driver
void read_drivers(SiteText& text);

}  // namespace muster
