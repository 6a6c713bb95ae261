#include "tests/support/flight_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace muster {
namespace {

// Sizes of the dimensions; the expert dimension cuts the shards again.
struct Sizes {
  std::size_t tensor = 1, context = 1, shard = 1, replicate = 1, pipeline = 1, expert = 1;

  std::size_t ranks() const { return tensor * context * shard * replicate * pipeline; }
};

std::size_t draw_power(SimulatorRng& rng, std::size_t low, std::size_t high) {
  return std::size_t{1} << draw(rng, low, high);
}

Sizes draw_sizes(TopologyKind kind, SimulatorRng& rng) {
  Sizes s;
  switch (kind) {
    case TopologyKind::world_fsdp:
      s.shard = draw(rng, 8, 64);
      break;
    case TopologyKind::world_ddp:
      s.replicate = draw(rng, 8, 64);
      break;
    case TopologyKind::hsdp:
      s.shard = draw_power(rng, 2, 4);
      s.replicate = draw(rng, 2, 6);
      break;
    case TopologyKind::tp_dp:
      s.tensor = draw_power(rng, 1, 3);
      (draw_percent(rng, 50) ? s.shard : s.replicate) = draw(rng, 2, 16);
      break;
    case TopologyKind::pp_dp:
      s.pipeline = draw(rng, 2, 8);
      s.replicate = draw(rng, 1, 8);
      break;
    case TopologyKind::tp_pp_dp:
      s.tensor = draw_power(rng, 1, 2);
      s.pipeline = draw(rng, 2, 4);
      s.replicate = draw(rng, 2, 6);
      break;
    case TopologyKind::ep_dp:
      s.expert = draw_power(rng, 1, 3);
      s.shard = s.expert * draw(rng, 2, 8);
      break;
    case TopologyKind::cp_dp:
      s.context = draw_power(rng, 1, 3);
      s.shard = draw(rng, 2, 8);
      break;
  }
  return s;
}

struct Coordinates {
  std::size_t tensor, context, shard, replicate, pipeline;
};

Coordinates coordinates_of(std::size_t rank, const Sizes& s) {
  Coordinates c{};
  c.tensor = rank % s.tensor;
  rank /= s.tensor;
  c.context = rank % s.context;
  rank /= s.context;
  c.shard = rank % s.shard;
  rank /= s.shard;
  c.replicate = rank % s.replicate;
  c.pipeline = rank / s.replicate;
  return c;
}

// Names the groups of one dimension as PyTorch does: by a running number of all new_group() calls,
// or one name for all members of the dimension, as after split_group().
class GroupMaker {
 public:
  GroupMaker(SimulatedTopology& topology, bool split) : topology_(topology), split_(split) {}

  // `key` tells which group of the dimension each rank belongs to.
  void make(Dimension dimension, const std::string& name, const std::vector<std::size_t>& key) {
    std::map<std::size_t, std::vector<std::size_t>> members;
    for (std::size_t rank = 0; rank < key.size(); ++rank) members[key[rank]].push_back(rank);
    const std::string shared_name = std::to_string(topology_.groups.size());
    for (const auto& [unused, ranks] : members) {
      if (ranks.size() < 2) continue;
      std::size_t place = 0;
      if (ranks.size() < topology_.ranks) {
        place = topology_.groups.size();
        const std::string own_name = std::to_string(place);
        topology_.groups.push_back({split_ ? shared_name : own_name, "mesh_" + name, ranks});
      }
      for (const std::size_t rank : ranks) {
        topology_.places[rank].groups[static_cast<std::size_t>(dimension)] = place;
      }
    }
  }

 private:
  SimulatedTopology& topology_;
  bool split_;
};

void make_groups(SimulatedTopology& t, const Sizes& s, bool split) {
  const std::size_t n = t.ranks;
  std::vector<std::size_t> tensor(n), context(n), shard(n), replicate(n), expert(n), pipeline(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    const Coordinates c = coordinates_of(rank, s);
    // What is left of the coordinates when the own one is taken out.
    const std::size_t outer = c.pipeline * 64 + c.replicate;
    tensor[rank] = (outer * 64 + c.shard) * 64 + c.context;
    context[rank] = (outer * 64 + c.shard) * 64 + c.tensor;
    shard[rank] = (outer * 64 + c.context) * 64 + c.tensor;
    replicate[rank] = ((c.pipeline * 64 + c.shard) * 64 + c.context) * 64 + c.tensor;
    pipeline[rank] = ((c.replicate * 64 + c.shard) * 64 + c.context) * 64 + c.tensor;
    expert[rank] = s.expert > 1 ? c.shard / s.expert : rank;
    t.places[rank].stage = c.pipeline;
    t.places[rank].data = c.replicate * s.shard + c.shard;
    const std::size_t stride = n / s.pipeline;
    if (c.pipeline + 1 < s.pipeline) t.places[rank].next = rank + stride;
    if (c.pipeline > 0) t.places[rank].previous = rank - stride;
  }
  GroupMaker maker(t, split);
  maker.make(Dimension::pipeline, "pp", pipeline);
  maker.make(Dimension::replicate, "dp_replicate", replicate);
  maker.make(Dimension::shard, "dp_shard", shard);
  maker.make(Dimension::context, "cp", context);
  maker.make(Dimension::tensor, "tp", tensor);
  maker.make(Dimension::expert, "ep", expert);
}

std::string text_of(const Sizes& s) {
  std::string text;
  const auto add = [&text](const char* name, std::size_t size) {
    if (size > 1) text += fmt::format("{}{} ", name, size);
  };
  add("tp", s.tensor);
  add("cp", s.context);
  add("ep", s.expert);
  add("shard", s.shard);
  add("replicate", s.replicate);
  add("pp", s.pipeline);
  return text + fmt::format("({} ranks)", s.ranks());
}

}  // namespace

SimulatedTopology draw_topology(TopologyKind kind, SimulatorRng& rng) {
  Sizes sizes = draw_sizes(kind, rng);
  while (sizes.ranks() < 8 || sizes.ranks() > 64) sizes = draw_sizes(kind, rng);
  SimulatedTopology t;
  t.kind = kind;
  t.text = text_of(sizes);
  t.ranks = sizes.ranks();
  t.ranks_per_host = draw_percent(rng, 75) ? 8 : 4;
  t.stages = sizes.pipeline;
  t.data_parts = sizes.shard * sizes.replicate;
  SimulatedGroup world{"0", "default_pg", {}};
  for (std::size_t rank = 0; rank < t.ranks; ++rank) world.ranks.push_back(rank);
  t.groups.push_back(world);
  RankPlace place;
  place.groups.fill(kNoIndex);
  place.groups[static_cast<std::size_t>(Dimension::world)] = 0;
  t.places.assign(t.ranks, place);
  make_groups(t, sizes, draw_percent(rng, 30));
  return t;
}

}  // namespace muster
