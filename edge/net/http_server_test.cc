#include "edge/net/http_server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "edge/net/http_client.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

HttpReply pages(std::string_view path) {
  if (path == "/metrics") return {200, "text/plain; version=0.0.4", "up 1\n"};
  if (path == "/sick") return {503, "text/plain", "stale\n"};
  return {404, "text/plain", "no page " + std::string(path) + "\n"};
}

std::unique_ptr<HttpServer> serve() {
  auto server = HttpServer::start({}, pages);
  EXPECT_TRUE(server.has_value()) << (server ? "" : server.error().context);
  return server ? std::move(*server) : nullptr;
}

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool connected() const { return connected_; }
  bool say(std::string_view text) const {
    return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Everything until the other side closes.
  std::string hear() const {
    std::string all;
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(fd_, buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int fd_;
  bool connected_ = false;
};

TEST(HttpServer, AnswersAsTheHandlerSays) {
  const auto server = serve();
  ASSERT_NE(server->port(), 0);
  const auto answer = http_get(Url{"127.0.0.1", server->port(), "/metrics?x=1"},
                               system_clock().mono() + seconds(20));
  ASSERT_TRUE(answer.has_value()) << answer.error().context;
  EXPECT_EQ(answer->content_type, "text/plain; version=0.0.4");
  EXPECT_EQ(answer->body, "up 1\n");
}

TEST(HttpServer, Requests) {
  struct Row {
    std::string name, request, begin, contains;
  };
  const std::string end = "\r\nHost: x\r\n\r\n";
  const std::vector<Row> rows = {
      {"status of the handler", "GET /sick HTTP/1.1" + end, "HTTP/1.1 503", "stale"},
      {"unknown page", "GET / HTTP/1.0" + end, "HTTP/1.1 404", "no page /\n"},
      {"traversal", "GET /../../etc/passwd HTTP/1.1" + end, "HTTP/1.1 404", "/../../etc/passwd"},
      {"encoded traversal", "GET /%2e%2e/etc/passwd HTTP/1.1" + end, "HTTP/1.1 404", "/../etc"},
      {"POST", "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 405", "Allow:"},
      {"POST of a huge body", "POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nabc",
       "HTTP/1.1 405", "only GET"},
      {"chunked POST", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
       "HTTP/1.1 405", "only GET"},
      {"PUT", "PUT /metrics HTTP/1.1" + end, "HTTP/1.1 405", "only GET"},
      {"DELETE", "DELETE /metrics HTTP/1.1" + end, "HTTP/1.1 405", "only GET"},
      {"OPTIONS", "OPTIONS /metrics HTTP/1.1" + end, "HTTP/1.1 405", "only GET"},
      {"GET with a body", "GET /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200",
       "up 1"},
      {"long header", "GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", "HTTP/1.1 431",
       "Too Large"},
      {"long target", "GET /" + std::string(5000, 'x') + " HTTP/1.1\r\n\r\n", "HTTP/1.1 431", ""},
      {"range", "GET /metrics HTTP/1.1\r\nrange: bytes=" + std::string(3900, '1') + "-\r\n\r\n",
       "HTTP/1.1 400", ""},
      {"no HTTP", "hello\r\n\r\n", "HTTP/1.1 400", ""},
      {"no words", "\r\n\r\n", "HTTP/1.1 400", ""},
  };
  const auto server = serve();
  for (const Row& row : rows) {
    const Client client(server->port());
    ASSERT_TRUE(client.connected()) << row.name;
    ASSERT_TRUE(client.say(row.request)) << row.name;
    const std::string answer = client.hear();
    EXPECT_TRUE(answer.starts_with(row.begin)) << row.name << ": " << answer;
    EXPECT_NE(answer.find(row.contains), std::string::npos) << row.name << ": " << answer;
  }
}

TEST(HttpServer, HeadHasNoBody) {
  const auto server = serve();
  const Client client(server->port());
  ASSERT_TRUE(client.say("HEAD /metrics HTTP/1.1\r\n\r\n"));
  const std::string answer = client.hear();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(HttpServer, ASlowClientIsPutOffAndTheOthersGoOn) {
  const auto server = serve();
  const Client slow(server->port());
  ASSERT_TRUE(slow.say("GET /metrics HTTP/1.1\r\nX: "));
  const MonoTime begin = system_clock().mono();
  const Client quick(server->port());
  ASSERT_TRUE(quick.say("GET /metrics HTTP/1.1\r\n\r\n"));
  // It goes on dripping: each byte would start a timeout between bytes anew.
  for (int i = 0; i < 14 && slow.say("x"); ++i) {
    system_clock().sleep_until(system_clock().mono() + milliseconds(500), {});
    if (i == 0) {
      EXPECT_TRUE(quick.hear().starts_with("HTTP/1.1 200"));
    }
  }
  EXPECT_EQ(slow.hear(), "");
  EXPECT_LT(system_clock().mono() - begin, seconds(15));
}

TEST(HttpServer, ManySilentConnectionsHoldNobodyUp) {
  for (const int silent : {4, 20}) {
    const auto server = serve();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < silent; ++i) {
      clients.push_back(std::make_unique<Client>(server->port()));
      ASSERT_TRUE(clients.back()->connected());
      if (i % 2 == 0) {
        ASSERT_TRUE(clients.back()->say("GET /metr"));
      }
    }
    const MonoTime begin = system_clock().mono();
    const Client quick(server->port());
    ASSERT_TRUE(quick.say("GET /metrics HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(quick.hear().starts_with("HTTP/1.1 200")) << silent;
    EXPECT_LT(system_clock().mono() - begin, seconds(silent == 4 ? 1 : 8)) << silent;
    // And they are put off themselves.
    EXPECT_EQ(clients.front()->hear(), "");
  }
}

TEST(HttpServer, StopsWithAClientOnTheLine) {
  auto server = serve();
  const Client waiting(server->port());
  ASSERT_TRUE(waiting.say("GET /metr"));
  const MonoTime begin = system_clock().mono();
  server.reset();
  EXPECT_LT(system_clock().mono() - begin, seconds(3));
  EXPECT_EQ(waiting.hear(), "");
}

TEST(ParseListen, Addresses) {
  struct Row {
    const char* text;
    const char* host;  // empty: refused
    int port;
    bool loopback;
  };
  const Row rows[] = {{"127.0.0.1:9835", "127.0.0.1", 9835, true},
                      {"[::1]:0", "::1", 0, true},
                      {"0.0.0.0:9835", "0.0.0.0", 9835, false},
                      {"[::]:65535", "::", 65535, false},
                      {"", "", 0, false},
                      {":9835", "", 0, false},
                      {"9835", "", 0, false},
                      {"127.0.0.1", "", 0, false},
                      {"127.0.0.1:", "", 0, false},
                      {"127.0.0.1:65536", "", 0, false},
                      {"127.0.0.1:-1", "", 0, false},
                      {"127.1:80", "", 0, false},
                      {"::1:80", "", 0, false},
                      {"[127.0.0.1]:80", "", 0, false},
                      {"localhost:80", "", 0, false},
                      {"*:80", "", 0, false}};
  for (const Row& row : rows) {
    const auto got = parse_listen(row.text);
    ASSERT_EQ(got.has_value(), *row.host != '\0') << row.text;
    if (!got) continue;
    EXPECT_EQ(got->host, row.host);
    EXPECT_EQ(got->port, row.port);
    EXPECT_EQ(is_loopback(*got), row.loopback) << row.text;
  }
}

TEST(HttpServer, AnAddressThatCannotBeHad) {
  const auto server = serve();
  for (const HttpServerOptions& options :
       {HttpServerOptions{"127.0.0.1", server->port()}, HttpServerOptions{"192.0.2.1", 0}}) {
    const auto second = HttpServer::start(options, pages);
    ASSERT_FALSE(second.has_value()) << options.host;
    EXPECT_EQ(second.error().code, Errc::unavailable);
  }
}

}  // namespace
}  // namespace muster
