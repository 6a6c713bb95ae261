#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/flight/dump.h"
#include "tests/support/flight_sites.h"
#include "tests/support/flight_topology.h"

// What each rank of a SIMULATED job does, as a list of actions: steps of forward, backward and
// optimizer, with checkpoints, evaluations and metrics between. Free of deadlocks until
// flight_faults.h changes it; flight_machine.h runs it. Part of flight_simulator.h.

namespace muster {

enum class ActionKind : std::uint8_t {
  collective,
  send,
  receive,
  batch_end,  // closes the batch of the sends and receives before it
  wait,       // the GPU's own work goes on only after a call of `group`; the CPU runs ahead
  sync,       // the CPU waits until the GPU's own work has come up to here
  cpu,        // `ns` of Python
  gpu,        // `ns` of kernels
  stuck,      // for ever in Python
  gone,       // the process ends here and leaves no dump
};

struct Action {
  ActionKind kind = ActionKind::cpu;
  CallSite site = CallSite::none;
  bool batched = false;         // sends and receives that the next batch_end closes
  bool in_launch = false;       // the call is recorded and never comes back
  bool step_start = false;      // where the data of the next step is fetched
  std::uint32_t step = 0;       // number of the training step
  std::uint32_t signature = 0;  // place in SimulatedJob::signatures
  std::size_t group = kNoIndex;
  std::size_t peer = kNoIndex;  // the other end, a global rank
  std::size_t back = 0;         // wait: for the last call but so many
  std::int64_t ns = 0;

  bool is_message() const { return kind == ActionKind::send || kind == ActionKind::receive; }
  bool is_call() const { return kind == ActionKind::collective || is_message(); }
};

struct JobSettings {
  std::uint32_t steps = 6, layers = 4, micro_batches = 1;
  std::uint32_t sync_every = 1, metrics_every = 3, checkpoint_every = 5, eval_every = 7;
  std::uint32_t new_group_at = UINT32_MAX;  // step at which a group of all ranks is made
  bool norm_by_dimension = false;  // one all_reduce for each dimension, one after the other
  bool single_messages = false;    // each send and receive alone, not batched
  bool overflow_check = false;
  std::int64_t hidden = 4096, tokens = 8192;
};

class SimulatedJob {
 public:
  SimulatedTopology topology;
  JobSettings settings;
  std::vector<FlightSignature> signatures;
  std::vector<std::vector<Action>> programs;  // of each rank

  // Place of a signature, made when it is new.
  std::uint32_t signature(const std::string& name, const std::vector<std::int64_t>& in,
                          const std::vector<std::int64_t>& out, const std::string& dtype);

 private:
  using Key =
      std::tuple<std::string, std::vector<std::int64_t>, std::vector<std::int64_t>, std::string>;
  std::map<Key, std::uint32_t> known_;
};

// `makes_group`: a new group of all ranks is made on the way; otherwise now and then.
SimulatedJob draw_job(TopologyKind kind, bool makes_group, SimulatorRng& rng);

// What a rank does after its last step, or where it leaves the loop early: the final report and
// save. Ends in a barrier of all ranks.
std::vector<Action> final_actions(SimulatedJob& job, std::uint32_t step, bool reduce_first);

}  // namespace muster
