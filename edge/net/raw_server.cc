#include "edge/net/raw_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stop_token>

#include "base/check.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

bool readable(int fd, int wait_ms) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, wait_ms) > 0;
}

}  // namespace

RawServer::RawServer(std::string bytes, std::chrono::milliseconds drip)
    : bytes_(std::move(bytes)), drip_(drip), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  const bool up = bind(listener_, address, size) == 0 && listen(listener_, 8) == 0 &&
                  getsockname(listener_, address, &size) == 0;
  MUSTER_CHECK(up, "loopback gives a port");
  port_ = ntohs(at.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

RawServer::~RawServer() {
  thread_.request_stop();
  thread_.join();
  close(listener_);
}

void RawServer::serve(const std::stop_token& stop) const {
  Clock& clock = system_clock();
  while (!stop.stop_requested()) {
    if (!readable(listener_, 20)) continue;
    const int peer = accept(listener_, nullptr, nullptr);
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos && readable(peer, 1000)) {
      const ssize_t n = recv(peer, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      request.append(buffer, static_cast<std::size_t>(n));
    }
    const std::size_t step = drip_.count() > 0 ? 1 : bytes_.size();
    for (std::size_t sent = 0; sent < bytes_.size() && !stop.stop_requested();) {
      const ssize_t n =
          send(peer, bytes_.data() + sent, std::min(step, bytes_.size() - sent), MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
      if (drip_.count() > 0 && !clock.sleep_until(clock.mono() + drip_, stop)) break;
    }
    close(peer);
  }
}

}  // namespace muster
