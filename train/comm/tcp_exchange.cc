#include "train/comm/tcp_exchange.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "edge/os/clock.h"
#include "train/comm/rank_sum.h"

namespace muster::train {
namespace {

constexpr std::string_view kGreeting = "muster-mesh/1";
constexpr Duration kGreetingPatience = std::chrono::seconds(5);
constexpr Duration kSplitPatience = std::chrono::seconds(300);
// Of one member in one round of a reduction.
constexpr std::size_t kPieceBytes = 512 * 1024;
constexpr std::size_t kCardBytes = 128;
constexpr std::size_t kNewsBytes = 8192;
constexpr std::size_t kRanksTold = 256;
constexpr std::size_t kTextTold = 1024;

// "L", or "F", the kind, how many ranks, the ranks, the text; with its length in front.
std::string frame_of(const CollectiveFailure* failure) {
  std::string body = failure == nullptr ? "L" : "F";
  const auto put = [&body](std::uint32_t number) {
    body.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (failure != nullptr) {
    const std::size_t count = std::min(failure->odd_ranks.size(), kRanksTold);
    put(static_cast<std::uint32_t>(failure->kind));
    put(static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      put(static_cast<std::uint32_t>(failure->odd_ranks[i]));
    }
    body += failure->text.substr(0, kTextTold);
  }
  const auto size = static_cast<std::uint32_t>(body.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + body;
}

std::uint32_t number_at(std::string_view bytes, std::size_t place) {
  std::uint32_t number = 0;
  if (place + sizeof number <= bytes.size()) {
    std::memcpy(&number, bytes.data() + place, sizeof number);
  }
  return number;
}

CollectiveFailure parse_failure(std::string_view body) {
  CollectiveFailure failure;
  const std::uint32_t kind = number_at(body, 1);
  if (kind <= static_cast<std::uint32_t>(CollectiveFailure::Kind::aborted)) {
    failure.kind = static_cast<CollectiveFailure::Kind>(kind);
  }
  const std::size_t count = std::min<std::size_t>(number_at(body, 5), kRanksTold);
  for (std::size_t i = 0; i < count; ++i) {
    failure.odd_ranks.push_back(static_cast<int>(number_at(body, 9 + 4 * i)));
  }
  const std::size_t text = std::min(9 + 4 * count, body.size());
  failure.text = body.substr(text);
  return failure;
}

std::optional<SocketAddress> parse_card(std::string_view card) {
  const std::size_t blank = card.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto port = parse_uint(card.substr(blank + 1));
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  SocketAddress out;
  out.host = card.substr(0, blank);
  out.port = static_cast<std::uint16_t>(*port);
  return out;
}

}  // namespace

// ---- connecting --------------------------------------------------------------------------------

Result<std::unique_ptr<TcpExchange>> TcpExchange::connect(Mesh mesh, const Descriptor& listener,
                                                          MonoTime until) {
  std::unique_ptr<TcpExchange> out(new TcpExchange(std::move(mesh)));
  out->wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  out->parts_.resize(out->peers_.size());
  // Those before us listen already, and their backlog takes us before they look.
  Status done = out->call_others(until);
  if (done) done = out->await_others(listener, until);
  if (!done) return within("connecting the ranks", done.error());
  return out;
}

Status TcpExchange::call_others(MonoTime until) {
  for (std::size_t i = 0; i < mesh_.place; ++i) {
    const auto address = parse_card(mesh_.cards[i]);
    if (!address) return make_error(Errc::invalid_input, "an address that is none");
    for (const bool news : {false, true}) {
      auto connection = connect_to(*address, until);
      if (!connection) return within(fmt::format("rank {}", mesh_.ranks[i]), connection.error());
      make_ready(*connection);
      const Status sent = send_frame(
          *connection,
          fmt::format("{}\n{}\n{}\n{}", kGreeting, mesh_.key, mesh_.place, news ? 1 : 0), until);
      if (!sent) return within(fmt::format("rank {}", mesh_.ranks[i]), sent.error());
      (news ? peers_[i].news : peers_[i].data) = std::move(*connection);
    }
  }
  return {};
}

Status TcpExchange::await_others(const Descriptor& listener, MonoTime until) {
  std::size_t wanted = 2 * (mesh_.ranks.size() - 1 - mesh_.place);
  while (wanted > 0) {
    auto connection = accept_from(listener, until);
    if (!connection) {
      std::vector<int> missing;
      for (std::size_t i = mesh_.place + 1; i < peers_.size(); ++i) {
        if (!peers_[i].data || !peers_[i].news) missing.push_back(mesh_.ranks[i]);
      }
      return make_error(Errc::timeout, describe_ranks(missing) + " did not connect in time");
    }
    const auto text = receive_frame(*connection, system_clock().mono() + kGreetingPatience);
    if (!text) continue;
    const std::vector<std::string_view> words = muster::split(*text, '\n');
    if (words.size() != 4 || words[0] != kGreeting || words[1] != mesh_.key) continue;
    const auto place = parse_uint(words[2]);
    if (!place || *place <= mesh_.place || *place >= peers_.size()) continue;
    Peer& peer = peers_[*place];
    Descriptor& end = words[3] == "1" ? peer.news : peer.data;
    if (end) continue;
    make_ready(*connection);
    end = std::move(*connection);
    --wanted;
  }
  return {};
}

// ---- moving bytes ------------------------------------------------------------------------------

// Whoever closed its connections has said why on the other one, or said nothing and is gone: what
// it says there counts, whichever of the two is seen closed first.
void TcpExchange::find_leavers() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].in_left == 0 && peers_[i].out_left == 0) continue;
    bool left = false;
    {
      const std::lock_guard lock(news_);
      left = peers_[i].closed && peers_[i].deaf && peers_[i].left;
    }
    if (!left) continue;
    fail(rank_gone(mesh_.ranks[i],
                   fmt::format("has left, and does not come to {}, call {} of the group",
                               describe_call(call_), call_.seq)));
  }
}

