#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

// `nvidia-smi -q -x`, one document or many in a row (`-l`), DTD v9 to v13. Values are found by
// their full path: the same tag stands under the board, its memory and the module (GB200, GB300).
//
//   power_w         average_power_draw, or power_draw of older drivers, of the board; where the GPU
//                   has no mean (A100, T4 ...) the instant one
//   power_limit_w   current_power_limit of the board; older: enforced_power_limit
//   module_power_w  the mean of module_power_readings
//   ecc_*           volatile counters, SRAM and DRAM together; older: the totals of
//                   single_bit and double_bit
//   throttle_mask   built from the named reasons, bits as in NVML
//
//  * key: UUID, PCI address (attribute id) and model. The document has no index: a GPU's place is
//    its index only where all attached GPUs are listed; with `-i` and in a torn document there is
//    none. No host.
//  * at: <timestamp>, without a zone.
//  * A section that collapsed to a text ("GPU is lost") makes each of its values absent for that
//    reason. A GPU with any value lost gets a note gpu_lost besides its row.
//  * A torn document gives the GPUs that are complete and a note (truncated); a GPU whose XML is
//    damaged is lost alone (damaged_line).
//  * Rows of one document come when it ends, since only then the indices are known.
//
// Hostile input: the DTD is never read, an entity never expanded or fetched (pugixml knows the five
// predefined ones and character references). One GPU is parsed at a time: at most kMaxGpuBytes
// (the largest seen, a B200, has 45 kB) and kMaxDepth levels, so memory stays bounded.

namespace muster {

bool looks_like_nvsmi_xml(std::string_view head);
std::unique_ptr<Decoder> make_nvsmi_xml_decoder(const DecoderOptions& options);

}  // namespace muster
