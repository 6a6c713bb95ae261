#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/flight/fleet.h"

// What the ranks did before, to tell which of two stepped out of line: a rank that skips, adds or
// swaps a call makes a sequence that nobody made before, itself included. The others repeat what
// all of them always did.

namespace muster {

class CallHistory {
 public:
  explicit CallHistory(const FlightFleet& fleet);

  // How many of the rank's last turns before its first wait, that one included (this call after
  // that one; so many of one call in a row), happened once, and only there.
  std::size_t novelty(std::int32_t rank) const;
  // Equal for groups that do the same on other ranks: of one size, alike in name but for digits.
  std::uint64_t class_of_group(std::uint32_t group) const { return group_class_[group]; }
  // How many entries of all rings called this (call_key of the whole batch).
  std::size_t times(std::uint64_t key) const;
  // Whether any rank but those in `except` (sorted) ever issued the call of this entry from this
  // place of the program.
  bool seen_elsewhere(const FlightRank& rank, std::uint32_t entry,
                      const std::vector<std::int32_t>& except) const;

 private:
  struct Run {
    std::uint64_t token = 0;
    std::uint32_t length = 0;
  };

  std::uint64_t token(const FlightRank& rank, std::uint32_t index) const;
  void count_runs(const FlightFleet& fleet, const FlightRank& rank);

  std::vector<std::uint64_t> group_class_;  // of each group of the fleet
  struct Users {
    std::vector<std::int32_t> first;  // the first few
    std::size_t count = 0;
    std::int32_t last = 0;
  };

  std::unordered_map<std::uint64_t, Users> users_;                           // of a token
  std::unordered_map<std::uint64_t, std::uint32_t> turns_, keys_;            // how often
  std::unordered_map<std::int32_t, std::vector<std::uint64_t>> last_turns_;  // by rank
};

}  // namespace muster
