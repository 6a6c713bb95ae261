#include "edge/net/url.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace muster {
namespace {

TEST(ParseUrl, RefusesWithAReason) {
  struct Row {
    std::string_view name, text;
    Errc code = Errc::invalid_input;
  };
  const std::string long_url = "http://h/" + std::string(limits::kUrlBytes, 'a');
  const Row rows[] = {
      {"empty", ""},
      {"no scheme", "n1:9400/metrics"},
      {"https", "https://n1/", Errc::unsupported},
      {"https in capitals", "HTTPS://n1/", Errc::unsupported},
      {"file", "file:///etc/passwd"},
      {"no host", "http://"},
      {"no host but a path", "http:///metrics"},
      {"no host but a port", "http://:80/"},
      {"password", "http://u:p@n1/"},
      {"port 0", "http://n1:0/"},
      {"port too large", "http://n1:65536/"},
      {"port negative", "http://n1:-1/"},
      {"port empty", "http://n1:/"},
      {"port with junk", "http://n1:80x/"},
      {"open bracket", "http://[::1/"},
      {"empty bracket", "http://[]/"},
      {"junk after the bracket", "http://[::1]9/"},
      {"name in brackets", "http://[n1]/"},
      {"blank", "http://n1/a b"},
      {"line break", "http://n1/a\r\nHost: x"},
      {"zero byte", std::string_view("http://n1/\0", 11)},
      {"beyond ASCII", "http://n\xc3\xa9/"},
      {"fragment", "http://n1/#a"},
      {"too long", long_url},
  };
  for (const Row& row : rows) {
    const auto url = parse_url(row.text);
    ASSERT_FALSE(url.has_value()) << row.name;
    EXPECT_EQ(url.error().code, row.code) << row.name;
  }
}

TEST(ParseUrl, ReadsTheParts) {
  struct Row {
    std::string_view text, host;
    int port;
    std::string_view target;
  };
  const Row rows[] = {
      {"http://n1", "n1", 80, "/"},
      {"HTTP://n1:9400/metrics", "n1", 9400, "/metrics"},
      {"http://127.0.0.1:65535/a?b=c", "127.0.0.1", 65535, "/a?b=c"},
      {"http://[::1]:1/x", "::1", 1, "/x"},
      {"http://n1?q=1", "n1", 80, "/?q=1"},
      {"http://n1/a@b:c", "n1", 80, "/a@b:c"},
  };
  for (const Row& row : rows) {
    const auto url = parse_url(row.text);
    ASSERT_TRUE(url.has_value()) << row.text;
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->port, row.port);
    EXPECT_EQ(url->target, row.target);
    EXPECT_EQ(to_string(*parse_url(to_string(*url))), to_string(*url));
  }
}

TEST(ParseUrl, AnyCutAndAnyFlipIsAnAnswer) {
  const std::string whole = "http://[::1]:9400/metrics?a=b";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      for (const std::string& text : {whole.substr(0, i), flipped}) {
        const auto url = parse_url(text);
        if (!url) continue;
        EXPECT_FALSE(url->host.empty()) << text;
        EXPECT_GT(url->port, 0) << text;
        EXPECT_TRUE(url->target.starts_with('/')) << text;
      }
    }
  }
}

}  // namespace
}  // namespace muster
