#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "train/comm/call_signature.h"
#include "train/comm/communicator.h"
#include "train/comm/exchange.h"
#include "train/comm/join.h"

namespace muster::train {

// A Communicator over any Exchange. Calls that were started are done by a thread of its own, one
// after another in their order, while the caller computes. That thread sleeps while it waits.
class OrderedCommunicator final : public Communicator {
 public:
  OrderedCommunicator(std::unique_ptr<Exchange> exchange, const CommOptions& options,
                      std::string_view name);
  // Calls that were started and not waited for are aborted, on all ranks.
  ~OrderedCommunicator() override;

  int rank() const override { return static_cast<int>(exchange_->place()); }
  int world() const override { return static_cast<int>(exchange_->ranks().size()); }
  Ticket all_gather(const std::byte* shard, std::byte* full, std::size_t bytes, Tag tag) override;
  Ticket reduce_scatter_add(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire,
                            Tag tag) override;
  Ticket all_reduce(std::byte* data, std::size_t elements, Dtype dtype, Tag tag) override;
  Status wait(Ticket ticket) override;
  Result<double> sum(double value, Tag tag) override;
  Result<std::int64_t> min(std::int64_t value, Tag tag) override;
  Result<std::int64_t> max(std::int64_t value, Tag tag) override;
  Result<std::vector<std::string>> gather_texts(std::string_view text, Tag tag) override;
  Status barrier(Tag tag) override;
  Result<std::unique_ptr<Communicator>> split(int colour, std::string_view name) override;
  void set_step(std::uint64_t step) override;
  void abort(std::string_view why) override;
  std::optional<CollectiveFailure> failure() const override { return exchange_->failure(); }
  Cost take_cost() override;

 private:
  struct Call {
    CallSignature signature;
    std::function<bool(Exchange&)> move;
    std::uint64_t record = 0;  // place in the flight record
  };

  Ticket start(CallSignature signature, Tag tag, std::function<bool(Exchange&)> move);
  void run();
  bool execute(Call& call);
  bool gather_all_texts(Exchange& exchange, std::string_view text, std::vector<std::string>& out);
  template <typename T>
  Result<std::vector<T>> gather_values(T value, Fold fold, Dtype dtype, Tag tag);
  std::uint64_t from_others(std::uint64_t bytes) const;

  std::unique_ptr<Exchange> exchange_;
  const CommOptions options_;
  std::uint32_t group_ = 0;                // in the flight record
  std::vector<CallSignature> signatures_;  // of the order thread

  std::mutex mutex_;
  std::condition_variable came_, done_;
  std::deque<Call> calls_;  // waiting and under way
  std::uint64_t started_ = 0, finished_ = 0;
  std::uint64_t good_ = 0;  // the calls up to this one have succeeded
  bool stopping_ = false;
  Cost cost_;

  std::thread thread_;
};

}  // namespace muster::train
