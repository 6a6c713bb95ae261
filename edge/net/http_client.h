#pragma once

#include <cstddef>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "edge/net/url.h"

namespace muster {

struct HttpAnswer {
  int status = 0;  // 200 to 299 from http_get
  std::string content_type;
  std::string body;
};

// GET of one page on a connection of its own. Ends by `deadline` (of system_clock().mono()) however
// slowly the other side drips, in the heading as in the body: a watchdog thread shuts the socket.
// One thing is not bounded: looking up a name, which the C library does with its own timeouts; an
// address needs none. Redirects are not followed and nothing is decompressed, so an exporter cannot
// send us elsewhere or grow a small answer into a large one.
//
// Failures: timeout; exhausted (a body beyond `max_bytes`, given up while it streams); not_found
// (404), permission (401, 403), unsupported (a redirect, an encoded body), unavailable (no such
// host or refused, told apart in words; broken off; every other status). The context names the URL
// and, for a status, the first words of the body, escaped. Safe from any thread.
Result<HttpAnswer> http_get(const Url& url, MonoTime deadline,
                            std::size_t max_bytes = limits::kHttpBodyBytes);

// The same, and an answer of any status is an answer: for servers that say in the body of a 400
// what they did not like.
Result<HttpAnswer> http_get_any_status(const Url& url, MonoTime deadline,
                                       std::size_t max_bytes = limits::kHttpBodyBytes);

}  // namespace muster
