#include "tests/support/halves_trial.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/timestamp.h"

namespace muster {
namespace {

using namespace std::chrono_literals;

// Eight H100 that spin in a collective draw 150 to 158 W each, with a loaded context and no kernel
// 118 to 124 W; loading and initialization are the latter.
constexpr double kSpinLiftW = 8 * 33;

struct Halves {
  PowerRecording first, second;
  Calibration calibration;  // of the first
};

bool says(const PowerRecording::LogLine& line, std::string_view key) {
  return line.text.find(key) != std::string::npos;
}

// The end of training, where the log tells it.
WallTime end_of(const PowerRecording& r) {
  for (const auto& line : r.log) {
    if (says(line, ",run_stop,")) return line.at;
  }
  return r.samples.back().at;
}

bool in_evaluation(const PowerRecording& r, WallTime at) {
  bool open = false;
  for (const auto& line : r.log) {
    if (line.at > at) break;
    open = (open || says(line, ",eval_start,")) && !says(line, ",eval_stop,");
  }
  return open;
}

// The first moment from `at` on at which every node works, outside of an evaluation.
WallTime next_at_work(const PowerRecording& r, WallTime at, double floor_w) {
  std::map<std::string_view, double> now;
  for (const auto& s : r.samples) {
    now[s.node] = s.watts;
    const bool work =
        std::all_of(now.begin(), now.end(), [&](const auto& n) { return n.second > floor_w; });
    if (s.at >= at && work && !in_evaluation(r, s.at)) return s.at + 1ms;
  }
  return at;
}

// The stay at the floor of most nodes, then the longest: of the second half, else of the whole,
// else of a lender.
WaitSegment floor_of(const PowerRecording& whole, std::span<const PowerRecording> lenders,
                     const Halves& h, HalvesTrial& out) {
  WaitSegment best;
  const auto look_in = [&](const PowerRecording& place, const std::string& name) {
    for (WaitSegment& w : wait_segments(place, h.calibration)) {
      if (std::pair(w.watts.size(), w.to - w.from) <=
          std::pair(best.watts.size(), best.to - best.from)) {
        continue;
      }
      best = std::move(w);
      out.floor_from = name;
    }
  };
  look_in(h.second, "second half");
  if (best.watts.empty()) look_in(whole, "first half");
  if (!best.watts.empty()) return best;
  for (const PowerRecording& lender : lenders) look_in(lender, lender.name);
  return best;
}

// What nodes draw at work, as something to hold.
WaitSegment work_of(const Halves& h) {
  WaitSegment out;
  for (const auto& s : h.second.samples) {
    if (s.watts >= h.calibration.bands[0].compute_min_w) out.watts[s.node].push_back(s.watts);
  }
  return out;
}

// The newest log line up to `at` that tells something of progress.
WallTime heard_at(const PowerRecording& r, WallTime at) {
  WallTime heard{};
  for (const auto& line : r.log) {
    const bool mute = says(line, ",block_") || says(line, ",epoch_start") || says(line, "accuracy");
    if (line.at <= at && !mute) heard = line.at;
  }
  return heard;
}

void try_healthy(const Halves& h, const WaitSegment& wait, HalvesTrial& out) {
  struct Case {
    PowerRecording recording;
    bool with_log;
  };
  std::vector<Case> cases = {{h.second, false}, {h.second, true}};
  // Once the log has told its end, rest is no hang.
  const WallTime end = end_of(h.second);
  if (end < h.second.samples.back().at) {
    cases.push_back({hold(h.second, end + 1ms, wait, 0, 300s, 1), true});
  }
  out.unknown_percent = 0;
  for (const auto& [recording, with_log] : cases) {
    const PowerReplay p = replay(
        recording, {.calibration = h.calibration, .with_log = with_log, .count_phases = true});
    out.unknown_percent = std::max(out.unknown_percent, p.unknown_percent());
    if (!p.first_alarm) continue;
    ++out.healthy_alarms;
    out.complaints.push_back(fmt::format("false alarm at {}, log {}: {}",
                                         format_clock(*p.first_alarm), with_log, p.alarm));
  }
  if (out.unknown_percent > 5) {
    out.complaints.push_back(fmt::format("{:.1f} % unknown", out.unknown_percent));
  }
}

// Counts a hang that is due to be called at `due`; what is wrong with it, or nothing.
std::string count(std::optional<WallTime> called, WallTime due, Duration period,
                  HalvesTrial::Hangs& hangs) {
  ++hangs.tried;
  if (!called) return "not found";
  const double delay = duration_to_seconds(*called - due) / duration_to_seconds(period);
  hangs.worst_delay_samples = std::max(hangs.worst_delay_samples, delay);
  if (delay < 0) {
    ++hangs.early;
    return "called too early";
  }
  if (delay > 2) return fmt::format("found {:.2f} samples late", delay);
  ++hangs.found;
  return {};
}

void try_hang(const Halves& h, WallTime at, const WaitSegment& wait, std::uint64_t seed,
              HalvesTrial& out) {
  const Duration period = h.second.period();
  // Every second one lifted: kernels that spin draw more than a loaded context.
  const double lift_w = seed % 2 == 0 ? kSpinLiftW : 0;
  const Duration limit = limits_at(h.second, at, h.calibration).wait;
  const PowerRecording hung = hold(h.second, at, wait, lift_w, limit + 4 * period, seed);
  const auto start = std::lower_bound(hung.samples.begin(), hung.samples.end(), at,
                                      [](const auto& s, WallTime t) { return s.at < t; });
  for (const bool with_log : {false, true}) {
    const PowerReplay p = replay(hung, {.calibration = h.calibration, .with_log = with_log});
    std::string wrong = count(p.first_alarm, start->at + limit, period, out.waits);
    const Cause cause = p.newest_alarm ? p.newest_alarm->cause : Cause::healthy;
    if (wrong.empty() && cause != Cause::collective_hang && cause != Cause::undetermined) {
      wrong = "called something else:";
    }
    if (wrong.empty()) continue;
    out.complaints.push_back(fmt::format("hang at {}, seed {}, log {}: {} {}", format_clock(at),
                                         seed, with_log, wrong, p.alarm));
  }
}

void try_silence(const Halves& h, WallTime at, std::uint64_t seed, HalvesTrial& out) {
  const Duration period = h.second.period();
  const Duration limit = limits_at(h.second, at, h.calibration).silence;
  const WallTime due = heard_at(h.second, at) + limit;
  const PowerRecording hung = hold(h.second, at, work_of(h), 0, due - at + 4 * period, seed);
  const PowerReplay p = replay(hung, {.calibration = h.calibration});
  std::string wrong = count(p.first_silence, due, period, out.silences);
  if (wrong.empty() && p.first_alarm && !h.calibration.longest_quiet) wrong = "more than a hint:";
  if (wrong.empty() && p.first_alarm && *p.first_alarm != *p.first_silence) wrong = "and also";
  if (wrong.empty() && !p.first_alarm && h.calibration.longest_quiet) wrong = "a hint only";
  if (wrong.empty()) return;
  out.complaints.push_back(
      fmt::format("silence at {}, seed {}: {} {}", format_clock(at), seed, wrong, p.alarm));
}

}  // namespace

std::string HalvesTrial::row() const {
  const auto text = [](const Hangs& h) {
    return fmt::format("{}/{} in time, {} early, worst {:.2f} samples", h.found, h.tried, h.early,
                       h.worst_delay_samples);
  };
  return fmt::format("{:24} alarms {}, unknown {:4.2f} %; hangs {}; silences {}; floor of: {}",
                     name, healthy_alarms, unknown_percent, text(waits), text(silences),
                     floor_from);
}

HalvesTrial try_halves(const PowerRecording& recording, std::span<const PowerRecording> lenders,
                       int hangs, int silences) {
  HalvesTrial out;
  out.name = recording.name;
  if (recording.samples.empty()) {
    out.complaints.push_back("no samples in it");
    return out;
  }
  const WallTime half = middle(recording);
  Halves h{cut(recording, {}, half), cut(recording, half, WallTime::max()), {}};
  h.second.log = recording.log;  // a log is read from its beginning
  h.calibration = replay(h.first, {.calibration = {}, .learn = true}).learned;
  if (h.calibration.empty()) {
    out.complaints.push_back(h.calibration.source);
    return out;
  }
  const WaitSegment wait = floor_of(recording, lenders, h, out);
  if (wait.watts.empty()) {
    out.complaints.push_back("no stay at the floor to make a hang of");
    return out;
  }
  try_healthy(h, wait, out);
  const Duration training = end_of(recording) - half;
  for (int i = 1; i <= std::max(hangs, silences); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    // A quarter, a half and three quarters into the rest of training, never twice the same moment.
    const WallTime at = half + training * (i % 3 + 1) / 4 + i * 137ms;
    const WallTime busy = next_at_work(h.second, at, h.calibration.bands[0].wait_max_w);
    if (i <= hangs) try_hang(h, busy, wait, seed, out);
    if (i <= silences) try_silence(h, busy, seed, out);
  }
  return out;
}

}  // namespace muster
