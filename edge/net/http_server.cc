#include "edge/net/http_server.h"

#include <httplib.h>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/text.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
// A scraper sends its head in one packet. Where connections that say nothing hold half of the
// threads, the next ones get less.
constexpr Duration kHeadPatience = std::chrono::seconds(2);
constexpr Duration kHurriedHeadPatience = std::chrono::milliseconds(200);
constexpr int kThreads = 8;
constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kDrainBytes = 64 * 1024;

// One connection. The whole head is taken before the library sees a byte of it, so that a limit on
// its size and one deadline hold for all of it.
class Peer final : public httplib::Stream {
 public:
  // `listening`: how many connections are at their head now.
  Peer(int fd, const std::atomic<bool>& stopping, std::atomic<int>& listening)
      : fd_(fd), stopping_(stopping), listening_(listening) {}

  enum class Head : std::uint8_t { whole, too_long, gone };
  Head read_head() {
    const bool crowded = ++listening_ > kThreads / 2;
    deadline_ = system_clock().mono() + (crowded ? kHurriedHeadPatience : kHeadPatience);
    const Head got = take_head();
    --listening_;
    deadline_ = system_clock().mono() + kPatience;
    return got;
  }
  bool asks_for_range() const { return contains_ignoring_case(head_, "\nrange:"); }

  void refuse(std::string_view status) {
    deadline_ = system_clock().mono() + kPatience;
    const std::string answer = fmt::format(
        "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: {}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n\r\n{}\n",
        status, status.size() + 1, status);
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t n = write(answer.data() + sent, answer.size() - sent);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }

  // Closing while bytes lie unread resets the connection, and the other side may lose the answer.
  void drain() {
    if (shutdown(fd_, SHUT_WR) != 0) return;
    char buffer[4096];
    for (std::size_t taken = 0; taken < kDrainBytes;) {
      const ssize_t n = receive(buffer, sizeof buffer);
      if (n <= 0) return;
      taken += static_cast<std::size_t>(n);
    }
  }

