#include "tests/support/power_replay.h"

#include <algorithm>

#include "core/progress/progress_decoder.h"

namespace muster {
namespace {

// Puts samples and log lines into a Triage, in the order of time.
class Player {
 public:
  Player(const PowerRecording& recording, Triage& triage, bool with_log)
      : recording_(recording), triage_(triage), with_log_(with_log) {
    if (with_log_) {
      triage_.set_progress_source("log");
      decoder_.feed("time_ms,key,step,value\n", triage_);
    }
  }

  void play(const PowerRecording::Sample& sample) {
    lines_to(sample.at);
    TelemetryRow row;
    row.key.kind = SeriesKind::node;
    row.key.host = sample.node;
    const MetricReading reading{Metric::node_power_w, Reading::of(sample.watts)};
    row.readings = {&reading, 1};
    triage_.row(row, sample.at, "power", "");
  }
  void lines_to(WallTime at) {
    if (!with_log_) return;
    for (; next_ < recording_.log.size() && recording_.log[next_].at <= at; ++next_) {
      decoder_.feed(recording_.log[next_].text + "\n", triage_);
    }
  }

 private:
  const PowerRecording& recording_;
  Triage& triage_;
  bool with_log_;
  ProgressDecoder decoder_;
  std::size_t next_ = 0;
};

void look(const Triage& triage, WallTime now, PowerReplay& out) {
  out.last = triage.report(now);
  const FleetView view = triage.view(now);
  ++out.looks;
  for (const GpuView& node : view.gpus) {
    ++out.samples;
    out.unknown_samples += node.phase == Phase::unknown;
  }
  for (const Finding& f : out.last.findings) {
    if (!out.first_silence && f.summary.starts_with("the step log is silent")) {
      out.first_silence = now;
    }
  }
  out.newest_alarm.reset();
  if (out.last.findings.empty() || out.last.findings[0].severity < Severity::warning) return;
  out.newest_alarm = out.last.findings[0];
  if (out.first_alarm) return;
  out.first_alarm = now;
  out.alarm = std::string(cause_name(out.newest_alarm->cause)) + ": " + out.newest_alarm->summary;
}

}  // namespace

PowerReplay replay(const PowerRecording& recording, const Calibration& calibration, bool with_log) {
  PowerReplay out;
  TriageOptions options;
  options.calibration = calibration;
  Triage triage(options);
  Player player(recording, triage, with_log);
  if (recording.samples.empty()) return out;
  constexpr Duration kInterval = std::chrono::seconds(1);
  WallTime next = recording.samples.front().at + kInterval;
  for (const auto& sample : recording.samples) {
    for (; sample.at >= next; next += kInterval) {
      player.lines_to(next);
      look(triage, next, out);
    }
    player.play(sample);
  }
  const WallTime end = recording.samples.back().at;
  player.lines_to(end);
  look(triage, end, out);
  return out;
}

Calibration learn_from(const PowerRecording& recording, const Calibration& bands) {
  TriageOptions options;
  options.learn = true;
  options.calibration = bands;
  Triage triage(options);
  Player player(recording, triage, true);
  for (const auto& sample : recording.samples) player.play(sample);
  if (recording.samples.empty()) return {};
  player.lines_to(recording.samples.back().at);
  auto learned = triage.calibrate(recording.name);
  if (learned) return std::move(*learned);
  Calibration none;
  none.source = learned.error().context;
  return none;
}

Duration hang_limit(const PowerRecording& recording, WallTime at, const Calibration& calibration) {
  using namespace std::chrono_literals;
  const Calibration before = learn_from(cut(recording, {}, at), calibration);
  const Duration known = std::max(calibration.longest_wait.value_or(Duration{}),
                                  before.longest_wait.value_or(Duration{}));
  return known == Duration{} ? 120s : std::max<Duration>(120s, known * 3 / 2 + 30s);
}

Duration silence_limit(const PowerRecording& recording, WallTime at,
                       const Calibration& calibration) {
  using namespace std::chrono_literals;
  const Calibration before = learn_from(cut(recording, {}, at), calibration);
  const Duration known = std::max(calibration.longest_quiet.value_or(Duration{}),
                                  before.longest_quiet.value_or(Duration{}));
  return std::max<Duration>(10min, 3 * known);
}

}  // namespace muster
