#include "core/blocks/block_order.h"

#include "base/check.h"

namespace muster::blocks {
namespace {

// The finalizer of splitmix64.
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

BlockOrder::BlockOrder(std::uint64_t blocks, std::uint64_t seed, std::uint64_t epoch)
    : blocks_(blocks) {
  MUSTER_CHECK(blocks >= 1 && blocks <= limits::kPackBlocks, "a manifest bounds its blocks");
  while ((std::uint64_t{1} << (2 * half_bits_)) < blocks) ++half_bits_;
  mask_ = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t state = mix_bits(seed) ^ epoch;
  for (std::uint64_t& key : keys_) {
    state += 0x9e3779b97f4a7c15ULL;
    key = mix_bits(state);
  }
}

std::uint64_t BlockOrder::forward(std::uint64_t value) const {
  std::uint64_t left = value >> half_bits_, right = value & mask_;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mix_bits(right ^ key) & mask_);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t BlockOrder::backward(std::uint64_t value) const {
  std::uint64_t left = value >> half_bits_, right = value & mask_;
  for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) {
    const std::uint64_t before = right ^ (mix_bits(left ^ *key) & mask_);
    right = left;
    left = before;
  }
  return left << half_bits_ | right;
}

std::uint64_t BlockOrder::at(std::uint64_t position) const {
  MUSTER_CHECK(position < blocks_, "a position of the epoch");
  do position = forward(position);
  while (position >= blocks_);
  return position;
}

std::uint64_t BlockOrder::position_of(std::uint64_t block) const {
  MUSTER_CHECK(block < blocks_, "a block of the pack");
  do block = backward(block);
  while (block >= blocks_);
  return block;
}

}  // namespace muster::blocks
