#include "edge/net/http_client.h"

#include <httplib.h>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "base/text.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

// What one request met, beside the library's own answer.
struct Fetch {
  int status = 0;
  std::string content_type;
  std::string encoding;
  std::string body;
  bool too_long = false;
  httplib::Error error = httplib::Error::Success;
};

// Only asks: the library looks the name up once more, since it tries all addresses of a name.
Status look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // An address first: it needs no name server, and no colon is in any name.
  hints.ai_flags = AI_NUMERICHOST;
  int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  hints.ai_flags = 0;
  const bool name = host.find(':') == std::string::npos;
  if (code != 0 && name) code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code == 0) {
    freeaddrinfo(found);
    return {};
  }
  const std::string shown = escape_controls(host, 80);
  if (code == EAI_AGAIN) {
    return make_error(Errc::unavailable,
                      fmt::format("the host name {} could not be looked up now", shown));
  }
  return make_error(Errc::unavailable,
                    fmt::format("no such host: {} ({})", shown, gai_strerror(code)));
}

void run_get(httplib::Client& client, const Url& url, std::size_t max_bytes, Fetch& out) {
  auto result = client.Get(
      url.target.c_str(), httplib::Headers{{"Accept-Encoding", "identity"}},
      [&](const httplib::Response& head) {
        out.status = head.status;
        out.content_type = head.get_header_value("Content-Type");
        out.encoding = head.get_header_value("Content-Encoding");
        return true;
      },
      [&](const char* data, std::size_t size) {
        out.too_long = size > max_bytes - out.body.size();
        if (!out.too_long) out.body.append(data, size);
        return !out.too_long;
      });
  out.error = result.error();
}

// Runs the request and shuts its socket at the deadline; true where that happened.
bool fetch_until(const Url& url, MonoTime deadline, std::size_t max_bytes, Fetch& out) {
  Clock& clock = system_clock();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.mono());
  if (left.count() <= 0) return true;  // the look-up took it all
  httplib::Client client(url.host, url.port);
  client.set_follow_location(false);
  client.set_keep_alive(false);
  client.set_decompress(false);
  // A little later than the watchdog, so that it is always the deadline that ends a slow request.
  const auto spare = std::chrono::milliseconds(100);
  client.set_connection_timeout(left + spare);
  client.set_read_timeout(left + spare);
  client.set_write_timeout(left + spare);
  std::atomic<bool> late = false;
  std::jthread watchdog([&](const std::stop_token& stop) {
    if (!clock.sleep_until(deadline, stop)) return;
    late = true;
    // Again and again: a stop that comes before the socket is open does nothing.
    do client.stop();
    while (clock.sleep_until(clock.mono() + std::chrono::milliseconds(20), stop));
  });
  run_get(client, url, max_bytes, out);
  watchdog.request_stop();
  watchdog.join();
  return late || clock.mono() >= deadline;
}

Error status_error(const Fetch& fetch) {
  Errc code = Errc::unavailable;
  if (fetch.status == 404) code = Errc::not_found;
  if (fetch.status == 401 || fetch.status == 403) code = Errc::permission;
  if (fetch.status >= 300 && fetch.status < 400) {
    return make_error(Errc::unsupported,
                      fmt::format("status {}: redirects are not followed", fetch.status));
  }
  return make_error(
      code, fmt::format("status {}: {}", fetch.status, escape_controls(trim(fetch.body), 120)));
}

Result<HttpAnswer> judge(Fetch fetch, bool late, std::size_t max_bytes, bool any_status) {
  if (fetch.too_long) {
    return make_error(Errc::exhausted, fmt::format("the body is over {} bytes", max_bytes));
  }
  // Before the rest: a body without a length that the watchdog cut looks whole to the library.
  if (late) return make_error(Errc::timeout, "no whole answer by the deadline");
  if (fetch.error != httplib::Error::Success) {
    const bool connecting = fetch.error == httplib::Error::Connection;
    return make_error(Errc::unavailable, connecting ? "the host is known, and the connection was "
                                                      "refused or finds no way"
                                                    : "the answer broke off (" +
                                                          httplib::to_string(fetch.error) + ")");
  }
  if (!any_status && (fetch.status < 200 || fetch.status > 299)) return status_error(fetch);
  if (!fetch.encoding.empty() && fetch.encoding != "identity") {
    return make_error(Errc::unsupported, "an encoded body: " + escape_controls(fetch.encoding, 40));
  }
  return HttpAnswer{fetch.status, std::move(fetch.content_type), std::move(fetch.body)};
}

// For messages: a query may be longer than what is to be said.
std::string shown(const Url& url) {
  constexpr std::size_t kShortQuery = 80;
  const std::size_t query = std::min(url.target.find('?'), url.target.size());
  if (url.target.size() - query <= kShortQuery) return to_string(url);
  return to_string(Url{url.host, url.port, url.target.substr(0, query)});
}

Result<HttpAnswer> get(const Url& url, MonoTime deadline, std::size_t max_bytes, bool any_status) {
  const std::string where = "GET " + shown(url);
  if (system_clock().mono() >= deadline) {
    return within(where, make_error(Errc::timeout, "the deadline had passed before it began"));
  }
  if (const Status known = look_up(url.host); !known) return within(where, known.error());
  try {
    Fetch fetch;
    const bool late = fetch_until(url, deadline, max_bytes, fetch);
    auto answer = judge(std::move(fetch), late, max_bytes, any_status);
    if (!answer) return within(where, answer.error());
    return answer;
  } catch (const std::exception& e) {
    return within(where, make_error(Errc::unavailable, e.what()));
  }
}

}  // namespace

Result<HttpAnswer> http_get(const Url& url, MonoTime deadline, std::size_t max_bytes) {
  return get(url, deadline, max_bytes, false);
}

Result<HttpAnswer> http_get_any_status(const Url& url, MonoTime deadline, std::size_t max_bytes) {
  return get(url, deadline, max_bytes, true);
}

}  // namespace muster
