#include "edge/net/prometheus_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "core/telemetry/decoder.h"
#include "core/telemetry/exposition.h"
#include "core/telemetry/prometheus_json.h"
#include "core/telemetry/prometheus_names.h"
#include "edge/net/http_client.h"

namespace muster {
namespace {

// What Prometheus gives for one series in one answer of query_range.
constexpr std::int64_t kPointsPerChunk = 11000;

// The error of an answer becomes a failure of the read; all else goes on.
class ErrorCatcher final : public TelemetrySink {
 public:
  explicit ErrorCatcher(TelemetrySink* next) : next_(next) {}
  void row(const TelemetryRow& row) override {
    if (next_ != nullptr) next_->row(row);
  }
  void note(const TelemetryNote& note) override {
    if (note.kind == NoteKind::source_error) {
      error = escape_controls(note.text, 300);
    } else if (next_ != nullptr) {
      next_->note(note);
    }
  }
  std::string error;

 private:
  TelemetrySink* next_;
};

std::string decode(std::string_view body, TelemetrySink* sink) {
  ErrorCatcher catcher(sink);
  const auto decoder = make_decoder(Dialect::prometheus_json, {});
  decoder->feed(body, catcher);
  decoder->finish(catcher);
  return catcher.error;
}

Errc code_of_status(int status) {
  if (status == 400 || status == 422) return Errc::invalid_input;
  if (status == 401 || status == 403) return Errc::permission;
  if (status == 404) return Errc::not_found;
  return Errc::unavailable;
}

// What an answer of another status than 200 to 299 says.
Error refusal(const HttpAnswer& answer) {
  const bool json = looks_like_prometheus_json(answer.body);
  const std::string said = json ? decode(answer.body, nullptr) : "";
  if (!said.empty()) {
    return make_error(code_of_status(answer.status),
                      fmt::format("Prometheus refused (status {}): {}", answer.status, said));
  }
  if (answer.status == 404) {
    return make_error(Errc::not_found,
                      "no Prometheus server answers there (status 404); the page of an exporter is "
                      "named with its path, as in /metrics");
  }
  return make_error(
      code_of_status(answer.status),
      fmt::format("status {}: {}", answer.status, escape_controls(trim(answer.body), 120)));
}

// Letters, digits and "_" stay; every other byte is %-encoded.
std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// All names are letters, digits and "_", so none needs escaping in the expression.
std::string selector() {
  std::string names(kAbsentName);
  for (const ExpositionRow& row : exposition_table()) names += fmt::format("|{}", row.name);
  for (const PrometheusName& row : prometheus_names()) names += fmt::format("|{}", row.name);
  return url_encode(fmt::format("{{__name__=~\"{}\"}}", names));
}

Status ask(const Url& base, std::string_view call, MonoTime deadline, TelemetrySink& sink) {
  if (names_a_page(base)) {
    return make_error(
        Errc::invalid_input,
        to_string(base) + ": the base address of a Prometheus server ends with \"/\"");
  }
  const Url url{base.host, base.port, fmt::format("{}api/v1/{}", base.target, call)};
  const auto answer = http_get_any_status(url, deadline);
  if (!answer) return answer.error();
  const std::string where = to_string(base);
  if (answer->status < 200 || answer->status > 299) return within(where, refusal(*answer));
  if (!looks_like_prometheus_json(answer->body)) {
    return within(where, make_error(Errc::unsupported, "the answer is not that of Prometheus"));
  }
  const std::string said = decode(answer->body, &sink);
  if (!said.empty()) return within(where, make_error(Errc::unavailable, "Prometheus: " + said));
  return {};
}

class PrometheusSource final : public TelemetrySource {
 public:
  PrometheusSource(std::string name, Url base) : name_(std::move(name)), base_(std::move(base)) {}
  std::string name() const override { return name_; }
  Status read(MonoTime deadline, TelemetrySink& sink) override {
    return ask(base_, "query?query=" + selector(), deadline, sink);
  }

 private:
  std::string name_;
  Url base_;
};

std::string seconds_text(std::int64_t ms) {
  return fmt::format("{}.{:03}", ms / 1000, ms % 1000);
}

}  // namespace

bool names_a_page(const Url& url) {
  return !url.target.ends_with('/') || url.target.find('?') != std::string::npos;
}

std::unique_ptr<TelemetrySource> make_prometheus_source(std::string name, Url base) {
  return std::make_unique<PrometheusSource>(std::move(name), std::move(base));
}

Status read_prometheus_range(const Url& base, WallTime from, WallTime to, Duration step,
                             MonoTime deadline, TelemetrySink& sink) {
  const auto milliseconds = [](Duration d) {
    return std::chrono::floor<std::chrono::milliseconds>(d).count();
  };
  const std::int64_t step_ms = milliseconds(step);
  const std::int64_t end_ms = milliseconds(to.time_since_epoch());
  std::int64_t at_ms = milliseconds(from.time_since_epoch());
  if (step_ms < 1 || at_ms < 0 || end_ms < at_ms) {
    return make_error(Errc::invalid_input,
                      "a range of Prometheus begins in 1970 or later, ends after it begins and has "
                      "a step of a millisecond or more");
  }
  std::int64_t left = (end_ms - at_ms) / step_ms + 1;
  if (left > kPointsPerChunk * kRangeRequests) {
    return make_error(Errc::exhausted, fmt::format("{} points per series are over {}", left,
                                                   kPointsPerChunk * kRangeRequests));
  }
  std::int64_t chunk = kPointsPerChunk;
  for (int requests = 0; left > 0; ++requests) {
    if (requests == kRangeRequests) {
      return make_error(Errc::exhausted, fmt::format("the range takes over {} requests; {} points "
                                                     "per series are left",
                                                     kRangeRequests, left));
    }
    const std::int64_t points = std::min(chunk, left);
    const Status status =
        ask(base,
            fmt::format("query_range?start={}&end={}&step={}&query={}", seconds_text(at_ms),
                        seconds_text(at_ms + (points - 1) * step_ms), seconds_text(step_ms),
                        selector()),
            deadline, sink);
    if (!status && status.error().code == Errc::exhausted && points > 1) {
      chunk = points / 2;
      continue;
    }
    if (!status) return status;
    at_ms += points * step_ms;
    left -= points;
  }
  return {};
}

}  // namespace muster
