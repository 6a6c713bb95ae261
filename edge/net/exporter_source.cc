#include "edge/net/exporter_source.h"

#include <utility>

#include "core/telemetry/decoder.h"
#include "edge/net/http_client.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

class StampingSink final : public TelemetrySink {
 public:
  StampingSink(WallTime at, TelemetrySink& next) : at_(at), next_(next) {}
  void row(const TelemetryRow& row) override {
    ++rows;
    if (row.at) return next_.row(row);
    TelemetryRow stamped = row;
    stamped.at = at_;
    stamped.at_has_zone = true;
    next_.row(stamped);
  }
  void note(const TelemetryNote& note) override { next_.note(note); }
  std::size_t rows = 0;

 private:
  WallTime at_;
  TelemetrySink& next_;
};

class ExporterSource final : public TelemetrySource {
 public:
  ExporterSource(std::string name, Url url) : name_(std::move(name)), url_(std::move(url)) {}
  std::string name() const override { return name_; }
  Status read(MonoTime deadline, TelemetrySink& sink) override {
    const auto answer = http_get(url_, deadline);
    if (!answer) return answer.error();
    StampingSink stamping(system_clock().wall(), sink);
    const auto decoder = make_decoder(Dialect::prometheus_text, {});
    decoder->feed(answer->body, stamping);
    decoder->finish(stamping);
    // A login page, or an exporter that has lost its GPUs: nothing is known, which is not health.
    if (stamping.rows == 0) {
      return make_error(Errc::invalid_input, answer->body.empty()
                                                 ? "the page is empty"
                                                 : "no GPU and no port on that page");
    }
    return {};
  }

 private:
  std::string name_;
  Url url_;
};

}  // namespace

std::unique_ptr<TelemetrySource> make_exporter_source(std::string name, Url url) {
  return std::make_unique<ExporterSource>(std::move(name), std::move(url));
}

}  // namespace muster
