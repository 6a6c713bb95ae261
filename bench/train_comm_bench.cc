// Collectives of the trainer: all_gather and reduce_scatter_add of 64 MiB (whole, over all ranks),
// by ranks on threads through shared memory, by ranks over loopback TCP, and small calls. The bar:
// with 4 ranks on 2 cores 16 ms and 32 ms, 11 ms of CPU a rank. Best and median of the times of
// rank 0; CPU is that of the whole process for each rank and call, and says most on a busy machine.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "edge/os/clock.h"
#include "train/comm/join.h"
#include "train/comm/socket.h"

namespace {

using namespace muster;
using namespace muster::train;
using Ranks = std::vector<std::unique_ptr<Communicator>>;

constexpr std::size_t kWholeBytes = 64 << 20;
constexpr int kRepeats = 15;

void on_all(Ranks& ranks, const std::function<void(Communicator&)>& part) {
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) {
    threads.emplace_back([&part, &rank] { part(*rank); });
  }
}

Ranks over_tcp(int world) {
  auto probe = listen_at({});
  MUSTER_CHECK(probe.has_value(), "a port");
  const std::uint16_t port = port_of(*probe);
  *probe = Descriptor();
  Ranks ranks(static_cast<std::size_t>(world));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      JoinRequest request;
      request.rank = rank;
      request.world = world;
      request.token = "bench";
      request.master_address = "127.0.0.1";
      request.master_port = port;
      auto joined = join_network(request, {});
      MUSTER_CHECK(joined.has_value(), "the ranks are there");
      ranks[static_cast<std::size_t>(rank)] = std::move(*joined);
    });
  }
  threads.clear();
  return ranks;
}

using Call = std::function<Ticket(Communicator&, std::byte* full, std::byte* own, std::size_t)>;

void measure(const std::string& name, Ranks& ranks, std::size_t whole, int times,
             const Call& call) {
  std::vector<double> ms;
  const std::clock_t before = std::clock();
  on_all(ranks, [&](Communicator& comm) {
    const auto members = static_cast<std::size_t>(comm.world());
    std::vector<float> full(whole / 4, 1.0F), own(whole / 4 / members, 1.0F);
    for (int i = -2; i < times; ++i) {
      MUSTER_CHECK(comm.barrier({}).has_value(), "ranks agree");
      const MonoTime from = system_clock().mono();
      const Ticket ticket = call(comm, reinterpret_cast<std::byte*>(full.data()),
                                 reinterpret_cast<std::byte*>(own.data()), own.size());
      MUSTER_CHECK(comm.wait(ticket).has_value(), "ranks agree");
      const double took = duration_to_seconds(system_clock().mono() - from) * 1e3;
      if (comm.rank() == 0 && i >= 0) ms.push_back(took);
    }
  });
  std::sort(ms.begin(), ms.end());
  const double cpu_ms = static_cast<double>(std::clock() - before) * 1e3 / CLOCKS_PER_SEC /
                        static_cast<double>(ranks.size()) / (times + 2);
  fmt::print("{:<44} best {:8.3f} ms  median {:8.3f} ms  CPU {:8.3f} ms\n", name, ms.front(),
             ms[ms.size() / 2], cpu_ms);
}

void measure_all(const std::string& way, Ranks& ranks) {
  const std::string who = fmt::format("{} {} ranks ", way, ranks.size());
  measure(who + "all_gather 64 MiB", ranks, kWholeBytes, kRepeats,
          [](Communicator& comm, std::byte* full, std::byte* own, std::size_t n) {
            return comm.all_gather(own, full, n * 4, {Purpose::weights, 0});
          });
  for (const Dtype wire : {Dtype::f32, Dtype::bf16}) {
    const std::string type = wire == Dtype::bf16 ? " bf16" : "";
    measure(who + "reduce_scatter 64 MiB" + type, ranks, kWholeBytes, kRepeats,
            [wire](Communicator& comm, std::byte* full, std::byte* own, std::size_t n) {
              return comm.reduce_scatter_add(full, own, n, wire, {Purpose::gradients, 0});
            });
  }
  measure(who + "all_reduce 1 MiB", ranks, 1 << 20, kRepeats,
          [](Communicator& comm, std::byte* full, std::byte*, std::size_t n) {
            return comm.all_reduce(full, n * static_cast<std::size_t>(comm.world()), Dtype::f32,
                                   {Purpose::replicas, 0});
          });
  measure(who + "all_reduce 8 bytes", ranks, 1 << 10, 500,
          [](Communicator& comm, std::byte* full, std::byte*, std::size_t) {
            return comm.all_reduce(full, 1, Dtype::f64, {Purpose::norm, 0});
          });
}

}  // namespace

int main() {
  for (const int world : {2, 4}) {
    Ranks memory = join_threads(world, {CommOptions{}});
    measure_all("memory", memory);
  }
  for (const int world : {2, 4}) {
    Ranks network = over_tcp(world);
    measure_all("tcp", network);
  }
  return EXIT_SUCCESS;
}
