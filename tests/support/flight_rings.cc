#include "tests/support/flight_rings.h"

#include <algorithm>
#include <map>

namespace muster {
namespace {

constexpr std::int64_t kWatchdogNs = 100'000'000;

// Writes one dump; shared parts get their places in the order of first use.
class DumpMaker {
 public:
  DumpMaker(const SimulatedJob& job, const Machine& machine, const RingSettings& rings,
            std::size_t rank, std::int64_t at_ns)
      : job_(job),
        rings_(rings),
        calls_(machine.calls(rank)),
        rank_(rank),
        at_ns_(at_ns),
        offset_ns_(kSimulationStartNs + rings.host_offsets_ns[job.topology.host(rank)]) {}

  FlightDump make() {
    dump_.rank = static_cast<std::int32_t>(rank_);
    dump_.source = "trace_rank_" + std::to_string(rank_);
    dump_.version = rings_.version;
    dump_.written_at = wall_from_ns(at_ns_ + offset_ns_);
    if (rings_.version == "2.9" || rings_.version == "2.10") dump_.library_version = "2.27.5";
    dump_.stacks.emplace_back();
    make_groups();
    std::size_t visible = 0;
    while (visible < calls_.size() && calls_[visible].created_ns <= at_ns_) ++visible;
    const std::size_t first = visible > rings_.entries ? visible - rings_.entries : 0;
    for (std::size_t i = first; i < visible; ++i) add_entry(calls_[i]);
    if (rings_.version != "2.2") {
      for (std::size_t i = 0; i < visible; ++i) add_status(calls_[i]);
    }
    return std::move(dump_);
  }

 private:
  void make_groups();
  void add_entry(const SimulatedCall& call);
  void add_status(const SimulatedCall& call);
  std::uint32_t signature(std::uint32_t of_job);
  std::uint32_t stack(CallSite site);
  std::uint32_t frame(const FlightFrame& frame);

  bool done(const SimulatedCall& call) const { return call.done_ns <= at_ns_; }
  // The watchdog comes round every 100 ms.
  std::int64_t tick_after(std::int64_t ns) const {
    const std::int64_t phase = rings_.watchdog_phases_ns[rank_];
    return (ns - phase + kWatchdogNs) / kWatchdogNs * kWatchdogNs + phase;
  }

