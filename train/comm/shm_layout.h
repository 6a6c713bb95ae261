#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "train/comm/call_signature.h"

// How one group of ranks lies in shared memory: a head, a slot for each member, and two pieces of
// kPieceBytes for each member. A round is: write the own piece, arrive, wait until all have
// arrived, read the pieces of the others. Rounds alternate between the two pieces, so that one wait
// a round is enough: who writes round k has seen all arrive at k - 1, after they had read k - 2.

namespace muster::train {

// Two of each rank of a host stay in the last cache, and rounds are so few that ranks without a
// core of their own are not slowed by taking turns (train_comm_bench).
inline constexpr std::size_t kPieceBytes = 1024 * 1024;
// Of one job, also those that split() made: all, nodes, replicas, saves; with room. Memory that is
// not used costs nothing.
inline constexpr std::uint32_t kShmGroups = 64;
inline constexpr std::size_t kFailureText = 1024;
inline constexpr std::size_t kFailureRanks = 64;

enum class ShmPresence : std::uint32_t { absent, there, left };

// What a member tells of a failure; written once.
struct ShmFailure {
  std::atomic<std::uint32_t> told;  // 1: the rest stands
  CollectiveFailure::Kind kind;
  std::uint32_t odd_count;
  std::int64_t when_ns;  // boot clock: one for all processes of the host
  std::array<std::int32_t, kFailureRanks> odd;
  std::array<char, kFailureText> text;
};

struct alignas(64) ShmSlot {
  std::atomic<std::uint64_t> rounds;  // to which this member has come
  std::atomic<ShmPresence> presence;
  std::atomic<std::int32_t> pid;
  std::array<CallSignature, 2> calls;  // the last two, by their number
  ShmFailure failure;
};

struct ShmHead {
  alignas(64) std::atomic<std::uint64_t> arrivals;  // of all members, in all rounds
  // Rounds that are complete, doubled; the lowest bit says that somebody told of a failure. What
  // waits sleeps on it.
  alignas(64) std::atomic<std::uint32_t> epoch;
  std::atomic<std::uint32_t> sleepers;
  std::atomic<std::uint32_t> groups;  // of the first group: how many there are
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::size_t shm_pieces_at(std::size_t members) {
  constexpr std::size_t kPage = 4096;
  const std::size_t end = sizeof(ShmHead) + members * sizeof(ShmSlot);
  return (end + kPage - 1) / kPage * kPage;
}
constexpr std::size_t shm_group_bytes(std::size_t members) {
  return shm_pieces_at(members) + members * 2 * kPieceBytes;
}

}  // namespace muster::train
