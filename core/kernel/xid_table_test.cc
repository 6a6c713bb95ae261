#include "core/kernel/xid_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "core/kernel/nvlink5_table.h"
#include "core/kernel/sxid_table.h"

namespace muster {
namespace {

TEST(XidTable, EveryCodeOnceAndInOrder) {
  ASSERT_EQ(xid_table().size(), 176u);
  for (std::size_t i = 0; i < xid_table().size(); ++i) EXPECT_EQ(xid_table()[i].code, i + 1);
}

TEST(XidTable, RowsAreWhatTheTablesOfCausesAndActionsAllow) {
  for (const XidRow& row : xid_table()) {
    EXPECT_TRUE(cause_row(row.advice.cause).allows(row.advice.severity)) << row.code;
    EXPECT_FALSE(row.meaning.empty()) << row.code;
    EXPECT_TRUE(row.advice.first != Action::none || row.advice.then == Action::none) << row.code;
  }
}

// A GPU is taken out of a run for its hardware, its firmware or its links, never for a program.
TEST(XidTable, ProgramsAndNoticesDrainNobody) {
  for (const XidRow& row : xid_table()) {
    const bool gentle = row.side == XidSide::application || row.side == XidSide::none ||
                        row.side == XidSide::unused || row.side == XidSide::either;
    if (!gentle) continue;
    for (const Action action : {row.advice.first, row.advice.then}) {
      EXPECT_NE(action, Action::drain_host) << row.code;
      EXPECT_NE(action, Action::replace_gpu) << row.code;
    }
    EXPECT_TRUE(row.advice.severity < Severity::critical || row.side == XidSide::either)
        << row.code;
  }
}

TEST(XidTable, CodesBeyondTheTable) {
  for (const std::int32_t code : {-1, 0, 177, 65536}) EXPECT_EQ(find_xid(code), nullptr) << code;
  ASSERT_NE(find_xid(176), nullptr);
  EXPECT_EQ(find_xid(1)->code, 1);
}

TEST(XidTable, CodesThatPeopleKnow) {
  const struct {
    std::int32_t code;
    XidSide side;
    Cause cause;
  } rows[] = {
      {13, XidSide::application, Cause::app_memory_fault},
      {31, XidSide::application, Cause::app_memory_fault},
      {43, XidSide::application, Cause::app_memory_fault},
      {45, XidSide::none, Cause::benign_cleanup_xid},
      {48, XidSide::memory, Cause::ecc_uncorrectable},
      {62, XidSide::firmware, Cause::gpu_firmware_hang},
      {63, XidSide::memory, Cause::ecc_contained},
      {64, XidSide::memory, Cause::gpu_memory_worn_out},
      {74, XidSide::link, Cause::nvlink_down},
      {79, XidSide::gpu, Cause::gpu_fell_off_bus},
      {92, XidSide::memory, Cause::ecc_correctable_storm},
      {94, XidSide::memory, Cause::ecc_contained},
      {95, XidSide::memory, Cause::ecc_uncorrectable},
      {119, XidSide::firmware, Cause::gpu_firmware_hang},
      {120, XidSide::firmware, Cause::gpu_firmware_hang},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(find_xid(row.code)->side, row.side) << row.code;
    EXPECT_EQ(find_xid(row.code)->advice.cause, row.cause) << row.code;
  }
}

// The driver numbers the errors of each unit of a switch without a gap.
TEST(SxidTable, EveryCodeOfEveryUnitInOrder) {
  constexpr int kLast[] = {10, 47, 51, 8,  18, 20, 3, 8, 20, 84, 38,
                           10, 13, 17, 10, 10, 8,  7, 5, 6,  2};
  std::size_t at = 0;
  for (int unit = 0; unit < static_cast<int>(std::size(kLast)); ++unit) {
    for (int i = 0; i <= kLast[unit]; ++i, ++at) {
      ASSERT_LT(at, sxid_table().size());
      EXPECT_EQ(sxid_table()[at].code, (10 + unit) * 1000 + i);
      EXPECT_FALSE(sxid_table()[at].name.empty());
    }
  }
  EXPECT_EQ(at, sxid_table().size());
  EXPECT_EQ(at, 416u);
}

TEST(SxidTable, Grades) {
  int of_class[5] = {};
  for (const SxidRow& row : sxid_table()) ++of_class[static_cast<int>(row.grade)];
  EXPECT_EQ(of_class[static_cast<int>(SxidClass::fatal)], 21);
  EXPECT_EQ(of_class[static_cast<int>(SxidClass::maybe_fatal)], 46);
  EXPECT_EQ(of_class[static_cast<int>(SxidClass::nonfatal)], 23);
  EXPECT_EQ(of_class[static_cast<int>(SxidClass::stalling)], 3);
  EXPECT_EQ(find_sxid(22003)->grade, SxidClass::fatal);
  EXPECT_EQ(find_sxid(12028)->grade, SxidClass::stalling);
  EXPECT_EQ(sxid_unit(20034), "link layer");
  for (const std::int32_t code : {-1, 0, 9999, 10011, 22014, 30003, 70000}) {
    EXPECT_EQ(find_sxid(code), nullptr) << code;
    EXPECT_EQ(sxid_unit(code), "") << code;
  }
}

NvlinkWords words(std::string unit, std::uint32_t info, std::uint32_t status) {
  return {.unit = std::move(unit), .interrupt_info = info, .error_status = status};
}

TEST(Nvlink5Table, ByUnitReasonAndStatus) {
  const struct {
    const char* name;
    std::int32_t code;
    NvlinkWords words;
    std::optional<NvlinkDo> action;
  } rows[] = {
      {"unknown unit", 149, words("NETIR_NEWS", 0x1c6, 0), std::nullopt},
      {"unit of another code", 145, words("NETIR_LINK_EVT", 0x025001c6, 0), std::nullopt},
      {"reason not listed", 149, words("NETIR_LINK_EVT", 0x03f001c6, 0), std::nullopt},
      {"status not listed", 145, words("RLW_SRC_TRACK", 0xe2, 0x40), std::nullopt},
      {"second half of another unit", 146, words("TLW_RX/TLW_TX_PIPE0", 0x143, 1), std::nullopt},
      {"no unit", 149, words("", 0, 0), std::nullopt},
      {"not a fifth-generation code", 74, words("NETIR", 0, 0), std::nullopt},
      {"link down, peer", 149, words("NETIR_LINK_EVT", 0x025001c6, 0), NvlinkDo::reset},
      {"taken down by the host", 149, words("NETIR_LINK_DOWN", 0x02800011, 0), NvlinkDo::ignore},
      {"recoverable", 145, words("RLW_SRC_TRACK", 0x040868e2, 8), NvlinkDo::follow_154},
      {"receive pipe, older layout", 145, words("RLW_RXPIPE", 0x0c2, 1), NvlinkDo::ignore},
      {"receive pipe beyond repair", 145, words("RLW_RXPIPE", 0x4c2, 1), NvlinkDo::reset},
      {"receive pipe, newer layout", 145, words("RLW_RXPIPE", 0x086, 2), NvlinkDo::reset},
      {"receive pipe, other status", 145, words("RLW_RXPIPE", 0x4c2, 8), NvlinkDo::ignore},
      {"both names", 146, words("TLW_RX/TLW_RX_PIPE1", 0x143, 4), NvlinkDo::reset},
      {"newer name", 146, words("TLW_TX_PIPE0", 0x00c, 2), NvlinkDo::ignore},
  };
  for (const auto& row : rows) {
    const NvlinkRow* found = find_nvlink5(row.code, row.words);
    const auto action = found != nullptr ? std::optional(found->action) : std::nullopt;
    EXPECT_EQ(action, row.action) << row.name;
  }
}

TEST(Nvlink5Table, InOrderAndNothingTwice) {
  std::uint16_t last = 0;
  std::set<std::tuple<std::uint16_t, std::string_view, std::string_view, std::uint16_t,
                      std::uint8_t, std::uint64_t>>
      seen;
  for (const NvlinkRow& row : nvlink5_table()) {
    EXPECT_GE(row.code, last);
    last = row.code;
    EXPECT_TRUE(
        seen.emplace(row.code, row.unit, row.unit_575, row.low_bits, row.reason, row.status).second)
        << row.unit << row.status;
  }
  EXPECT_EQ(nvlink5_table().size(), 99u);
}

}  // namespace
}  // namespace muster
