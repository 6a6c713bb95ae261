#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/kernel_event.h"

// What the words behind Xid 144 to 150 (NVLink of the fifth generation, Blackwell) ask for. Source:
// the NVLink 5 part of NVIDIA's catalog of Xid errors, one row for each unit, link-down reason and
// error status that it lists.

namespace muster {

enum class NvlinkDo : std::uint8_t { ignore, reset, follow_154 };

// Where to look when it comes back.
enum class NvlinkLook : std::uint8_t {
  nothing,
  ask_vendor,
  link,      // the usual hunt for a bad link
  signal,    // signal quality of the link
  cables,    // signal quality, cables and connectors
  software,  // somebody took the link down
  software_or_signal,
  peer,           // the device at the other end
  peer_or_alone,  // follows a fault at the other end; alone it is news for the vendor
  repeats,        // once is nothing, more than one a day is news for the vendor
  host,
};

struct NvlinkRow {
  std::uint16_t code;
  std::string_view unit;  // as the line has it before driver 575 (and later where `unit_575` is "")
  std::string_view unit_575;
  // The low bits of the first word that name the unit: bits 10:0 before driver 575, 7:0 from it on.
  // Of RLW_RXPIPE the highest of them tells a fault that can be recovered from one that cannot.
  std::uint16_t low_bits, low_bits_575;
  std::uint8_t reason;   // bits 25:20 of the first word: why the link went down
  std::uint64_t status;  // the second word; kAnyStatus: whatever it is
  NvlinkDo action;
  NvlinkLook look;

  static constexpr std::uint64_t kAnyStatus = ~0ull;
};

std::span<const NvlinkRow> nvlink5_table();
// Null where no row has these words: the word Fatal or Nonfatal of the line has to do.
const NvlinkRow* find_nvlink5(std::int32_t code, const NvlinkWords& words);

}  // namespace muster
