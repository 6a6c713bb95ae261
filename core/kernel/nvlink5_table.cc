#include "core/kernel/nvlink5_table.h"

namespace muster {
namespace {

using Do = NvlinkDo;
using Look = NvlinkLook;

constexpr std::uint64_t kAny = NvlinkRow::kAnyStatus;

constexpr NvlinkRow kRows[] = {
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x1, Do::ignore, Look::ask_vendor},
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x2, Do::reset, Look::ask_vendor},
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x4, Do::ignore, Look::nothing},
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x8, Do::ignore, Look::ask_vendor},
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x10, Do::reset, Look::ask_vendor},
    {144, "SAW_MVB", "", 0x21, 0x1, 0, 0x20, Do::ignore, Look::nothing},
    {145, "RLW_CTRL", "", 0x62, 0x3, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x1, Do::follow_154, Look::ask_vendor},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x2, Do::follow_154, Look::ask_vendor},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x4, Do::follow_154, Look::link},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x8, Do::follow_154, Look::link},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x10, Do::follow_154, Look::link},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x20, Do::follow_154, Look::link},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x40, Do::reset, Look::ask_vendor},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x80, Do::reset, Look::ask_vendor},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x100, Do::ignore, Look::nothing},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x200, Do::ignore, Look::nothing},
    {145, "RLW_REMAP", "", 0x82, 0x4, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {145, "RLW_RSPCOL", "", 0xa2, 0x5, 0, 0x1, Do::ignore, Look::nothing},
    {145, "RLW_RSPCOL", "", 0xa2, 0x5, 0, 0x2, Do::reset, Look::ask_vendor},
    {145, "RLW_RSPCOL", "", 0xa2, 0x5, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0xc2, 0x6, 0, 0x1, Do::ignore, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0x4c2, 0x86, 0, 0x1, Do::reset, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0xc2, 0x6, 0, 0x2, Do::ignore, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0x4c2, 0x86, 0, 0x2, Do::reset, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0xc2, 0x6, 0, 0x4, Do::ignore, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0x4c2, 0x86, 0, 0x4, Do::reset, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0xc2, 0x6, 0, 0x8, Do::ignore, Look::ask_vendor},
    {145, "RLW_RXPIPE", "", 0xc2, 0x6, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x1, Do::reset, Look::ask_vendor},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x2, Do::ignore, Look::nothing},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x4, Do::follow_154, Look::nothing},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x8, Do::follow_154, Look::nothing},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x10, Do::reset, Look::ask_vendor},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x20, Do::reset, Look::ask_vendor},
    {145, "RLW_SRC_TRACK", "", 0xe2, 0x7, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x1, Do::ignore, Look::nothing},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x2, Do::reset, Look::ask_vendor},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x10000, Do::ignore, Look::nothing},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x20000, Do::reset, Look::ask_vendor},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x100000, Do::reset, Look::ask_vendor},
    {145, "RLW_TAGSTATE", "", 0x102, 0x8, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {146, "TLW_CTRL", "", 0x123, 0x9, 0, 0x1, Do::ignore, Look::nothing},
    {146, "TLW_CTRL", "", 0x123, 0x9, 0, 0x2, Do::ignore, Look::ask_vendor},
    {146, "TLW_CTRL", "", 0x123, 0x9, 0, 0x4, Do::reset, Look::ask_vendor},
    {146, "TLW_CTRL", "", 0x123, 0x9, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE0", 0x143, 0xa, 0, 0x1, Do::ignore, Look::nothing},
    {146, "TLW_RX", "TLW_RX_PIPE0", 0x143, 0xa, 0, 0x2, Do::ignore, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE0", 0x143, 0xa, 0, 0x4, Do::reset, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE0", 0x143, 0xa, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE1", 0x143, 0xb, 0, 0x1, Do::ignore, Look::nothing},
    {146, "TLW_RX", "TLW_RX_PIPE1", 0x143, 0xb, 0, 0x2, Do::ignore, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE1", 0x143, 0xb, 0, 0x4, Do::reset, Look::ask_vendor},
    {146, "TLW_RX", "TLW_RX_PIPE1", 0x143, 0xb, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE0", 0x163, 0xc, 0, 0x1, Do::ignore, Look::nothing},
    {146, "TLW_TX", "TLW_TX_PIPE0", 0x163, 0xc, 0, 0x2, Do::ignore, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE0", 0x163, 0xc, 0, 0x4, Do::reset, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE0", 0x163, 0xc, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE1", 0x163, 0xd, 0, 0x1, Do::ignore, Look::nothing},
    {146, "TLW_TX", "TLW_TX_PIPE1", 0x163, 0xd, 0, 0x2, Do::ignore, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE1", 0x163, 0xd, 0, 0x4, Do::reset, Look::ask_vendor},
    {146, "TLW_TX", "TLW_TX_PIPE1", 0x163, 0xd, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {147, "TREX", "", 0x184, 0xe, 0, 0x1, Do::ignore, Look::ask_vendor},
    {147, "TREX", "", 0x184, 0xe, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {148, "NVLPW_CTRL", "NVLPW", 0x5, 0xf, 0, 0x80000000, Do::ignore, Look::ask_vendor},
    {149, "NETIR", "NETIR_INT", 0x6, 0x18, 0, kAny, Do::reset, Look::peer_or_alone},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 0, kAny, Do::reset,
     Look::peer_or_alone},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 1, kAny, Do::reset, Look::repeats},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 2, kAny, Do::reset, Look::signal},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 4, kAny, Do::reset, Look::signal},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 10, kAny, Do::reset, Look::signal},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 15, kAny, Do::reset, Look::software},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 16, kAny, Do::reset,
     Look::software_or_signal},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 17, kAny, Do::reset, Look::software},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 18, kAny, Do::reset,
     Look::software_or_signal},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 21, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 22, kAny, Do::reset, Look::software},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 32, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 33, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 34, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 35, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 36, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 37, kAny, Do::reset, Look::peer},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 38, kAny, Do::ignore, Look::software},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 40, kAny, Do::ignore, Look::host},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 42, kAny, Do::reset, Look::cables},
    {149, "NETIR_LINK_EVT", "NETIR_LINK_DOWN", 0x1c6, 0x11, 43, kAny, Do::reset, Look::cables},
    {149, "NETIR_BER_EVENT", "", 0x226, 0x13, 0, 0x0, Do::ignore, Look::cables},
    {149, "NETIR_BER_EVENT", "", 0x226, 0x13, 0, 0x1, Do::ignore, Look::cables},
    {149, "NETIR_BER_EVENT", "", 0x226, 0x13, 0, 0x2, Do::ignore, Look::cables},
    {149, "NETIR_BER_EVENT", "", 0x226, 0x13, 0, 0x3, Do::ignore, Look::cables},
    {149, "NETIR_MFDE_EVENT", "", 0x246, 0x14, 0, 0x1, Do::reset, Look::ask_vendor},
    {149, "NETIR_MFDE_EVENT", "", 0x246, 0x14, 0, 0x3, Do::ignore, Look::nothing},
    {149, "NETIR_MFDE_EVENT", "", 0x246, 0x14, 0, 0x4, Do::reset, Look::ask_vendor},
    {149, "NETIR_MFDE_EVENT", "", 0x246, 0x14, 0, 0x5, Do::reset, Look::ask_vendor},
    {149, "NETIR_MFDE_EVENT", "", 0x246, 0x14, 0, 0x7, Do::reset, Look::ask_vendor},
    {150, "MSE", "", 0x0, 0x0, 0, 0x0, Do::reset, Look::ask_vendor},
    {150, "MSE", "", 0x0, 0x0, 0, 0xffffffff, Do::reset, Look::ask_vendor},
    {150, "MSE_WATCHDOG", "", 0x0, 0x0, 0, 0x0, Do::reset, Look::ask_vendor},
};

