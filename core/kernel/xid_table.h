#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/kernel_event.h"
#include "core/model/severity.h"

// What the numbers mean that the NVIDIA driver prints in the kernel log as "Xid": one row each, in
// the order of the codes. Sources: the catalog of Xid errors of NVIDIA (docs.nvidia.com, as of
// driver 580) for 1 to 172 and nverror.h of the open kernel modules 595.45 for 173 to 176.

namespace muster {

// Where a fault lies as far as its number alone tells.
enum class XidSide : std::uint8_t {
  none,         // a notice, a test, a clean-up: nothing is broken
  application,  // a program did it; the GPU is well
  either,       // program or hardware: another witness decides
  memory,       // GPU memory
  gpu,          // the board
  firmware,     // firmware or driver
  link,         // NVLink or the link to the CPU
  host,         // power, cooling, slot
  software,     // how the node was set up
  told,         // the line itself says (154)
  unused,       // not raised by data-center GPUs of today
};

// What the number alone, in one line, is evidence for (see kernel_cause.h).
struct XidAdvice {
  Cause cause;
  Severity severity;
  Confidence confidence;
  Action first, then;  // Action::none: nothing (more) to do
};

struct XidRow {
  std::uint16_t code;
  XidSide side;
  XidAdvice advice;
  std::string_view meaning;
};

std::span<const XidRow> xid_table();
// Null for a code that no driver known here prints.
const XidRow* find_xid(std::int32_t code);

// "node reboot required" of Xid 154, in our words.
std::string_view recovery_meaning(GpuRecovery recovery);

}  // namespace muster