  bool is_readable() const override { return used_ < head_.size(); }
  bool is_writable() const override { return ready(POLLOUT); }
  ssize_t read(char* to, std::size_t size) override {
    if (used_ == head_.size()) return 0;
    const std::size_t n = std::min(size, head_.size() - used_);
    std::memcpy(to, head_.data() + used_, n);
    used_ += n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (!ready(POLLOUT)) return -1;
    return send(fd_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  Head take_head() {
    while (head_.find("\r\n\r\n") == std::string::npos) {
      if (head_.size() >= kHeadBytes) return Head::too_long;
      char buffer[1024];
      const ssize_t n = receive(buffer, std::min(sizeof buffer, kHeadBytes - head_.size()));
      if (n <= 0) return Head::gone;
      head_.append(buffer, static_cast<std::size_t>(n));
    }
    return Head::whole;
  }
  // Waits in short slices: a server that is to stop waits for nobody.
  bool ready(short events) const {
    while (!stopping_ && system_clock().mono() < deadline_) {
      pollfd p{fd_, events, 0};
      if (poll(&p, 1, 50) > 0) return true;
    }
    return false;
  }
  ssize_t receive(char* to, std::size_t size) {
    return ready(POLLIN) ? recv(fd_, to, size, MSG_DONTWAIT) : -1;
  }

  int fd_;
  const std::atomic<bool>& stopping_;
  std::atomic<int>& listening_;
  MonoTime deadline_{};
  std::string head_;
  std::size_t used_ = 0;
};

// The library's server with our connections in place of its own.
class Pages final : public httplib::Server {
 public:
  std::atomic<bool> stopping = false;
  std::atomic<int> listening = 0;

 private:
  bool process_and_close_socket(socket_t fd) override {
    Peer peer(fd, stopping, listening);
    const Peer::Head head = peer.read_head();
    if (head == Peer::Head::too_long) {
      peer.refuse("431 Request Header Fields Too Large");
    } else if (head == Peer::Head::whole && peer.asks_for_range()) {
      peer.refuse("400 Bad Request");
    } else if (head == Peer::Head::whole) {
      bool closed = false;
      process_request(peer, true, closed, [](httplib::Request&) {});
    }
    if (head != Peer::Head::gone) peer.drain();
    close(fd);
    return true;
  }
};

// Why the address cannot be had: the library does not say, so it is tried once more by hand.
std::string why_not_bound(const HttpServerOptions& options) {
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_in);
  if (auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
      inet_pton(AF_INET, options.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(options.port);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(options.port);
    if (inet_pton(AF_INET6, options.host.c_str(), &v6->sin6_addr) != 1) return "no address";
    size = sizeof(sockaddr_in6);
  }
  const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  bound = bound && listen(fd, 1) == 0;
  const int error_number = bound ? 0 : errno;
  if (fd >= 0) close(fd);
  switch (error_number) {
    case EADDRINUSE:
      return "another program listens there";
    case EADDRNOTAVAIL:
      return "this machine has no such address";
    case EACCES:
      return "the system does not let this user have that port";
    default:
      return error_number == 0 ? "it was taken a moment ago" : std::strerror(error_number);
  }
}

void answer(const HttpHandler& handler, const httplib::Request& request,
            httplib::Response& response) {
  if (request.method != "GET" && request.method != "HEAD") {
    response.status = 405;
    response.set_header("Allow", "GET, HEAD");
    response.set_content("only GET and HEAD\n", "text/plain; charset=utf-8");
    return;
  }
  HttpReply reply = handler(request.path);
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
}

}  // namespace

Result<HttpServerOptions> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  constexpr std::uint64_t kNoPort = 65536;
  const std::uint64_t port = colon == std::string_view::npos
                                 ? kNoPort
                                 : parse_uint(text.substr(colon + 1)).value_or(kNoPort);
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const std::string address(host);
  unsigned char bytes[16];
  const bool known = inet_pton(brackets ? AF_INET6 : AF_INET, address.c_str(), bytes) == 1 &&
                     host.find('\0') == std::string_view::npos;
  if (!known || port >= kNoPort) {
    return make_error(Errc::invalid_input, "\"" + escape_controls(text, 80) +
                                               "\" is no ADDRESS:PORT such as 127.0.0.1:9835");
  }
  return HttpServerOptions{address, static_cast<std::uint16_t>(port)};
}

bool is_loopback(const HttpServerOptions& options) {
  return options.host.starts_with("127.") || options.host == "::1";
}

struct HttpServer::Impl {
  Pages pages;
  std::thread listener;
  std::uint16_t port = 0;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      HttpHandler handler) {
  auto impl = std::make_unique<Impl>();
  Pages& pages = impl->pages;
  pages.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // Before any route: the library's routes are regular expressions, and it would read bodies.
  pages.set_pre_routing_handler(
      [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        answer(handler, request, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  // The library's default is SO_REUSEPORT, with which a second server would share the port unseen.
  pages.set_socket_options([](socket_t fd) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  bool bound = false;
  if (options.port == 0) {
    const int port = pages.bind_to_any_port(options.host);
    bound = port > 0;
    impl->port = static_cast<std::uint16_t>(bound ? port : 0);
  } else {
    bound = pages.bind_to_port(options.host, options.port);
    impl->port = options.port;
  }
  if (!bound) {
    return make_error(Errc::unavailable,
                      fmt::format("cannot listen on {}:{}: {}", escape_controls(options.host, 80),
                                  options.port, why_not_bound(options)));
  }
  impl->listener = std::thread([&pages] { pages.listen_after_bind(); });
  // A stop that comes before the library listens does nothing.
  while (!pages.is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->pages.stopping = true;
  impl_->pages.stop();
  impl_->listener.join();
}

std::uint16_t HttpServer::port() const {
  return impl_->port;
}

}  // namespace muster
