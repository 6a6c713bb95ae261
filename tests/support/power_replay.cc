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

void count_phases(const Triage& triage, WallTime now, PowerReplay& out) {
  for (const GpuView& node : triage.view(now).gpus) {
    ++out.samples;
    out.unknown_samples += node.phase == Phase::unknown;
  }
}

void look(const Triage& triage, WallTime now, PowerReplay& out) {
  const Report report = triage.report(now);
  out.newest_alarm.reset();
  for (const Finding& f : report.findings) {
    if (!out.first_silence && f.summary.starts_with("the step log is silent")) {
      out.first_silence = now;
    }
    if (f.severity < Severity::warning || out.newest_alarm) continue;
    out.newest_alarm = f;
    if (out.first_alarm) continue;
    out.first_alarm = now;
    out.alarm = std::string(cause_name(f.cause)) + ": " + f.summary;
  }
}

}  // namespace

PowerReplay replay(const PowerRecording& recording, PowerReplay::Options options) {
  constexpr Duration kInterval = std::chrono::seconds(1);
  PowerReplay out;
  TriageOptions triage_options;
  triage_options.calibration = std::move(options.calibration);
  triage_options.learn = options.learn;
  Triage triage(triage_options);
  Player player(recording, triage, options.with_log);
  if (recording.samples.empty()) return out;
  const auto judge = [&](WallTime now) {
    player.lines_to(now);
    look(triage, now, out);
    if (options.count_phases) count_phases(triage, now, out);
  };
  WallTime next = recording.samples.front().at + kInterval;
  for (const auto& sample : recording.samples) {
    for (; sample.at >= next; next += kInterval) judge(next);
    player.play(sample);
  }
  judge(recording.samples.back().at);
  if (!options.learn) return out;
  auto learned = triage.calibrate(recording.name);
  if (learned) {
    out.learned = std::move(*learned);
  } else {
    out.learned.source = learned.error().context;
  }
  return out;
}

PowerLimits limits_at(const PowerRecording& recording, WallTime at,
                      const Calibration& calibration) {
  using namespace std::chrono_literals;
  const PowerReplay before =
      replay(cut(recording, {}, at), {.calibration = calibration, .learn = true});
  const auto longer = [](const std::optional<Duration>& a, const std::optional<Duration>& b) {
    return std::max(a.value_or(Duration{}), b.value_or(Duration{}));
  };
  const Duration wait = longer(calibration.longest_wait, before.learned.longest_wait);
  const Duration quiet = longer(calibration.longest_quiet, before.learned.longest_quiet);
  return {wait == Duration{} ? 120s : std::max<Duration>(120s, wait * 3 / 2 + 30s),
          std::max<Duration>(10min, 3 * quiet)};
}

}  // namespace muster
