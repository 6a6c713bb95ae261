#pragma once

#include <optional>
#include <string_view>

#include "core/model/kernel_event.h"

namespace muster {

// The event that a message of the kernel (kernel_envelope.h) is; nothing for one that is none. Of
// the values that the line does not give, `time`, `host`, `line` and those of earlier lines are
// left to the caller.
std::optional<KernelEvent> read_kernel_message(std::string_view message);

// "00000000:3B:00" -> "0000:3b:00.0"; domains above 16 bits keep 8 digits. Empty if it is no PCI
// address.
std::string normal_pci(std::string_view text);

}  // namespace muster
