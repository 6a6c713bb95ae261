#pragma once

#include "app/sources.h"
#include "core/telemetry/triage.h"

namespace muster {

// Rows and logs straight into one Triage.
class TriageTarget final : public RowTarget {
 public:
  explicit TriageTarget(Triage& triage) : triage_(triage) {}
  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view default_host) override {
    triage_.row(row, at, source, default_host);
  }
  void note(const TelemetryNote& note, std::string_view source,
            std::string_view default_host) override {
    triage_.note(note, source, default_host);
  }
  void begin_log(std::string_view source) override { triage_.set_progress_source(source); }
  ProgressSink& log() override { return triage_; }

 private:
  Triage& triage_;
};

}  // namespace muster
