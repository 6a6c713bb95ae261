#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// CRC-32C (Castagnoli, reflected), as iSCSI and the event files of TensorBoard have it. `crc`: that
// of the bytes before; a whole is the same in pieces.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

}  // namespace muster
