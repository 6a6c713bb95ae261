#include "train/comm/join.h"

#include <numeric>
#include <utility>

#include "base/check.h"
#include "train/comm/ordered_communicator.h"
#include "train/comm/shm_exchange.h"

namespace muster::train {
namespace {

std::vector<int> all_ranks(int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::unique_ptr<Communicator> communicator(std::unique_ptr<Exchange> exchange,
                                           const CommOptions& options) {
  return std::make_unique<OrderedCommunicator>(std::move(exchange), options, "world");
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> join_threads(int world,
                                                        const std::vector<CommOptions>& options) {
  MUSTER_CHECK(world > 0 && !options.empty(), "ranks and their options");
  auto created = SharedMemory::create(ShmHold::bytes(world));
  MUSTER_CHECK(created.has_value(), "memory for ranks of one process");
  const std::shared_ptr<SharedMemory> memory = std::move(*created);
  std::vector<std::unique_ptr<Communicator>> out;
  for (int rank = 0; rank < world; ++rank) {
    auto hold = std::make_shared<ShmHold>(memory, rank, world);
    const std::size_t own = options.size() == 1 ? 0 : static_cast<std::size_t>(rank);
    out.push_back(communicator(
        std::make_unique<ShmExchange>(std::move(hold), 0, all_ranks(world)), options[own]));
  }
  return out;
}

}  // namespace muster::train
