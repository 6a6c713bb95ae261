#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "train/comm/call_signature.h"
#include "train/comm/communicator.h"
#include "train/comm/join.h"

namespace muster::train {

// How the bytes of one group of ranks move: through shared memory, over TCP. One thread calls;
// fail() and failure() may be called from any. What moves returns false after a failure, own or of
// another rank, at once.
//
// All ranks call the same in the same order after meet() has shown them equal signatures.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Global ranks of the members, in order, and this one's place among them.
  virtual std::span<const int> ranks() const = 0;
  virtual std::size_t place() const = 0;

  // Waits for all, until `until`: `all` is what each member calls, in order. What follows belongs
  // to this call and keeps to its deadline.
  virtual bool meet(const CallSignature& own, std::optional<MonoTime> until,
                    std::span<CallSignature> all) = 0;

  // After members have met with different calls that nobody compares: waits until the failure or
  // the deadline of the call. Returns false.
  virtual bool stall() = 0;

  // full: `bytes` of each member. shard may stand at its own place in full.
  virtual bool gather(const std::byte* shard, std::byte* full, std::size_t bytes) = 0;
  // The same of a few numbers or words, in the memory of the processor also where the rest lies
  // elsewhere.
  virtual bool gather_words(const std::byte* own, std::byte* all, std::size_t bytes) {
    return gather(own, all, bytes);
  }

  // In place, in f32 or f64: rounds of all members' pieces, each added up where it arrived.
  virtual bool all_reduce(std::byte* data, std::size_t elements, Dtype dtype);

  // As Communicator::reduce_scatter_add.
  virtual bool reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) = 0;

  // All members call it, with the places of those of the caller's colour (sorted, with itself).
  virtual Result<std::unique_ptr<Exchange>> split(std::span<const std::size_t> members) = 0;

  // The first failure counts, and all members learn of it.
  virtual void fail(CollectiveFailure failure) = 0;
  virtual std::optional<CollectiveFailure> failure() const = 0;

  // Nothing is wrong, and this rank makes no more calls: the others do not wait for it.
  virtual void leave() = 0;

 private:
  std::vector<std::byte> rounds_;  // of all_reduce
};

// All ranks over TCP, as join_network().
Result<std::unique_ptr<Exchange>> exchange_over_network(const JoinRequest& request,
                                                        Duration patience);

}  // namespace muster::train
