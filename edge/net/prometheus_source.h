#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "core/model/telemetry_source.h"
#include "edge/net/url.h"

// Telemetry out of a Prometheus server, through its HTTP API (/api/v1). `base` is the address under
// which the API lies: "http://prom:9090/", or "http://gw/prometheus/" behind a gateway.
//
// Asked for are exactly the names that we read (exposition.h, prometheus_names.h), in one query by
// a regular expression on __name__. So all metrics of a series come in one document, in order of
// time.
//
// Failures, each in one sentence with the URL's path but not with the query: those of http_get for
// a host that is unknown, refuses or is late; invalid_input (status 400 and 422, with the words of
// Prometheus), permission (401, 403), not_found (404: no such API, most likely an exporter),
// unavailable (every other status, with the words of Prometheus or of who answered in its place),
// unsupported (an answer that is not of Prometheus), exhausted (beyond limits::kHttpBodyBytes:
// some 200,000 series at one moment). Damage inside an answer is a note, as in a file.

namespace muster {

// Whether a URL names the page of an exporter (true) or the base address of a Prometheus server
// (false): a base address ends with "/", and an address without a path is one. What has a last
// part ("/metrics", "/federate?match[]=...") or a query names a page. Pure; nobody is asked, so the
// same words always mean the same.
bool names_a_page(const Url& url);

// Every read() is one instant query. The time of a row is the server's time of evaluation, and the
// value is the newest that the server has: as old as the scrape interval. Values older than its
// staleness (5 minutes, and at once where a scrape failed) vanish from the answer by themselves:
// the series is then missing, never 0, and none is an empty answer and no failure.
std::unique_ptr<TelemetrySource> make_prometheus_source(std::string name, Url base);

// The past: every `step` from `from` to `to`, both included, cut to whole milliseconds. Prometheus
// refuses more than 11,000 points per series in one answer, so a longer range is read in chunks,
// and a chunk that goes beyond limits::kHttpBodyBytes is halved. Chunks come in order of time and
// none is read twice into `sink`. At most kRangeRequests requests. invalid_input: a step below one
// millisecond, a range that ends before it begins or begins before 1970. exhausted: more points
// than the requests can bring. What came before a failure stays in `sink`.
inline constexpr int kRangeRequests = 1000;
Status read_prometheus_range(const Url& base, WallTime from, WallTime to, Duration step,
                             MonoTime deadline, TelemetrySink& sink);

}  // namespace muster
