#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/flight_program.h"

// Runs the programs of a SIMULATED job until nothing can move any more. The CPU of each rank issues
// calls and runs ahead; calls of one group, and messages between one pair, are done in the order of
// issue (one stream of the GPU each); a call also waits for the GPU's own work that was issued
// before it. A collective is done when it is at the head of its stream on all members and all
// called the same; a message when both its ends are. Part of flight_simulator.h.

namespace muster {

inline constexpr std::int64_t kNever = INT64_MAX;

// One call of one rank: what becomes an entry of its dump. Times are ns of the one true clock.
struct SimulatedCall {
  const Action* action = nullptr;
  std::int64_t seq = 0, p2p_seq = 0;
  std::int64_t created_ns = 0;   // recorded
  std::int64_t launched_ns = 0;  // the call came back; kNever: it does not
  std::int64_t started_ns = kNever;
  std::int64_t done_ns = kNever;
  std::size_t place = 0;              // in the order of the rank's calls
  std::size_t own_work = 0;           // items of the GPU's own work issued before
  std::size_t message = kNoIndex;     // place in Machine::messages()
  std::size_t batch = kNoIndex;       // call that closes the batch of this one
  std::vector<std::size_t> messages;  // of the batch that this call closes
};

// A member of a collective or an end of a message.
struct CallOf {
  std::size_t rank = 0, call = 0;
};

struct SimulatedCollective {
  std::vector<CallOf> calls;  // of the members that issued it, in the order of arrival
  std::size_t started = 0;
  bool done = false;
};

struct SimulatedMessage {
  std::size_t group = 0;
  std::optional<CallOf> send, receive;
  std::int64_t send_started_ns = kNever, receive_started_ns = kNever;
  bool done = false;
};

// A collective or a message that the network never carries.
struct BrokenLink {
  std::size_t group = 0;
  std::int64_t seq = -1;             // of the collective; -1: a message
  std::size_t from = 0, to = 0;      // of the message, global ranks
  std::size_t nth = 0;               // message between the two
  std::vector<std::size_t> got_out;  // members that finish the collective all the same
};

class Machine {
 public:
  // `equal_bytes_pass`: calls whose types differ but not their bytes complete with each other.
  Machine(const SimulatedJob& job, std::optional<BrokenLink> broken, bool equal_bytes_pass,
          SimulatorRng& rng);

  void run();

  const std::vector<SimulatedCall>& calls(std::size_t rank) const { return ranks_[rank].calls; }
  // By number of the collective less one.
  const std::vector<SimulatedCollective>& collectives(std::size_t group) const {
    return collectives_[group];
  }
  const std::vector<SimulatedMessage>& messages() const { return messages_; }
  bool finished(std::size_t rank) const;  // its program came to its end
  bool hangs() const;                     // some call was issued and is never done
  std::int64_t end_ns() const;            // last moment at which anything was issued or done
  // When the first watchdog gives up: the oldest call that is not done has waited for so long.
  // Nothing waits: so long after the end.
  std::int64_t timeout_ns(std::int64_t timeout_ns) const;

 private:
  struct OwnWork {
    std::int64_t issued_ns, ns;
    std::size_t call;  // kNoIndex: kernels only
  };
  struct Stream {
    std::vector<std::size_t> calls;
    std::size_t head = 0;
    std::int64_t free_ns = 0;
  };
  struct Rank {
    std::size_t next = 0;  // action of its program
    std::int64_t cpu_ns = 0;
    bool stopped = false;
    std::vector<SimulatedCall> calls;
    std::vector<OwnWork> own_work;
    std::vector<std::int64_t> own_work_done_ns;
    std::map<std::pair<std::size_t, std::size_t>, Stream> streams;  // group, peer or kNoIndex
    std::map<std::size_t, std::vector<std::size_t>> waitable;       // calls of a group
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> numbers;  // seq, p2p_seq
    std::vector<std::size_t> open_batch;
  };

  bool step_cpu(std::size_t rank);
  void issue(std::size_t rank, const Action& action);
  void number(Rank& r, SimulatedCall& call);
  void join_message(std::size_t rank, SimulatedCall& call);
  bool step_own_work(std::size_t rank);
  bool step_streams(std::size_t rank);
  void start(std::size_t rank, SimulatedCall& call, std::int64_t at_ns);
  void start_message(std::size_t message, std::size_t rank, std::int64_t at_ns);
  void finish_collective(std::size_t group, SimulatedCollective& c);
  bool is_broken(std::size_t message) const;
  void finish_message(std::size_t message);
  bool match(const SimulatedCollective& c) const;
  bool same_call(std::uint32_t a, std::uint32_t b) const;
  std::int64_t wire_ns(std::uint32_t signature) const;
  void wake(std::size_t rank);

  const SimulatedJob& job_;
  std::optional<BrokenLink> broken_;
  bool equal_bytes_pass_;
  SimulatorRng& rng_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<SimulatedCollective>> collectives_;
  std::vector<SimulatedMessage> messages_;
  // Group, from, to -> messages in order.
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::vector<std::size_t>> pairs_;
  std::deque<std::size_t> awake_;
  std::vector<bool> is_awake_;
};

}  // namespace muster
