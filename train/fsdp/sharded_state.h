#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "train/model/dtype.h"
#include "train/model/unit_plan.h"

namespace muster::train {

// Zeroed memory on a cache line.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data(), size_}; }
  std::span<const std::byte> bytes() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

// One rank's slice of one unit, each `slice` elements of sum_dtype(compute).
struct UnitShard {
  AlignedBytes master, first_moment, second_moment;
};

// What a run must not lose, of one rank: rank `shard` of `shards` holds slice `shard` of each unit.
struct ShardedState {
  ShardedState(const UnitPlan& unit_plan, Dtype compute, std::uint64_t rank, std::uint64_t ranks);

  const UnitPlan* plan;
  Dtype dtype;  // f32 or f64
  std::uint64_t shard, shards;
  std::vector<UnitShard> units;
};

// `count` numbers of a master slice (f32 or f64) as bf16: what is gathered, and what is saved.
void round_to_bf16(Dtype dtype, const std::byte* from, std::byte* to, std::uint64_t count);

// Where in its data and its schedule a run stands.
struct RunCursor {
  std::uint64_t step = 0;    // optimizer steps that are complete, over all epochs
  std::uint64_t tokens = 0;  // seen so far, over all ranks
  std::uint64_t seed = 0;
  std::uint64_t pack_digest = 0;  // of the data, by content: a resumed run reads the same
  // Steps that the moments know nothing of: without a finite gradient or without labels, and all
  // before a start with weights alone. step - skipped updates have made the moments.
  std::uint64_t skipped = 0;

  bool operator==(const RunCursor&) const = default;
};

}  // namespace muster::train
