#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// Whole units for computing, gathered into a fixed set of buffers: 1 + prefetch, and one more for
// each unit that several stages use. The k-th of the other units always lies in buffer
// k mod (1 + prefetch) and stays until another one needs that buffer; so where the forward pass
// turns into the backward pass, and that into the next micro batch, nothing is gathered twice.
//
// Of one rank nothing is gathered: its slice is the unit.
class GatherWindow {
 public:
  // `slices`: of each unit this rank's slice in `dtype`, which live as long as this.
  GatherWindow(const UnitPlan& plan, Dtype dtype, std::vector<const std::byte*> slices,
               Communicator& shards, std::size_t prefetch);

  // Nothing to do where the unit is there or on its way. It may take the buffer of any unit but
  // those `prefetch` stages around the one that is computed.
  void start(std::size_t unit);
  // The whole unit, until another start() takes its buffer.
  Result<const std::byte*> wait(std::size_t unit);
  // The slices have changed. Nothing may be on its way.
  void forget();
  // Waits for what is on its way; for leaving.
  void drain();

  std::uint64_t bytes() const;                        // of all buffers
  std::size_t peak() const { return peak_; }          // most buffers that held something
  std::uint64_t gathers() const { return gathers_; }  // since the start

 private:
  struct Buffer {
    AlignedBytes memory;
    std::optional<std::size_t> unit;
    std::optional<Ticket> on_its_way;
  };

  std::vector<const std::byte*> slices_;
  std::vector<std::size_t> slice_bytes_, buffer_of_;  // of each unit
  std::vector<Buffer> buffers_;
  Communicator& shards_;
  std::size_t peak_ = 0;
  std::uint64_t gathers_ = 0;
};

}  // namespace muster::train
