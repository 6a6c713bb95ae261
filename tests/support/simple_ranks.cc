#include "tests/support/simple_ranks.h"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <map>
#include <mutex>

#include "train/math/bf16.h"

namespace muster::testing_support {
namespace {

using namespace train;

struct Group {
  explicit Group(int n) : world(n), meet(n), slots(static_cast<std::size_t>(n)) {}
  int world;
  std::barrier<> meet;
  std::vector<const void*> slots;
  std::mutex mutex;
  std::map<int, std::vector<int>> colours;
  std::map<int, std::shared_ptr<Group>> parts;
};

class SimpleRank final : public Communicator {
 public:
  SimpleRank(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  int rank() const override { return rank_; }
  int world() const override { return group_->world; }

  Ticket all_gather(const std::byte* shard, std::byte* full, std::size_t bytes, Tag) override {
    publish(shard);
    for (std::size_t r = 0; r < group_->slots.size(); ++r) {
      std::memcpy(full + r * bytes, group_->slots[r], bytes);
    }
    group_->meet.arrive_and_wait();
    return 0;
  }
  Ticket reduce_scatter_add(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire,
                            Tag) override {
    publish(full);
    const std::size_t from = elements * static_cast<std::size_t>(rank_);
    if (wire == Dtype::f64) add<double>(sum, from, elements, wire);
    if (wire != Dtype::f64) add<float>(sum, from, elements, wire);
    group_->meet.arrive_and_wait();
    return 0;
  }
  Ticket all_reduce(std::byte* data, std::size_t elements, Dtype dtype, Tag) override {
    publish(data);
    std::vector<std::byte> sum(elements * dtype_bytes(dtype));
    if (dtype == Dtype::f64) add<double>(sum.data(), 0, elements, dtype);
    if (dtype == Dtype::f32) add<float>(sum.data(), 0, elements, dtype);
    group_->meet.arrive_and_wait();
    std::memcpy(data, sum.data(), sum.size());
    return 0;
  }
  Status wait(Ticket) override { return {}; }
  Result<double> sum(double value, Tag tag) override {
    wait_for(all_reduce(reinterpret_cast<std::byte*>(&value), 1, Dtype::f64, tag));
    return value;
  }
  Result<std::int64_t> min(std::int64_t value, Tag) override { return value; }
  Result<std::int64_t> max(std::int64_t value, Tag) override { return value; }
  Result<std::vector<std::string>> gather_texts(std::string_view, Tag) override {
    return std::vector<std::string>();
  }
  Status barrier(Tag) override { return {}; }
  Result<std::unique_ptr<Communicator>> split(int colour, std::string_view) override {
    {
      const std::lock_guard lock(group_->mutex);
      group_->colours[colour].push_back(rank_);
    }
    group_->meet.arrive_and_wait();
    std::unique_ptr<Communicator> out;
    {
      const std::lock_guard lock(group_->mutex);
      std::vector<int>& ranks = group_->colours[colour];
      std::sort(ranks.begin(), ranks.end());
      std::shared_ptr<Group>& part = group_->parts[colour];
      if (!part) part = std::make_shared<Group>(static_cast<int>(ranks.size()));
      const auto at = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
      out = std::make_unique<SimpleRank>(part, static_cast<int>(at));
    }
    group_->meet.arrive_and_wait();
    {
      const std::lock_guard lock(group_->mutex);
      group_->colours.clear();
      group_->parts.clear();
    }
    group_->meet.arrive_and_wait();
    return out;
  }
  void set_step(std::uint64_t) override {}
  void abort(std::string_view) override {}
  std::optional<CollectiveFailure> failure() const override { return {}; }
  Cost take_cost() override { return {}; }

 private:
  void wait_for(Ticket) {}
  void publish(const void* data) {
    group_->slots[static_cast<std::size_t>(rank_)] = data;
    group_->meet.arrive_and_wait();
  }
  template <typename T>
  void add(std::byte* sum, std::size_t from, std::size_t elements, Dtype wire) {
    auto* out = reinterpret_cast<T*>(sum);
    for (std::size_t i = 0; i < elements; ++i) {
      T total = 0;
      for (const void* slot : group_->slots) {
        const T value = static_cast<const T*>(slot)[from + i];
        total += wire == Dtype::bf16 ? static_cast<T>(widen(round_to_bf16(float(value)))) : value;
      }
      out[i] += total;
    }
  }

  std::shared_ptr<Group> group_;
  int rank_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_simple_ranks(int world) {
  const auto group = std::make_shared<Group>(world);
  std::vector<std::unique_ptr<Communicator>> out;
  for (int rank = 0; rank < world; ++rank) {
    out.push_back(std::make_unique<SimpleRank>(group, rank));
  }
  return out;
}

}  // namespace muster::testing_support
