#pragma once

#include <string>

#include "app/sources.h"
#include "app/telemetry_input.h"

namespace muster {

// Gives what a decoder reads its time and its source, and passes it on. What comes out of a
// recording keeps the source and the host that it was recorded from.
class SourceSink : public TelemetrySink {
 public:
  // `host` where rows name none. All of them outlive this.
  SourceSink(RowTarget& target, RowClock& clock, const std::string& source, const std::string& host)
      : target_(target), clock_(clock), source_(source), host_(host) {}

  void row(const TelemetryRow& row) override { stamped(row, clock_.stamp(row)); }
  void note(const TelemetryNote& note) override {
    target_.note(note, note.source.empty() ? source_ : note.source,
                 note.host.empty() ? host_ : note.host);
  }
  void step(const StepRecord& record, std::string_view source) override {
    log(source).step(record);
  }
  void event(const ProgressEvent& event, std::string_view source) override {
    log(source).event(event);
  }

 protected:
  virtual void stamped(const TelemetryRow& row, WallTime at) {
    target_.row(row, at, row.source.empty() ? source_ : row.source, host_);
  }

 private:
  ProgressSink& log(std::string_view source) {
    if (source != log_) target_.begin_log(source);
    log_ = source;
    return target_.log();
  }

  RowTarget& target_;
  RowClock& clock_;
  const std::string& source_;
  const std::string& host_;
  std::string log_;
};

}  // namespace muster
