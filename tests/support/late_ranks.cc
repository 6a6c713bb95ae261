#include "tests/support/late_ranks.h"

#include <barrier>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "train/model/bf16.h"

namespace muster::testing_support {
namespace {

using namespace train;

struct Group {
  explicit Group(int n) : world(n), meet(n), slots(static_cast<std::size_t>(n)) {}
  int world;
  std::barrier<> meet;
  std::vector<const void*> slots;
  std::mutex mutex;
  std::map<int, std::set<int>> colours;
  std::map<int, std::shared_ptr<Group>> parts;
};

class LateRank final : public Communicator {
 public:
  LateRank(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  int rank() const override { return rank_; }
  int world() const override { return group_->world; }

  Ticket all_gather(const std::byte* shard, std::byte* full, std::size_t bytes, Tag) override {
    return later([this, shard, full, bytes] {
      publish(shard);
      for (std::size_t r = 0; r < group_->slots.size(); ++r) {
        std::memcpy(full + r * bytes, group_->slots[r], bytes);
      }
    });
  }
  Ticket reduce_scatter_add(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire,
                            Tag) override {
    return later([this, full, sum, elements, wire] {
      publish(full);
      add(sum, elements * static_cast<std::size_t>(rank_), elements, wire);
    });
  }
  Ticket all_reduce(std::byte* data, std::size_t elements, Dtype dtype, Tag) override {
    return later([this, data, elements, dtype] {
      publish(data);
      std::vector<std::byte> sum(elements * dtype_bytes(dtype));
      add(sum.data(), 0, elements, dtype);
      group_->meet.arrive_and_wait();
      std::memcpy(data, sum.data(), sum.size());
    });
  }
  Status wait(Ticket ticket) override {
    for (; done_ <= ticket; ++done_) {
      calls_.front()();
      calls_.pop_front();
      group_->meet.arrive_and_wait();
    }
    return {};
  }

  Result<double> sum(double value, Tag tag) override {
    const Ticket ticket = all_reduce(reinterpret_cast<std::byte*>(&value), 1, Dtype::f64, tag);
    if (const Status done = wait(ticket); !done) return done.error();
    return value;
  }
  Result<std::int64_t> min(std::int64_t value, Tag /*tag*/) override { return value; }
  Result<std::int64_t> max(std::int64_t value, Tag /*tag*/) override { return value; }
  Result<std::vector<std::string>> gather_texts(std::string_view, Tag) override {
    return make_error(Errc::unsupported, "nobody here needs it");
  }
  Status barrier(Tag /*tag*/) override { return {}; }

  Result<std::unique_ptr<Communicator>> split(int colour, std::string_view) override {
    {
      const std::lock_guard lock(group_->mutex);
      group_->colours[colour].insert(rank_);
    }
    group_->meet.arrive_and_wait();
    std::unique_ptr<Communicator> out;
    {
      const std::lock_guard lock(group_->mutex);
      const std::set<int>& ranks = group_->colours[colour];
      std::shared_ptr<Group>& part = group_->parts[colour];
      if (!part) part = std::make_shared<Group>(static_cast<int>(ranks.size()));
      const auto place = std::distance(ranks.begin(), ranks.find(rank_));
      out = std::make_unique<LateRank>(part, static_cast<int>(place));
    }
    group_->meet.arrive_and_wait();
    if (rank_ == 0) group_->colours.clear();
    if (rank_ == 0) group_->parts.clear();
    group_->meet.arrive_and_wait();
    return out;
  }

  void set_step(std::uint64_t /*step*/) override {}
  void abort(std::string_view /*why*/) override {}
  std::optional<CollectiveFailure> failure() const override { return {}; }
  Cost take_cost() override { return {}; }

 private:
  Ticket later(std::function<void()> call) {
    calls_.push_back(std::move(call));
    return started_++;
  }
  void publish(const void* data) {
    group_->slots[static_cast<std::size_t>(rank_)] = data;
    group_->meet.arrive_and_wait();
  }
  void add(std::byte* sum, std::size_t from, std::size_t elements, Dtype wire) const {
    if (wire == Dtype::f64) add_typed<double>(sum, from, elements, wire);
    if (wire != Dtype::f64) add_typed<float>(sum, from, elements, wire);
  }
  template <typename T>
  void add_typed(std::byte* sum, std::size_t from, std::size_t elements, Dtype wire) const {
    auto* out = reinterpret_cast<T*>(sum);
    for (std::size_t i = 0; i < elements; ++i) {
      T total = 0;
      for (const void* slot : group_->slots) {
        const T value = static_cast<const T*>(slot)[from + i];
        const float low = from_bf16(to_bf16(static_cast<float>(value)));
        total += wire == Dtype::bf16 ? static_cast<T>(low) : value;
      }
      out[i] += total;
    }
  }

  std::shared_ptr<Group> group_;
  int rank_;
  std::deque<std::function<void()>> calls_;
  Ticket started_ = 0, done_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_late_ranks(int world) {
  const auto group = std::make_shared<Group>(world);
  std::vector<std::unique_ptr<Communicator>> out;
  for (int rank = 0; rank < world; ++rank) {
    out.push_back(std::make_unique<LateRank>(group, rank));
  }
  return out;
}

}  // namespace muster::testing_support
