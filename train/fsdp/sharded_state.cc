#include "train/fsdp/sharded_state.h"

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "edge/os/huge_pages.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

constexpr std::size_t kLineBytes = 64;
// Weights are read from end to end many times a step: with small pages a unit of gigabytes is half
// a million of them.
constexpr std::size_t kHugeBytes = 2 * 1024 * 1024;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <typename From>
void round_numbers(const std::byte* from, std::byte* to, std::uint64_t count) {
  const auto* numbers = reinterpret_cast<const From*>(from);
  auto* out = reinterpret_cast<std::uint16_t*>(to);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = to_bf16(static_cast<float>(numbers[i]));
}

}  // namespace

AlignedBytes::AlignedBytes(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const bool huge = bytes >= 4 * kHugeBytes;  // so that what is rounded up stays small
  const std::size_t alignment = huge ? kHugeBytes : kLineBytes;
  void* memory = std::aligned_alloc(alignment, round_up(bytes, alignment));
  MUSTER_CHECK(memory != nullptr, "there is memory for the state of the run");
  if (huge) prefer_huge_pages(memory, bytes);
  std::memset(memory, 0, bytes);
  data_.reset(static_cast<std::byte*>(memory));
}

void AlignedBytes::Free::operator()(std::byte* data) const {
  std::free(data);
}

ShardedState::ShardedState(const UnitPlan& unit_plan, Dtype compute, std::uint64_t rank,
                           std::uint64_t ranks)
    : plan(&unit_plan), dtype(sum_dtype(compute)), shard(rank), shards(ranks) {
  MUSTER_CHECK(rank < ranks, "a shard of those that there are");
  units.reserve(plan->units().size());
  for (std::size_t unit = 0; unit < plan->units().size(); ++unit) {
    const std::size_t bytes = plan->slice(unit, shards) * dtype_bytes(dtype);
    units.push_back({AlignedBytes(bytes), AlignedBytes(bytes), AlignedBytes(bytes)});
  }
}

void round_to_bf16(Dtype dtype, const std::byte* from, std::byte* to, std::uint64_t count) {
  MUSTER_CHECK(dtype != Dtype::bf16, "master slices are f32 or f64");
  dtype == Dtype::f64 ? round_numbers<double>(from, to, count)
                      : round_numbers<float>(from, to, count);
}

}  // namespace muster::train