// As much as goes without waiting.
void TcpExchange::move_bytes(std::size_t place) {
  Peer& peer = peers_[place];
  if (peer.closed) return;
  while (peer.in_left > 0) {
    const ssize_t n = recv(peer.data.get(), peer.in, peer.in_left, MSG_DONTWAIT);
    if (n > 0) {
      peer.in += n;
      peer.in_left -= static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      break;
    } else {
      peer.closed = true;
      return;
    }
  }
  while (peer.out_left > 0) {
    const ssize_t n = send(peer.data.get(), peer.out, peer.out_left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      peer.out += n;
      peer.out_left -= static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      break;
    } else {
      peer.closed = true;
      return;
    }
  }
}

bool TcpExchange::out_of_time() {
  if (!until_ || system_clock().mono() < *until_) return false;
  std::vector<int> late;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].in_left > 0 || peers_[i].out_left > 0) late.push_back(mesh_.ranks[i]);
  }
  fail(missed_deadline(late, call_, system_clock().mono() - came_));
  return true;
}

// Sleeps until bytes can move, news came, or the time is out; false after a failure. True where
// the bytes of the exchange are complete, whatever else came.
bool TcpExchange::wait_for_any() {
  const bool waiting = busy();
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  {
    const std::lock_guard lock(news_);
    for (const Peer& peer : peers_) {
      const int wanted = (peer.in_left > 0 ? POLLIN : 0) | (peer.out_left > 0 ? POLLOUT : 0);
      const int events = peer.closed ? 0 : wanted;
      polled.push_back({events != 0 ? peer.data.get() : -1, static_cast<short>(events), 0});
      polled.push_back({peer.deaf ? -1 : peer.news.get(), POLLIN, 0});
    }
  }
  int wait_ms = -1;
  if (until_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until_ - system_clock().mono());
    wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  }
  poll(polled.data(), polled.size(), wait_ms);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (polled[1 + 2 * i].revents != 0) move_bytes(i);
    if (polled[2 + 2 * i].revents != 0) {
      const std::lock_guard lock(news_);
      hear(i);
    }
  }
  find_leavers();
  if (waiting && !busy()) return true;
  return !failure() && !out_of_time();
}

bool TcpExchange::busy() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.in_left > 0 || peer.out_left > 0; });
}

// What failed after all came is for the next one: others have the bytes of this one, and act on
// them.
bool TcpExchange::exchange() {
  if (failure()) return false;
  for (std::size_t i = 0; i < peers_.size(); ++i) move_bytes(i);
  find_leavers();
  while (busy()) {
    if (wait_for_any()) continue;
    // Bytes that came before the news lie on another connection.
    for (std::size_t i = 0; i < peers_.size(); ++i) move_bytes(i);
    return !busy();
  }
  return true;
}

bool TcpExchange::meet(const CallSignature& own, std::optional<MonoTime> until,
                       std::span<CallSignature> all) {
  call_ = own;
  until_ = until;
  came_ = system_clock().mono();
  all[mesh_.place] = own;
  return gather(reinterpret_cast<const std::byte*>(&own), reinterpret_cast<std::byte*>(all.data()),
                sizeof own);
}

bool TcpExchange::stall() {
  while (wait_for_any()) continue;
  return false;
}

bool TcpExchange::gather(const std::byte* shard, std::byte* full, std::size_t bytes) {
  std::byte* own = full + mesh_.place * bytes;
  if (own != shard && bytes > 0) std::memmove(own, shard, bytes);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (i == mesh_.place) continue;
    peers_[i].out = own;
    peers_[i].in = full + i * bytes;
    peers_[i].out_left = peers_[i].in_left = bytes;
  }
  return exchange();
}

