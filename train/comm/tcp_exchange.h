#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "train/comm/exchange.h"
#include "train/comm/socket.h"

namespace muster::train {

// Moves the bytes of ranks over TCP: each pair has one connection for bytes and one for news (who
// failed, who left). Every rank sends straight to every other and waits for all at once, so nobody
// is slowed by a third, and sums are added in the order of ranks: bit by bit those of ShmExchange.
//
// A process that ends closes its connections, which all see at once; a link that is cut, or a host
// that lost its power, shows by the deadline, or when the kernel gives the idle connection up.
class TcpExchange final : public Exchange {
 public:
  // What connects the members of a group: where each listens ("10.0.0.1 4711", in their order), the
  // own listener, and a word that no other group of any run has.
  struct Mesh {
    std::vector<int> ranks;
    std::size_t place = 0;
    std::vector<std::string> cards;
    std::string key;
  };
  // Errc::timeout with the ranks that did not connect.
  static Result<std::unique_ptr<TcpExchange>> connect(Mesh mesh, const Descriptor& listener,
                                                      MonoTime until);

  std::span<const int> ranks() const override { return mesh_.ranks; }
  std::size_t place() const override { return mesh_.place; }
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
  // Another member, or this one without connections; by place.
  struct Peer {
    Descriptor data, news;
    std::string unread;               // of its news
    bool left = false, deaf = false;  // it said so; no more news come
    bool closed = false;              // nor bytes
    // Of the exchange under way.
    const std::byte* out = nullptr;
    std::byte* in = nullptr;
    std::size_t out_left = 0, in_left = 0;
  };

  explicit TcpExchange(Mesh mesh) : mesh_(std::move(mesh)), peers_(mesh_.ranks.size()) {}
  Status call_others(MonoTime until);
  Status await_others(const Descriptor& listener, MonoTime until);
  bool exchange();
  bool busy() const;
  bool wait_for_any();
  void move_bytes(std::size_t place);
  void find_leavers();
  bool out_of_time();
  void hear(std::size_t place) const;
  void tell(const std::string& frame) const;
  void adopt(CollectiveFailure failure) const;

  const Mesh mesh_;
  Descriptor wake_;                         // of fail() from another thread
  std::vector<std::byte> sent_, received_;  // one piece for each member
  std::vector<const std::byte*> parts_;
  CallSignature call_;  // under way
  std::optional<MonoTime> until_;
  MonoTime came_;
  int splits_ = 0;

  mutable std::mutex news_;  // guards the news of peers, and failure_
  mutable std::vector<Peer> peers_;
  mutable std::optional<CollectiveFailure> failure_;
};

}  // namespace muster::train
