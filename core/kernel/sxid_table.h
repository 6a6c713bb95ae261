#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// What the numbers mean that the NVSwitch driver prints as "SXid": one row for each code of its
// list of errors, in the order of the codes. Sources: the enumeration of switch errors of NVIDIA's
// open kernel modules (codes and names), and the Fabric Manager User Guide DU-09883 (which of them
// are fatal).

namespace muster {

enum class SxidClass : std::uint8_t {
  unlisted,     // the guide does not speak of it: the line's own word decides
  nonfatal,     // corrected, or retried
  stalling,     // called non-fatal, but traffic behind the port may stand still
  maybe_fatal,  // traffic is lost: of one node at a port to GPUs, of more at a port to switches
  fatal,        // the whole fabric is affected
};

struct SxidRow {
  std::uint16_t code;
  SxidClass grade;
  std::string_view name;  // as the driver calls it within its unit
};

std::span<const SxidRow> sxid_table();
// Null for a code that no driver known here prints.
const SxidRow* find_sxid(std::int32_t code);
// The part of the switch that a code belongs to, "link layer"; empty for none.
std::string_view sxid_unit(std::int32_t code);

}  // namespace muster
