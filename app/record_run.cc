#include "app/record_run.h"

#include <set>

#include "app/live_run.h"
#include "app/live_set.h"
#include "edge/record/recording_writer.h"

namespace muster {
namespace {

// Everything into the writer; a failed write asks for the end.
class RecordTarget final : public RowTarget, private ProgressSink {
 public:
  RecordTarget(RecordingWriter& writer, const RecordOptions& options, std::stop_source& end)
      : writer_(writer), options_(options), end_(end) {}

  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view default_host) override {
    TelemetryRow stamped = row;
    stamped.at = at;
    stamped.at_has_zone = true;
    writer_.row(stamped, source, default_host);
    if (writer_.rows() % 1000 == 0) show(0);
    watch();
  }
  void note(const TelemetryNote& note, std::string_view source,
            std::string_view default_host) override {
    writer_.note(note, source, default_host);
    ++remarks_;
    watch();
  }
  void begin_log(std::string_view source) override { log_ = source; }
  ProgressSink& log() override { return *this; }

  void show(std::size_t blind) const {
    if (options_.progress) options_.progress(told(blind));
  }
  RecordProgress told(std::size_t blind) const {
    return {writer_.rows(), writer_.bytes(), blind, steps_, remarks_};
  }
  // Whether there is something worth keeping. Remarks alone are, unless they end in an error.
  bool any(bool failed) const {
    return writer_.rows() > 0 || steps_ > 0 || (remarks_ > 0 && !failed);
  }

 private:
  void step(const StepRecord& record) override {
    writer_.step(record, log_);
    ++steps_;
    watch();
  }
  void event(const ProgressEvent& event) override {
    writer_.event(event, log_);
    ++remarks_;
    watch();
  }
  void watch() {
    if (!writer_.status()) end_.request_stop();
  }

  RecordingWriter& writer_;
  const RecordOptions& options_;
  std::stop_source& end_;
  std::string log_;
  std::uint64_t steps_ = 0, remarks_ = 0;
};

// Says of each source when it goes blind and when it is back.
class BlindWatch {
 public:
  explicit BlindWatch(const RecordOptions& options) : options_(options) {}
  void now(const std::vector<Blind>& blind) {
    std::set<std::string> names;
    for (const Blind& b : blind) {
      names.insert(b.source);
      if (!blind_.contains(b.source)) say("not read: " + b.source + ": " + b.reason);
    }
    for (const std::string& name : blind_) {
      if (!names.contains(name)) say("read again: " + name);
    }
    blind_ = std::move(names);
  }

 private:
  void say(const std::string& text) const {
    if (options_.report) options_.report(text);
  }
  const RecordOptions& options_;
  std::set<std::string> blind_;
};

Result<SourceSummary> record_live(const TriageRequest& request, const SourceOptions& sources,
                                  const RecordOptions& options, Files& files, Clock& clock,
                                  RecordingWriter& writer, RecordTarget& target) {
  LiveSet set(request.sources, sources, true, files, clock, target);
  if (const Status opened = set.open(); !opened) return opened.error();
  BlindWatch watch(options);
  for (MonoTime due = clock.mono();; due += options.interval) {
    // A round that ran late does not make the next ones hurry.
    due = std::max(due, clock.mono() - options.interval);
    set.poll(round_deadline(due, options.interval, sources.end));
    // A second may pass before the next row: what this round gave is safe before the rest.
    if (options.interval >= std::chrono::seconds(1)) writer.flush();
    const std::vector<Blind> blind = set.blind();
    watch.now(blind);
    target.show(blind.size());
    const bool over = sources.end && clock.mono() >= *sources.end;
    const bool lost = !writer.status();
    MonoTime next = due + options.interval;
    if (sources.end) next = std::min(next, *sources.end);
    if (over || lost || !clock.sleep_until(next, sources.stop)) {
      SourceSummary summary;
      summary.blind = blind;
      return summary;
    }
  }
}

// Why nothing at all was recorded.
Error nothing_came(const SourceSummary& summary) {
  if (summary.blind.empty())
    return make_error(Errc::not_found, "nothing was recorded: no source said anything");
  const Blind& first = summary.blind.front();
  return make_error(Errc::unavailable,
                    "nothing was recorded: " + first.source + ": " + first.reason);
}

}  // namespace

Result<RecordAnswer> record_sources(const TriageRequest& request, const RecordOptions& options,
                                    Files& files, Clock& clock) {
  auto created = RecordingWriter::create(options.path, options.force, clock);
  const auto unwritten = [&options](const Error& error) {
    if (options.unwritten) options.unwritten();
    return error;
  };
  if (!created) return unwritten(created.error());
  RecordingWriter& writer = **created;
  std::stop_source end;
  const std::stop_callback asked(options.stop, [&end] { end.request_stop(); });
  RecordTarget target(writer, options, end);
  SourceOptions sources = request.source_options;
  sources.stop = end.get_token();
  if (options.length) sources.end = clock.mono() + *options.length;
  auto summary = options.live ? record_live(request, sources, options, files, clock, writer, target)
                              : read_sources(request.sources, sources, files, clock, target);
  if (!target.any(!summary)) {
    writer.discard();
    return summary ? nothing_came(*summary) : summary.error();
  }
  if (const Status closed = writer.close(); !closed) return unwritten(closed.error());
  if (!summary) return summary.error();
  const RecordProgress total = target.told(summary->blind.size());
  return RecordAnswer{total, std::move(*summary)};
}

}  // namespace muster
