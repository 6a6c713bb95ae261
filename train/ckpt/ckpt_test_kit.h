#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "train/ckpt/open_store.h"
#include "train/comm/join.h"
#include "train/comm/rank_test_kit.h"

// A small model, its state filled from a seed, and ranks on threads that save and load it.

namespace muster::train {

inline Qwen3Config small_config(bool tied = false) {
  Qwen3Config config;
  config.vocabulary = 96;
  config.hidden = 32;
  config.intermediate = 48;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.max_positions = 64;
  config.tied = tied;
  return config;
}

// What element `at` of a part of a unit is: the same for any number of ranks.
inline double element(std::size_t unit, std::size_t part, std::uint64_t at, std::uint64_t seed) {
  const std::uint64_t mixed = (at + 1) * 2654435761u + unit * 97 + part * 31 + seed * 1009;
  return (static_cast<double>(mixed % 200003) - 100001.0) / (part == 0 ? 1e5 : 1e7);
}

template <typename T>
void fill_state(ShardedState& state, std::uint64_t seed) {
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    const std::uint64_t slice = state.plan->slice(unit, state.shards);
    AlignedBytes* const parts[] = {&state.units[unit].master, &state.units[unit].first_moment,
                                   &state.units[unit].second_moment};
    for (std::size_t part = 0; part < 3; ++part) {
      auto* numbers = reinterpret_cast<T*>(parts[part]->data());
      for (std::uint64_t i = 0; i < slice; ++i) {
        const std::uint64_t at = state.shard * slice + i;
        const bool padding = at >= state.plan->units()[unit].elements;
        numbers[i] = padding ? T{0} : static_cast<T>(element(unit, part, at, seed));
      }
    }
  }
}

inline void fill(ShardedState& state, std::uint64_t seed) {
  state.dtype == Dtype::f64 ? fill_state<double>(state, seed) : fill_state<float>(state, seed);
}

inline bool same_bytes(const AlignedBytes& a, const AlignedBytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}
inline bool same_state(const ShardedState& a, const ShardedState& b, bool moments = true) {
  for (std::size_t unit = 0; unit < a.units.size(); ++unit) {
    const UnitShard &x = a.units[unit], &y = b.units[unit];
    if (!same_bytes(x.master, y.master)) return false;
    if (!moments) continue;
    if (!same_bytes(x.first_moment, y.first_moment)) return false;
    if (!same_bytes(x.second_moment, y.second_moment)) return false;
  }
  return true;
}

struct RankWork {
  CheckpointStore& store;
  ShardedState& state;
  int rank;
};

// Each rank opens a store on its thread and does its part; failures are those of the test.
inline void with_ranks(int world, const UnitPlan& plan, Dtype dtype,
                       const CheckpointOptions& options, SaveDisk& disk,
                       const std::function<void(RankWork&)>& part, bool opens = true) {
  Ranks ranks = join_threads(world, {patient(60)});
  std::vector<std::jthread> threads;
  for (int r = 0; r < world; ++r) {
    threads.emplace_back([&, r] {
      auto store = open_store(options, std::move(ranks[static_cast<std::size_t>(r)]), disk);
      EXPECT_EQ(store.has_value(), opens) << (store ? "" : store.error().context);
      if (!store) return;
      ShardedState state(plan, dtype, static_cast<std::uint64_t>(r),
                         static_cast<std::uint64_t>(world));
      RankWork work{**store, state, r};
      part(work);
    });
  }
}

inline RunCursor cursor_of(std::uint64_t step) {
  return {step, step * 1000, 0xfedcba9876543210u, 0x8000000000000001u, 3};
}

// Saves the state of `seed` as one step.
inline void save_step(int world, const UnitPlan& plan, Dtype dtype,
                      const CheckpointOptions& options, SaveDisk& disk, std::uint64_t step,
                      std::uint64_t seed) {
  with_ranks(world, plan, dtype, options, disk, [&](RankWork& work) {
    fill(work.state, seed);
    const Status begun = work.store.save(work.state, cursor_of(step));
    EXPECT_TRUE(begun) << begun.error().context;
    // The run changes its state at once: what is saved is that of the call.
    fill(work.state, seed + 1);
    const Status saved = work.store.finish();
    EXPECT_TRUE(saved) << saved.error().context;
  });
}

}  // namespace muster::train
