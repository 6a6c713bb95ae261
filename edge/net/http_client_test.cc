#include "edge/net/http_client.h"

#include <gtest/gtest.h>

#include "edge/net/raw_server.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<HttpAnswer> get(std::uint16_t port, Duration patience = seconds(20),
                       std::size_t max_bytes = 1000) {
  return http_get(Url{"127.0.0.1", port, "/metrics"}, system_clock().mono() + patience, max_bytes);
}

TEST(HttpGet, BadAnswersAreNamedErrors) {
  struct Row {
    std::string_view name, bytes;
    Errc code;
    std::string_view words;
  };
  const std::string long_body = "HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x');
  const Row rows[] = {
      {"404", "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nno \x1b[31mage", Errc::not_found,
       "status 404: no \\x1b[31m"},
      {"401", "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", Errc::permission, "status 401"},
      {"500", "HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops", Errc::unavailable, "oops"},
      {"redirect",
       "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
       Errc::unsupported, "redirects are not followed"},
      {"encoded", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
       Errc::unsupported, "gzip"},
      {"closed at once", "", Errc::unavailable, "broke off"},
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", Errc::unavailable, "broke off"},
      {"short body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Errc::unavailable,
       "broke off"},
      {"long body", long_body, Errc::exhausted, "over 1000 bytes"},
  };
  for (const Row& row : rows) {
    RawServer server{std::string(row.bytes)};
    const auto answer = get(server.port());
    ASSERT_FALSE(answer.has_value()) << row.name;
    EXPECT_EQ(answer.error().code, row.code) << row.name << ": " << answer.error().context;
    EXPECT_NE(answer.error().context.find(row.words), std::string::npos)
        << row.name << ": " << answer.error().context;
  }
}

TEST(HttpGet, TakesABodyOfExactlyTheLimit) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + std::string(1000, 'x'));
  const auto answer = get(server.port());
  ASSERT_TRUE(answer.has_value()) << answer.error().context;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->content_type, "text/plain");
  EXPECT_EQ(answer->body.size(), 1000u);
}

TEST(HttpGet, ADripEndsAtTheDeadline) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const std::string& bytes :
       {head + "X: " + std::string(4000, 'h'), head + "\r\n" + std::string(900, 'b')}) {
    RawServer server(bytes, milliseconds(20));
    const MonoTime begin = system_clock().mono();
    const auto answer = get(server.port(), seconds(1));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, Errc::timeout) << answer.error().context;
    // The whole drip takes over 18 seconds.
    EXPECT_LT(system_clock().mono() - begin, seconds(10));
  }
}

TEST(HttpGet, NobodyListens) {
  std::uint16_t port = 0;
  {
    port = RawServer("").port();
  }
  const auto answer = get(port);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().context.find("refused"), std::string::npos) << answer.error().context;
}

TEST(HttpGet, AnUnknownHostIsNotARefusal) {
  // No name server is asked for these: colons are in no name, and a label has 63 letters.
  for (const std::string& host : {std::string("1::2::3"), std::string(64, 'x') + ".invalid"}) {
    const auto answer = http_get(Url{host, 80, "/"}, system_clock().mono() + seconds(20));
    ASSERT_FALSE(answer.has_value()) << host;
    EXPECT_EQ(answer.error().code, Errc::unavailable);
    EXPECT_NE(answer.error().context.find("no such host"), std::string::npos)
        << answer.error().context;
    EXPECT_EQ(answer.error().context.find("refused"), std::string::npos) << answer.error().context;
  }
}

TEST(HttpGet, AnyStatusIsAnAnswerWhereTheCallerSaysSo) {
  RawServer server("HTTP/1.1 400 Bad\r\nContent-Length: 4\r\n\r\noops");
  const auto answer = http_get_any_status(Url{"127.0.0.1", server.port(), "/"},
                                          system_clock().mono() + seconds(20));
  ASSERT_TRUE(answer.has_value()) << answer.error().context;
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->body, "oops");
}

TEST(HttpGet, ADeadlineOfThePastAsksNobody) {
  const auto answer = get(1, -seconds(1));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Errc::timeout);
}

}  // namespace
}  // namespace muster
