#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// Decoded path, without the query -> the reply. Called from several threads at once. The path is
// text of a stranger ("/../../etc/passwd" comes as it is): compare it with known ones, open
// nothing.
using HttpHandler = std::function<HttpReply(std::string_view path)>;

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address of this machine
  std::uint16_t port = 0;          // 0: the kernel chooses
};

// "127.0.0.1:9835", "[::1]:9835": an address and a port, 0 for the kernel's choice. Pure. Names are
// refused, and so is a port alone: whoever opens a page to the network names the address.
Result<HttpServerOptions> parse_listen(std::string_view text);
bool is_loopback(const HttpServerOptions& options);  // 127.x.x.x or ::1

// Small pages for scrapers on plain HTTP. GET and HEAD alone (else 405), one request a connection,
// bodies of requests are never looked at. Eight threads answer; a ninth listens.
//
// A client has 2 seconds for the head of its request, 0.2 where half of the threads wait for heads,
// and 5 for everything it takes, dripped or not (the library's own timeouts count from byte to
// byte, so a drip could hold a thread for ever).
// The head of a request is at most 4 KiB (431): the head of a Prometheus scrape is about 400 bytes.
// `Range` is refused (400): pages are small, and the library matches that header with a regular
// expression whose stack grows with it.
class HttpServer {
 public:
  // Errc::unavailable where the address cannot be had, also if another server has it already.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   HttpHandler handler);
  // Ends the requests that are under way within a tenth of a second, plus the handler's own time.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