  const SimulatedJob& job_;
  const RingSettings& rings_;
  const std::vector<SimulatedCall>& calls_;
  const std::size_t rank_;
  const std::int64_t at_ns_, offset_ns_;
  FlightDump dump_;
  std::map<std::size_t, std::uint32_t> groups_;
  std::map<std::uint32_t, std::uint32_t> signatures_;
  std::map<CallSite, std::uint32_t> stacks_;
};

void DumpMaker::make_groups() {
  const std::vector<SimulatedGroup>& all = job_.topology.groups;
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (!std::binary_search(all[g].ranks.begin(), all[g].ranks.end(), rank_)) continue;
    if (all[g].description == "statistics") {
      const bool used = std::any_of(calls_.begin(), calls_.end(), [&](const SimulatedCall& c) {
        return c.action->group == g && c.created_ns <= at_ns_;
      });
      if (!used && rings_.creates_last_group != rank_) continue;
    }
    FlightGroup group;
    group.name = all[g].name;
    group.description = all[g].description;
    group.ranks.emplace();
    for (const std::size_t r : all[g].ranks) group.ranks->push_back(static_cast<std::int32_t>(r));
    group.pg_id = static_cast<std::int64_t>(dump_.groups.size());
    if (rings_.version != "2.2") {
      group.last_enqueued = group.last_completed = -1;
    }
    groups_[g] = static_cast<std::uint32_t>(dump_.groups.size());
    dump_.groups.push_back(group);
  }
}

std::uint32_t DumpMaker::signature(std::uint32_t of_job) {
  const auto [at, made] =
      signatures_.try_emplace(of_job, static_cast<std::uint32_t>(dump_.signatures.size()));
  if (made) dump_.signatures.push_back(job_.signatures[of_job]);
  return at->second;
}

std::uint32_t DumpMaker::frame(const FlightFrame& frame) {
  const auto at = std::find(dump_.frames.begin(), dump_.frames.end(), frame);
  const auto place = static_cast<std::uint32_t>(at - dump_.frames.begin());
  if (at == dump_.frames.end()) dump_.frames.push_back(frame);
  return place;
}

std::uint32_t DumpMaker::stack(CallSite site) {
  const std::vector<FlightFrame>& frames = frames_of(site);
  if (!rings_.frames || frames.empty()) return 0;
  const auto [at, made] =
      stacks_.try_emplace(site, static_cast<std::uint32_t>(dump_.stacks.size()));
  if (made) {
    FlightStack places;
    for (const FlightFrame& f : frames) places.push_back(frame(f));
    dump_.stacks.push_back(places);
  }
  return at->second;
}

void DumpMaker::add_entry(const SimulatedCall& call) {
  const Action& a = *call.action;
  FlightEntry e;
  e.record_id = static_cast<std::int64_t>(call.place);
  e.seq = call.seq;
  e.p2p_seq = call.p2p_seq;
  e.created_ns = call.created_ns + offset_ns_;
  e.timeout_ms = rings_.timeout_ms;
  e.group = groups_.at(a.group);
  e.signature = signature(a.signature);
  e.stack = stack(a.site);
  e.is_p2p = a.kind != ActionKind::collective;
  e.state = FlightState::scheduled;
  // A member of a batch has no events of its own: nobody ever learns that it is done.
  if (!a.batched && done(call)) {
    const std::int64_t seen = tick_after(call.done_ns);
    e.state = FlightState::completed;
    e.completed_seen_ns = std::min(seen, at_ns_) + offset_ns_;
    e.retired = seen <= at_ns_;
    if (rings_.timing) {
      e.duration_ms = static_cast<float>(call.done_ns - call.started_ns) / 1e6F;
    }
  } else if (!a.batched && rings_.timing && call.started_ns <= at_ns_) {
    e.state = FlightState::started;
  }
  dump_.entries.push_back(e);
}

void DumpMaker::add_status(const SimulatedCall& call) {
  const Action& a = *call.action;
  if (a.batched) return;
  FlightGroup& group = dump_.groups[groups_.at(a.group)];
  // The status does not tell numbers of messages and of collectives apart.
  const std::int64_t number = a.kind == ActionKind::collective ? call.seq : call.p2p_seq;
  if (call.launched_ns <= at_ns_) group.last_enqueued = number;
  if (done(call) && tick_after(call.done_ns) <= at_ns_) group.last_completed = number;
}

}  // namespace

RingSettings draw_rings(const SimulatedTopology& topology, SimulatorRng& rng) {
  RingSettings rings;
  const std::size_t sizes[] = {40, 200, 2000, 2000};
  rings.entries = sizes[draw(rng, 0, 3)];
  rings.timing = draw_percent(rng, 30);
  rings.frames = draw_percent(rng, 94);
  const char* const versions[] = {"2.2", "2.3", "2.5", "2.9", "2.10", "2.10", "2.10", "2.10"};
  rings.version = versions[draw(rng, 0, 7)];
  const std::int32_t timeouts_ms[] = {600'000, 1'800'000, 10'800'000};
  rings.timeout_ms = timeouts_ms[draw(rng, 0, 2)];
  for (std::size_t host = 0; host <= topology.host(topology.ranks - 1); ++host) {
    const auto shift_ms = static_cast<std::int64_t>(draw(rng, 0, 4000)) - 2000;
    rings.host_offsets_ns.push_back(shift_ms * 1'000'000);
  }
  for (std::size_t rank = 0; rank < topology.ranks; ++rank) {
    rings.watchdog_phases_ns.push_back(static_cast<std::int64_t>(draw(rng, 0, 99'999'999)));
  }
  return rings;
}

FlightDump make_dump(const SimulatedJob& job, const Machine& machine, const RingSettings& rings,
                     std::size_t rank, std::int64_t at_ns) {
  return DumpMaker(job, machine, rings, rank, at_ns).make();
}

}  // namespace muster