constexpr std::uint32_t kUnitBits = 0x3ff, kUnitBits575 = 0x7f;  // without the highest
constexpr std::uint32_t kHighBit = 1u << 10, kHighBit575 = 1u << 7;

bool names_unit(const NvlinkRow& row, std::string_view unit) {
  const std::size_t slash = unit.find('/');
  const std::string_view first = unit.substr(0, slash);
  if (slash != std::string_view::npos) {
    return first == row.unit && unit.substr(slash + 1) == row.unit_575;
  }
  return first == row.unit || (!row.unit_575.empty() && first == row.unit_575);
}

// Whether the bit above those of the unit is as the row has it. A line whose unit bits are of
// neither layout tells nothing by it: the row without it holds.
bool high_bit_fits(const NvlinkRow& row, std::uint32_t word) {
  bool set = false;
  if ((word & kUnitBits) == (row.low_bits & kUnitBits)) {
    set = (word & kHighBit) != 0;
  } else if ((word & kUnitBits575) == (row.low_bits_575 & kUnitBits575)) {
    set = (word & kHighBit575) != 0;
  }
  return set == ((row.low_bits & kHighBit) != 0);
}

}  // namespace

std::span<const NvlinkRow> nvlink5_table() {
  return kRows;
}

const NvlinkRow* find_nvlink5(std::int32_t code, const NvlinkWords& words) {
  const std::uint32_t reason = (words.interrupt_info >> 20) & 0x3f;
  // Only these bits of its status come in both forms.
  const bool two_forms = words.unit == "RLW_RXPIPE" && words.error_status <= 4;
  for (const NvlinkRow& row : kRows) {
    if (row.code != code || row.reason != reason || !names_unit(row, words.unit)) continue;
    if (row.status != kAny && row.status != words.error_status) continue;
    if (two_forms && !high_bit_fits(row, words.interrupt_info)) continue;
    return &row;
  }
  return nullptr;
}

}  // namespace muster
