#include "core/kernel/anchors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace muster {
namespace {

// Each form of kernel_forms.cc holds at least one of them; a test tries every form through here.
constexpr std::string_view kAnchors[] = {
    "NVRM: ",
    "SXid (",
    "PCIe Bus Error",
    "limited width",
    "available PCIe",
    "inaccessible",
    "containment event",
    "Link down",
    "Link up",
    "Link is ",
    "link status definitely",
    "Port module event",
    "health compromised",
    "wait_func",
    "insufficient power",
    "High temperature on sensors",
    "probe of ",
    "rejecting I/O",
    ": disabled",
    "ACCESS_REG(",
    "NETDEV WATCHDOG",
    "Killed process ",
    "Kill process ",
    "oom-kill:",
    "as a result of limit of",
    "blocked for more than",
    "soft lockup",
    "hard LOCKUP",
    "self-detected stall",
    "segfault at ",
    "general protection",
    "[Hardware Error]",
    "EDAC MC",
    "cpu clock throttled",
    "nvme nvme",
    "I/O error, dev",
    "medium error, dev",
    "fs error (device",
    "Remounting filesystem",
    "XFS (",
    "BTRFS error",
    "nfs: server",
    "Connection to ",
    "Connection restored to",
    "\"MESSAGE\":[",
};

// The method of Wu and Manber: a window of the shortest anchor's length moves over the line, and
// its last two bytes tell how far it may jump.
constexpr std::size_t kWindow = [] {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view anchor : kAnchors) shortest = std::min(shortest, anchor.size());
  return shortest;
}();
constexpr std::size_t kSlots = 4096;
constexpr std::size_t kAnchorCount = std::size(kAnchors);
constexpr std::uint8_t kNone = 0xff;
static_assert(kAnchorCount < kNone);

constexpr std::size_t slot_of(char a, char b) {
  const auto left = static_cast<std::size_t>(static_cast<unsigned char>(a));
  const auto right = static_cast<std::size_t>(static_cast<unsigned char>(b));
  return (left << 4 ^ right) % kSlots;
}

struct Tables {
  std::array<std::uint8_t, kSlots> jump{};
  std::array<std::uint8_t, kSlots> first{};       // anchors whose window ends in this pair ...
  std::array<std::uint8_t, kAnchorCount> next{};  // ... as a chain
};

constexpr Tables kTables = [] {
  Tables tables;
  for (auto& jump : tables.jump) jump = static_cast<std::uint8_t>(kWindow - 1);
  for (auto& first : tables.first) first = kNone;
  for (std::size_t i = 0; i < kAnchorCount; ++i) {
    for (std::size_t end = 1; end < kWindow; ++end) {
      const std::size_t slot = slot_of(kAnchors[i][end - 1], kAnchors[i][end]);
      const auto jump = static_cast<std::uint8_t>(kWindow - 1 - end);
      tables.jump[slot] = std::min(tables.jump[slot], jump);
      if (jump != 0) continue;
      tables.next[i] = tables.first[slot];
      tables.first[slot] = static_cast<std::uint8_t>(i);
    }
  }
  return tables;
}();

}  // namespace

std::span<const std::string_view> kernel_anchors() {
  return kAnchors;
}

bool has_kernel_anchor(std::string_view line) {
  if (line.size() < kWindow) return false;
  const char* const begin = line.data();
  std::size_t end = kWindow - 1;  // the last byte of the window
  while (end < line.size()) {
    const std::size_t slot = slot_of(begin[end - 1], begin[end]);
    const std::size_t jump = kTables.jump[slot];
    if (jump != 0) {
      end += jump;
      continue;
    }
    const std::string_view rest = line.substr(end + 1 - kWindow);
    for (std::uint8_t i = kTables.first[slot]; i != kNone; i = kTables.next[i]) {
      if (rest.starts_with(kAnchors[i])) return true;
    }
    ++end;
  }
  return false;
}

}  // namespace muster
