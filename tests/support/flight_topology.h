#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

// How the ranks of a SIMULATED job are divided into process groups: the parallel dimensions that
// trainers use, tensor parallelism innermost, pipeline stages outermost. Part of
// flight_simulator.h.

namespace muster {

using SimulatorRng = std::mt19937_64;

inline constexpr std::size_t kNoIndex = SIZE_MAX;

// Evenly from low to high, both included. The distributions of the standard library differ between
// libraries; a seed must mean the same everywhere.
inline std::size_t draw(SimulatorRng& rng, std::size_t low, std::size_t high) {
  return low + static_cast<std::size_t>(rng() % (high - low + 1));
}
inline bool draw_percent(SimulatorRng& rng, std::size_t percent) {
  return draw(rng, 0, 99) < percent;
}

enum class TopologyKind : std::uint8_t {
  world_fsdp,  // one group: parameters sharded over all ranks
  world_ddp,   // one group: gradients reduced over all ranks
  hsdp,        // shards in a host or two, replicas between
  tp_dp,
  pp_dp,
  tp_pp_dp,
  ep_dp,  // experts: all_to_all beside the sharded dense layers
  cp_dp,  // context parallel
};
inline constexpr std::size_t kTopologyKinds = 8;

enum class Dimension : std::uint8_t { world, replicate, shard, tensor, context, expert, pipeline };
inline constexpr std::size_t kDimensions = 7;

struct SimulatedGroup {
  std::string name, description;
  std::vector<std::size_t> ranks;  // sorted
};

struct RankPlace {
  std::size_t stage = 0;        // of the pipeline
  std::size_t data = 0;         // ranks of one number read the same part of the data
  std::size_t next = kNoIndex;  // rank that holds the next stage, and the previous one
  std::size_t previous = kNoIndex;
  // Place in SimulatedTopology::groups; kNoIndex: the dimension has one rank only.
  std::array<std::size_t, kDimensions> groups{};

  std::size_t group(Dimension d) const { return groups[static_cast<std::size_t>(d)]; }
};

struct SimulatedTopology {
  TopologyKind kind = TopologyKind::world_fsdp;
  std::string text;  // "tp2 pp4 dp4, 32 ranks"
  std::size_t ranks = 0, ranks_per_host = 8, stages = 1, data_parts = 1;
  std::vector<SimulatedGroup> groups;  // [0]: all ranks
  std::vector<RankPlace> places;       // of each rank

  std::size_t host(std::size_t rank) const { return rank / ranks_per_host; }
};

// 8 to 64 ranks.
SimulatedTopology draw_topology(TopologyKind kind, SimulatorRng& rng);

}  // namespace muster
