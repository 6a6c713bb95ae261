#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/model/dtype.h"

namespace muster::train {

enum class CollectiveOp : std::uint8_t {
  all_gather,
  reduce_scatter,
  all_reduce,
  gather_texts,
  barrier
};

// Why a collective is called: part of its signature, and what an operator reads.
enum class Purpose : std::uint8_t {
  agreement,  // the vote before the first step
  weights,    // gather of a unit
  gradients,  // reduction of a unit
  replicas,   // the same across nodes, where weights are sharded inside them (HSDP)
  norm,       // of the gradient
  loss,       // and the number of the step with it
  save,       // a checkpoint
  end         // leaving together
};

struct Tag {
  Purpose purpose = Purpose::agreement;
  std::uint32_t unit = 0;  // of weights and gradients
};

// Of a call that was started. Calls finish in the order in which they were started.
using Ticket = std::uint64_t;

// The first thing that went wrong. Every rank that is alive gets one, each in its own words.
struct CollectiveFailure {
  enum class Kind : std::uint8_t {
    desync,    // ranks called different things: nobody's data was touched
    deadline,  // somebody did not come in time
    gone,      // a rank's process has ended
    aborted    // we or another rank gave up for a reason of its own
  };
  Kind kind = Kind::aborted;
  std::vector<int>
      odd_ranks;     // that differ from the majority, did not come, or are gone; may be empty
  std::string text;  // "rank 3 calls barrier (save) where ranks 0-2 call all_gather ..."
};

// Ranks that compute together. The order of calls is the contract: all ranks call the same, in the
// same order, with the same sizes; this is compared before any byte moves. Sums are added in the
// order of ranks, in f32 or f64, so that a run repeats bit by bit.
//
// One thread calls; abort() alone may come from any. Memory given to a call that was started
// belongs to it until wait() came back. After a failure every call returns at once with
// Errc::unavailable.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world() const = 0;

  // full: world() times `bytes`, in the order of ranks.
  virtual Ticket all_gather(const std::byte* shard, std::byte* full, std::size_t bytes,
                            Tag tag) = 0;

  // Adds to `sum` (`elements` of sum_dtype(wire)) the sum over ranks of slice rank() of their
  // `full`, which has world() * elements of the same type. wire bf16: rounded once on its way.
  virtual Ticket reduce_scatter_add(const std::byte* full, std::byte* sum, std::size_t elements,
                                    Dtype wire, Tag tag) = 0;

  // In place; f32 or f64.
  virtual Ticket all_reduce(std::byte* data, std::size_t elements, Dtype dtype, Tag tag) = 0;

  virtual Status wait(Ticket ticket) = 0;

  // Small ones, which wait themselves.
  virtual Result<double> sum(double value, Tag tag) = 0;
  virtual Result<std::int64_t> min(std::int64_t value, Tag tag) = 0;
  virtual Result<std::int64_t> max(std::int64_t value, Tag tag) = 0;
  // What each rank says, in the order of ranks; at most 64 KiB each.
  virtual Result<std::vector<std::string>> gather_texts(std::string_view text, Tag tag) = 0;
  virtual Status barrier(Tag tag) = 0;

  // All ranks call it: those of one colour get a communicator of their own, in the order of their
  // ranks. With its own order of calls, so another thread may use it. `name` stands in the record.
  virtual Result<std::unique_ptr<Communicator>> split(int colour, std::string_view name) = 0;

  // Where the run is: written into the flight record, and part of no signature.
  virtual void set_step(std::uint64_t step) = 0;

  virtual void abort(std::string_view why) = 0;
  virtual std::optional<CollectiveFailure> failure() const = 0;

  // For the line of a step: nanoseconds that wait() waited, bytes that came in, since the last
  // call.
  struct Cost {
    std::uint64_t waited_ns = 0, bytes_in = 0;
  };
  virtual Cost take_cost() = 0;
};

}  // namespace muster::train
