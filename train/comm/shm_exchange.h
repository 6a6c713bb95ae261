#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "train/comm/exchange.h"
#include "train/comm/process_watch.h"
#include "train/comm/shared_memory.h"
#include "train/comm/shm_layout.h"

namespace muster::train {

class ShmExchange;

// One rank's hold on the memory of its job: shared by its groups. When the process of another rank
// ends, the groups that hold that rank fail.
class ShmHold {
 public:
  // `memory` has shm_bytes(world). With other processes, all ranks must have joined.
  ShmHold(std::shared_ptr<SharedMemory> memory, int rank, int world)
      : memory_(std::move(memory)), rank_(rank), world_(world) {}

  static std::size_t bytes(int world) {
    return kShmGroups * shm_group_bytes(static_cast<std::size_t>(world));
  }
  int rank() const { return rank_; }
  int world() const { return world_; }
  std::byte* group(std::uint32_t number) const;
  // Watches those that run in other processes.
  Status watch();

 private:
  friend class ShmExchange;
  void ended(int rank);

  std::shared_ptr<SharedMemory> memory_;
  const int rank_, world_;
  std::mutex mutex_;
  std::vector<ShmExchange*> groups_;
  std::unique_ptr<ProcessWatch> watch_;  // last: its thread ends first
};

// Moves the bytes of ranks on one host through memory that they share: processes, or threads of
// one.
class ShmExchange final : public Exchange {
 public:
  // `ranks`: members, sorted, with hold->rank() among them.
  ShmExchange(std::shared_ptr<ShmHold> hold, std::uint32_t group, std::vector<int> ranks);
  ~ShmExchange() override;

  std::span<const int> ranks() const override { return ranks_; }
  std::size_t place() const override { return place_; }
  bool meet(const CallSignature& own, std::optional<MonoTime> until,
            std::span<CallSignature> all) override;
  bool stall() override;
  bool gather(const std::byte* shard, std::byte* full, std::size_t bytes) override;
  bool reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) override;
  Result<std::unique_ptr<Exchange>> split(std::span<const std::size_t> members) override;
  void fail(CollectiveFailure failure) override;
  std::optional<CollectiveFailure> failure() const override;
  void leave() override;

 private:
  friend class ShmHold;
  std::byte* piece(std::size_t member) const;  // of the round under way
  bool arrive();                               // and waits for all
  bool may_wait_on();
  std::vector<int> missing() const;
  std::optional<int> leaver() const;
  bool failed() const { return (head_->epoch.load(std::memory_order_acquire) & 1) != 0; }

  std::shared_ptr<ShmHold> hold_;
  const std::vector<int> ranks_;
  std::size_t place_;
  ShmHead* head_;
  ShmSlot* slots_;
  std::byte* pieces_;
  std::vector<const std::byte*> parts_;

  std::uint64_t rounds_ = 0;  // complete
  CallSignature call_;        // under way
  std::optional<MonoTime> until_;
  MonoTime came_;  // this rank, to the call
  bool stalled_ = false;

  std::mutex failing_;
};

}  // namespace muster::train
