#include "train/comm/socket.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/check.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"

namespace muster::train {
namespace {

constexpr int kBacklog = 4096;
constexpr Duration kRetry = std::chrono::milliseconds(50);

struct Named {
  sockaddr_storage address = {};
  socklen_t length = 0;
};

// A name in the abstract space: no file, nothing to clean up.
Named local_name(const std::string& name) {
  Named out;
  auto& local = reinterpret_cast<sockaddr_un&>(out.address);
  local.sun_family = AF_UNIX;
  const std::size_t most = std::min(name.size(), sizeof(local.sun_path) - 1);
  std::memcpy(local.sun_path + 1, name.data(), most);
  out.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + most);
  return out;
}

bool wait_for(int descriptor, short events, MonoTime until) {
  for (;;) {
    const Duration left = until - system_clock().mono();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    pollfd one = {descriptor, events, 0};
    const int wait = static_cast<int>(std::clamp<std::int64_t>(ms + 1, 0, 60000));
    const int ready = poll(&one, 1, left.count() > 0 ? wait : 0);
    if (ready > 0) return true;
    if (system_clock().mono() >= until) return false;
  }
}

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Found> look_up(const SocketAddress& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), fmt::format("{}", address.port).c_str(), &hints, &found);
  if (error != 0) {
    return make_error(Errc::not_found, fmt::format("{}: {}", address.host, gai_strerror(error)));
  }
  return Found(found, &freeaddrinfo);
}

// Nothing: nobody listens there, for now.
std::optional<Descriptor> try_connect(const sockaddr* to, socklen_t length, int family,
                                      MonoTime until) {
  Descriptor out(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) return std::nullopt;
  if (connect(out.get(), to, length) == 0) return out;
  if (errno != EINPROGRESS && errno != EAGAIN) return std::nullopt;
  if (!wait_for(out.get(), POLLOUT, until)) return std::nullopt;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(out.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return std::nullopt;
  return out;
}

}  // namespace

Result<Descriptor> listen_at(const SocketAddress& address) {
  const bool local = !address.name.empty();
  Named at = local_name(address.name);
  Descriptor out(socket(local ? AF_UNIX : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1, off = 0;
  if (!local && out) {
    auto& any = reinterpret_cast<sockaddr_in6&>(at.address) = sockaddr_in6{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(address.port);
    at.length = sizeof any;
    setsockopt(out.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  } else if (!local) {  // a machine without IPv6
    out = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    auto& any = reinterpret_cast<sockaddr_in&>(at.address) = sockaddr_in{};
    any.sin_family = AF_INET;
    any.sin_port = htons(address.port);
    at.length = sizeof any;
  }
  if (!local) setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!out || bind(out.get(), reinterpret_cast<sockaddr*>(&at.address), at.length) != 0 ||
      listen(out.get(), kBacklog) != 0) {
    const int why = errno;
    Error error =
        errno_error(fmt::format("listening for the other ranks at {}",
                                local ? address.name : fmt::format("port {}", address.port)),
                    why);
    if (why == EADDRINUSE) error.code = Errc::unavailable;
    return error;
  }
  return out;
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_storage own = {};
  socklen_t length = sizeof own;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own), &length);
  return own.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6&>(own).sin6_port)
                                   : ntohs(reinterpret_cast<sockaddr_in&>(own).sin_port);
}

std::string own_address_of(const Descriptor& connection) {
  sockaddr_storage own = {};
  socklen_t length = sizeof own;
  std::array<char, NI_MAXHOST> text = {};
  getsockname(connection.get(), reinterpret_cast<sockaddr*>(&own), &length);
  getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text.data(), text.size(), nullptr, 0,
              NI_NUMERICHOST);
  return text.data();
}

Result<Descriptor> connect_to(const SocketAddress& address, MonoTime until) {
  const bool local = !address.name.empty();
  for (;;) {
    if (local) {
      const Named to = local_name(address.name);
      auto one =
          try_connect(reinterpret_cast<const sockaddr*>(&to.address), to.length, AF_UNIX, until);
      if (one) return std::move(*one);
    } else {
      const auto found = look_up(address);
      if (!found) return found.error();
      for (const addrinfo* at = found->get(); at != nullptr; at = at->ai_next) {
        auto one = try_connect(at->ai_addr, at->ai_addrlen, at->ai_family, until);
        if (one) return std::move(*one);
      }
    }
    if (system_clock().mono() + kRetry >= until) break;
    std::this_thread::sleep_for(kRetry);
  }
  return make_error(Errc::timeout, local ? "nobody listens at " + address.name
                                         : fmt::format("nobody listens at {} port {}", address.host,
                                                       address.port));
}

std::optional<Descriptor> accept_from(const Descriptor& listener, MonoTime until) {
  while (wait_for(listener.get(), POLLIN, until)) {
    Descriptor guest(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (guest) return guest;
  }
  return std::nullopt;
}

void make_ready(const Descriptor& connection) {
  const int on = 1, idle_s = 5, every_s = 2, times = 3;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(connection.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(connection.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(connection.get(), IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  setsockopt(connection.get(), IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

Status send_frame(const Descriptor& connection, std::string_view text, MonoTime until, int passed) {
  MUSTER_CHECK(text.size() <= kFrameBytes, "a frame is short");
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string all(reinterpret_cast<const char*>(&size), sizeof size);
  all += text;
  std::size_t sent = 0;
  while (sent < all.size()) {
    iovec piece = {all.data() + sent, all.size() - sent};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
    if (passed >= 0 && sent == 0) {
      message.msg_control = room.data();
      message.msg_controllen = room.size();
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
    }
    const ssize_t n = sendmsg(connection.get(), &message, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return make_error(Errc::unavailable, std::strerror(errno));
    } else if (!wait_for(connection.get(), POLLOUT, until)) {
      return make_error(Errc::timeout, "no answer in time");
    }
  }
  return {};
}

Result<std::string> receive_frame(const Descriptor& connection, MonoTime until,
                                  Descriptor* passed) {
  std::string all;
  std::size_t wanted = sizeof(std::uint32_t);
  while (all.size() < wanted) {
    const std::size_t have = all.size();
    all.resize(wanted);
    iovec piece = {all.data() + have, wanted - have};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    const ssize_t n = recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC);
    const int why = errno;
    all.resize(have + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n == 0) return make_error(Errc::unavailable, "the connection was closed");
    if (n < 0 && why != EAGAIN && why != EINTR) {
      return make_error(Errc::unavailable, std::strerror(why));
    }
    if (n < 0 && !wait_for(connection.get(), POLLIN, until)) {
      return make_error(Errc::timeout, "no answer in time");
    }
    const cmsghdr* head = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(head), sizeof number);
      Descriptor came(number);
      if (passed != nullptr) *passed = std::move(came);
    }
    if (all.size() == sizeof(std::uint32_t) && wanted == all.size()) {
      std::uint32_t size = 0;
      std::memcpy(&size, all.data(), sizeof size);
      if (size > kFrameBytes) return make_error(Errc::corrupt, "no message of ours");
      wanted += size;
    }
  }
  return all.substr(sizeof(std::uint32_t));
}

}  // namespace muster::train
