#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/flight_rings.h"

// A SIMULATED job written by hand, call by call, for scenarios whose every number is known.

namespace muster {

using RankList = std::vector<std::size_t>;

// first to last, both included.
RankList ranks_between(std::size_t first, std::size_t last);
RankList without(RankList ranks, std::size_t rank);

class FlightScript {
 public:
  // Group 0 holds all ranks; 8 ranks a host.
  explicit FlightScript(std::size_t ranks);

  RankList all() const { return job_.topology.groups[0].ranks; }
  std::size_t group(const std::string& name, const std::string& description, RankList ranks);

  // Each rank issues the call and waits for it on the GPU.
  struct Call {
    CallSite site = CallSite::none;
    std::string name;
    std::vector<std::int64_t> in, out;
    std::string dtype = "BFloat16";
    std::size_t group = 0;
  };
  void call(const RankList& ranks, const Call& call);
  // Sharded training as one group sees it: calls of `layers` gathers, and as many reductions.
  void gathers(const RankList& ranks, int layers);
  void reductions(const RankList& ranks, int layers);
  void barrier(const RankList& ranks, CallSite site);

  enum class Way { send, receive };
  void message(std::size_t rank, Way way, std::size_t peer, std::size_t group, bool batched);
  void close_batch(std::size_t rank, std::size_t group);

  void sync(const RankList& ranks);  // the CPU waits for all that is issued
  void cpu(std::size_t rank, std::int64_t ms);
  void gpu(std::size_t rank, std::int64_t ms);
  void stop(std::size_t rank, ActionKind how);  // stuck, gone

  RingSettings& rings() { return rings_; }
  void break_link(BrokenLink broken) { broken_ = std::move(broken); }

  // Dumps of all ranks that are not gone: when the oldest waiting call times out, or after the end.
  std::vector<FlightDump> run();

 private:
  Action& add(std::size_t rank, ActionKind kind);

  SimulatedJob job_;
  RingSettings rings_;
  std::optional<BrokenLink> broken_;
};

}  // namespace muster
