#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// Whole gradients of units on their way into the sums of their slices: two buffers, one that is
// computed into while the other one is reduced, and one more for each unit that several stages use.
//
// Of one rank nothing is on its way: gradients are added where they are summed up.
class GradientStaging {
 public:
  // `sums`: of each unit this rank's slice in sum_dtype(wire), which live as long as this.
  GradientStaging(const UnitPlan& plan, Dtype wire, std::span<AlignedBytes> sums,
                  Communicator& shards);

  // Memory of a whole unit to add gradients to: zero, or with what was added since the last
  // reduce() of it. Waits until a buffer is free.
  Result<std::byte*> begin(std::size_t unit);
  // Starts the sum over ranks of what was added since begin().
  void reduce(std::size_t unit);
  // Until all sums are complete.
  Status finish();
  // The same for leaving: what went wrong is known already.
  void drain();

  std::uint64_t bytes() const;                              // of all buffers
  std::uint64_t reductions() const { return reductions_; }  // since the start

 private:
  struct Buffer {
    AlignedBytes memory;
    std::optional<std::size_t> unit;  // that is computed into it
    std::optional<Ticket> on_its_way;
  };
  Buffer& next_free(std::size_t unit);
  Status complete(Buffer& buffer);

  Dtype wire_;
  std::span<AlignedBytes> sums_;
  Communicator& shards_;
  std::vector<std::size_t> elements_;                   // of each unit's slice
  std::vector<std::optional<std::size_t>> own_buffer_;  // of units that several stages use
  std::vector<Buffer> buffers_;                         // two, then those of their own
  std::size_t turn_ = 0;
  std::uint64_t reductions_ = 0;
};

}  // namespace muster::train
