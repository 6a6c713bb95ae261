#include "app/record_run.h"

#include "edge/record/recording_writer.h"

namespace muster {
namespace {

// A recording holds telemetry; step logs are small and stay what they are.
class NoProgress final : public ProgressSink {
 public:
  void step(const StepRecord&) override {}
  void event(const ProgressEvent&) override {}
};

class RecordTarget final : public RowTarget {
 public:
  RecordTarget(RecordingWriter& writer, const std::function<void(const RecordProgress&)>& progress)
      : writer_(writer), progress_(progress) {}
  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view default_host) override {
    TelemetryRow stamped = row;
    stamped.at = at;
    stamped.at_has_zone = true;
    writer_.row(stamped, source, default_host);
    if (writer_.rows() % 1000 == 0) progress_({writer_.rows(), writer_.bytes()});
  }
  void note(const TelemetryNote& note, std::string_view source, std::string_view) override {
    writer_.note(note, source);
  }
  void begin_log(std::string_view) override {}
  ProgressSink& log() override { return log_; }

 private:
  RecordingWriter& writer_;
  const std::function<void(const RecordProgress&)>& progress_;
  NoProgress log_;
};

}  // namespace

Result<RecordAnswer> record_sources(const TriageRequest& request, const std::string& path,
                                    bool force, Files& files, Clock& clock,
                                    const std::function<void(const RecordProgress&)>& progress) {
  auto writer = RecordingWriter::create(path, force, clock);
  if (!writer) return writer.error();
  RecordTarget target(**writer, progress);
  auto summary = read_sources(request.sources, request.source_options, files, clock, target);
  const Status closed = (*writer)->close();
  if (!summary) return summary.error();
  if (!closed) return closed.error();
  return RecordAnswer{{(*writer)->rows(), (*writer)->bytes()}, std::move(*summary)};
}

}  // namespace muster
