#include "train/comm/join.h"

#include <fmt/core.h>
#include <unistd.h>

#include <numeric>
#include <utility>

#include "base/check.h"
#include "edge/os/clock.h"
#include "train/comm/ordered_communicator.h"
#include "train/comm/rendezvous.h"
#include "train/comm/shm_exchange.h"
#include "train/comm/socket.h"
#include "train/comm/tcp_exchange.h"

namespace muster::train {
namespace {

// Their pieces of a round must hold something; the largest machines have 16 GPUs.
constexpr int kHostRanks = 512;

std::vector<int> all_ranks(int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::unique_ptr<Communicator> communicator(std::unique_ptr<Exchange> exchange,
                                           const CommOptions& options) {
  return std::make_unique<OrderedCommunicator>(std::move(exchange), options, "world");
}

Status check(const JoinRequest& request) {
  if (request.world > 0 && request.rank >= 0 && request.rank < request.world) return {};
  return make_error(Errc::invalid_input,
                    fmt::format("rank {} of {} ranks", request.rank, request.world));
}

// The memory that all ranks of the host share: rank 0 makes it and hands it out.
Result<std::shared_ptr<SharedMemory>> meet_on_host(const JoinRequest& request, MonoTime until) {
  const std::string name =
      fmt::format("muster-{}-{}", getuid(), plain_word(request.token)).substr(0, 100);
  if (request.rank == 0) {
    auto memory = SharedMemory::create(ShmHold::bytes(request.world));
    if (!memory) return memory.error();
    auto listener = listen_at({.name = name});
    if (!listener) return listener.error();
    const auto meeting = hold_meeting(request, *listener, "", (*memory)->descriptor(), until);
    if (!meeting) return meeting.error();
    return std::shared_ptr<SharedMemory>(std::move(*memory));
  }
  const auto connection = connect_to({.name = name}, until);
  if (!connection) return within("rank 0", connection.error());
  auto meeting = attend_meeting(request, *connection, "", until);
  if (!meeting) return meeting.error();
  auto memory = SharedMemory::map(meeting->passed.release(), ShmHold::bytes(request.world));
  if (!memory) return memory.error();
  return std::shared_ptr<SharedMemory>(std::move(*memory));
}

struct NetworkPlace {
  TcpExchange::Mesh mesh;
  Descriptor listener;  // of this rank
};

// Rank 0 listens where all know; each rank tells where it listens itself.
Result<NetworkPlace> meet_on_network(const JoinRequest& request, MonoTime until) {
  NetworkPlace out;
  auto listener = listen_at({});
  if (!listener) return listener.error();
  out.listener = std::move(*listener);
  out.mesh.ranks = all_ranks(request.world);
  out.mesh.place = static_cast<std::size_t>(request.rank);
  out.mesh.key = plain_word(request.token);
  SocketAddress master;
  master.host = request.master_address;
  master.port = request.master_port;
  const auto card = [&](const std::string& address) {
    return fmt::format("{} {}", address, port_of(out.listener));
  };
  Result<Meeting> meeting{Meeting{}};
  if (request.rank == 0) {
    const auto meeting_place = listen_at(master);
    if (!meeting_place) return meeting_place.error();
    meeting = hold_meeting(request, *meeting_place, card(request.master_address), -1, until);
  } else {
    const auto connection = connect_to(master, until);
    if (!connection) return within("rank 0", connection.error());
    meeting = attend_meeting(request, *connection, card(own_address_of(*connection)), until);
  }
  if (!meeting) return meeting.error();
  out.mesh.cards = std::move(meeting->cards);
  return out;
}

}  // namespace

Result<std::unique_ptr<Communicator>> join_host(const JoinRequest& request,
                                                const CommOptions& options) {
  const Status fine = check(request);
  if (!fine) return fine.error();
  if (request.world > kHostRanks) {
    return make_error(Errc::exhausted, fmt::format("more than {} ranks of one host", kHostRanks));
  }
  const MonoTime until = system_clock().mono() + options.join_deadline;
  const auto memory = meet_on_host(request, until);
  if (!memory) return within("joining the ranks of this host", memory.error());
  auto hold = std::make_shared<ShmHold>(*memory, request.rank, request.world);
  auto exchange = std::make_unique<ShmExchange>(hold, 0, all_ranks(request.world));
  // All have told their process numbers when all have met.
  std::vector<CallSignature> all(static_cast<std::size_t>(request.world));
  if (!exchange->meet({}, until, all)) {
    const auto failure = exchange->failure();
    return make_error(Errc::timeout, failure ? failure->text : "the ranks did not come");
  }
  const Status watching = hold->watch();
  if (!watching) return watching.error();
  return communicator(std::move(exchange), options);
}

Result<std::unique_ptr<Exchange>> exchange_over_network(const JoinRequest& request,
                                                        Duration patience) {
  const Status fine = check(request);
  if (!fine) return fine.error();
  const MonoTime until = system_clock().mono() + patience;
  auto mesh = meet_on_network(request, until);
  if (!mesh) return within("joining the ranks over TCP", mesh.error());
  auto exchange = TcpExchange::connect(std::move(mesh->mesh), mesh->listener, until);
  if (!exchange) return within("joining the ranks over TCP", exchange.error());
  return std::unique_ptr<Exchange>(std::move(*exchange));
}

Result<std::unique_ptr<Communicator>> join_network(const JoinRequest& request,
                                                   const CommOptions& options) {
  auto exchange = exchange_over_network(request, options.join_deadline);
  if (!exchange) return exchange.error();
  return communicator(std::move(*exchange), options);
}

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
    out.push_back(communicator(std::make_unique<ShmExchange>(std::move(hold), 0, all_ranks(world)),
                               options[own]));
  }
  return out;
}

}  // namespace muster::train