bool TcpExchange::reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) {
  const std::size_t members = peers_.size();
  const std::size_t item = dtype_bytes(sum_dtype(wire));  // in `full`
  const std::size_t sent = dtype_bytes(wire);
  const std::size_t most = kPieceBytes / sent;
  received_.resize(members * kPieceBytes);
  if (wire == Dtype::bf16) sent_.resize(members * kPieceBytes);
  for (std::size_t at = 0; at < elements; at += most) {
    const std::size_t n = std::min(most, elements - at);
    for (std::size_t i = 0; i < members; ++i) {
      const std::byte* from = full + (i * elements + at) * item;
      if (wire == Dtype::bf16) {
        std::byte* rounded = sent_.data() + i * kPieceBytes;
        to_wire_bf16(reinterpret_cast<const float*>(from),
                     reinterpret_cast<std::uint16_t*>(rounded), n);
        from = rounded;
      }
      parts_[i] = i == mesh_.place ? from : received_.data() + i * kPieceBytes;
      if (i == mesh_.place) continue;
      peers_[i].out = from;
      peers_[i].in = received_.data() + i * kPieceBytes;
      peers_[i].out_left = peers_[i].in_left = n * sent;
    }
    if (!exchange()) return false;
    add_in_rank_order(parts_, sum + at * item, n, wire);
  }
  return !failure();
}

Result<std::unique_ptr<Exchange>> TcpExchange::split(std::span<const std::size_t> members) {
  auto listener = listen_at({});
  const std::string_view own_card = mesh_.cards[mesh_.place];
  std::string card(own_card.substr(0, own_card.rfind(' ')));
  card += fmt::format(" {}", listener ? port_of(*listener) : 0);
  card.resize(kCardBytes);
  std::string cards(kCardBytes * peers_.size(), '\0');
  if (!gather(reinterpret_cast<const std::byte*>(card.data()),
              reinterpret_cast<std::byte*>(cards.data()), kCardBytes)) {
    return make_error(Errc::unavailable, "the ranks no longer agree");
  }
  if (!listener) return listener.error();
  Mesh mesh;
  mesh.key = fmt::format("{}/{}", mesh_.key, ++splits_);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] == mesh_.place) mesh.place = i;
    mesh.ranks.push_back(mesh_.ranks[members[i]]);
    mesh.cards.emplace_back(cards.data() + members[i] * kCardBytes);
  }
  auto part =
      connect(std::move(mesh), *listener, until_.value_or(system_clock().mono() + kSplitPatience));
  if (!part) return part.error();
  return std::unique_ptr<Exchange>(std::move(*part));
}

// ---- news --------------------------------------------------------------------------------------

void TcpExchange::adopt(CollectiveFailure failure) const {
  if (failure_) return;
  // Told on before anything else: who hears that this rank ends knows why by then.
  tell(frame_of(&failure));
  failure_ = std::move(failure);
  eventfd_write(wake_.get(), 1);  // this may be another thread than the one that waits
}

// What a peer says; with news_ held.
void TcpExchange::hear(std::size_t place) const {
  Peer& peer = peers_[place];
  std::array<char, 2048> bytes;
  while (peer.news && !peer.deaf) {
    const ssize_t n = recv(peer.news.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const std::string why = n < 0 ? std::strerror(errno) : "its connection is closed";
    if (n > 0) peer.unread.append(bytes.data(), static_cast<std::size_t>(n));
    while (peer.unread.size() >= sizeof(std::uint32_t)) {
      const std::size_t size = number_at(peer.unread, 0);
      if (size > kNewsBytes || peer.unread.size() < sizeof(std::uint32_t) + size) break;
      const std::string body = peer.unread.substr(sizeof(std::uint32_t), size);
      peer.unread.erase(0, sizeof(std::uint32_t) + size);
      if (body.starts_with('L')) peer.left = true;
      if (body.starts_with('F')) adopt(parse_failure(body));
    }
    if (n > 0 && peer.unread.size() < kNewsBytes) continue;
    peer.deaf = true;
    if (!peer.left) adopt(rank_gone(mesh_.ranks[place], "is gone: " + why));
  }
}

void TcpExchange::tell(const std::string& frame) const {
  for (const Peer& peer : peers_) {
    if (!peer.news) continue;
    (void)send(peer.news.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void TcpExchange::fail(CollectiveFailure failure) {
  const std::lock_guard lock(news_);
  adopt(std::move(failure));
}

// Heard also by who is in no call.
std::optional<CollectiveFailure> TcpExchange::failure() const {
  const std::lock_guard lock(news_);
  for (std::size_t i = 0; i < peers_.size() && !failure_; ++i) hear(i);
  return failure_;
}

void TcpExchange::leave() {
  const std::lock_guard lock(news_);
  tell(frame_of(nullptr));
}

}  // namespace muster::train
