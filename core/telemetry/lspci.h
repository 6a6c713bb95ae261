#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

// `lspci -vv` (with or without -D, -nn): the PCIe links of NVIDIA GPUs (classes VGA and 3D
// controller), everything else is passed over. LnkCap gives pcie_gen_max and pcie_width_max, LnkSta
// pcie_gen and pcie_width; LnkCap2, LnkSta2 and LnkCtl are other things. GT/s to generation: 2.5,
// 5, 8, 16, 32, 64 are 1 to 6.
//
// key: the PCI address as printed. No time, no host, no index. An idle GPU lowers its speed by
// itself: only the width tells a damaged link without load.
//
// "Capabilities: <access denied>" (not root) is a note device_access. A last line without a newline
// is dropped with a note (truncated), unless it is closed by a bracket: "Width x1" may be x16.

namespace muster {

bool looks_like_lspci(std::string_view head);
std::unique_ptr<Decoder> make_lspci_decoder(const DecoderOptions& options);

}  // namespace muster
