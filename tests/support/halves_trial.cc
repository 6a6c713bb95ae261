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

void try_healthy(const Halves& h, HalvesTrial& out) {
  out.unknown_percent = 0;
  for (const bool with_log : {false, true}) {
    const PowerReplay p = replay(h.second, h.calibration, with_log);
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

void try_hang(const Halves& h, WallTime at, const WaitSegment& wait, std::uint64_t seed,
              HalvesTrial& out) {
  const Duration period = h.second.period();
  // Every second one lifted: kernels that spin draw more than a loaded context.
  const double lift_w = seed % 2 == 0 ? kSpinLiftW : 0;
  const Duration limit = hang_limit(h.second, at, h.calibration);
  const PowerRecording hung = hold(h.second, at, wait, lift_w, limit + 4 * period, seed);
  for (const bool with_log : {false, true}) {
    ++out.hangs;
    const PowerReplay p = replay(hung, h.calibration, with_log);
    const auto complain = [&](std::string_view what) {
      out.complaints.push_back(fmt::format("hang at {}, seed {}, log {}: {} {}", format_clock(at),
                                           seed, with_log, what, p.alarm));
    };
    if (!p.first_alarm) {
      complain("not found");
      continue;
    }
    const double delay =
        duration_to_seconds(*p.first_alarm - at - limit) / duration_to_seconds(period);
    out.worst_delay_samples = std::max(out.worst_delay_samples, delay);
    const Cause cause = p.newest_alarm ? p.newest_alarm->cause : Cause::healthy;
    if (delay < 0) {
      ++out.early;
      complain("called too early");
    } else if (delay > 2) {
      complain(fmt::format("found {:.1f} samples late", delay));
    } else if (cause != Cause::collective_hang && cause != Cause::undetermined) {
      complain("called something else");
    } else {
      ++out.found;
    }
  }
}

}  // namespace

std::string HalvesTrial::row() const {
  return fmt::format(
      "{:28} alarms {}, unknown {:4.2f} %, hangs {}/{} in time, {} early, worst {:.2f} "
      "samples behind the limit; floor of: {}",
      name, healthy_alarms, unknown_percent, found, hangs, early, worst_delay_samples, floor_from);
}

HalvesTrial try_halves(const PowerRecording& recording, std::span<const PowerRecording> lenders,
                       std::uint64_t seeds) {
  HalvesTrial out;
  out.name = recording.name;
  if (recording.samples.empty()) {
    out.complaints.push_back("no samples in it");
    return out;
  }
  const WallTime half = middle(recording);
  Halves h{cut(recording, {}, half), cut(recording, half, WallTime::max()), {}};
  h.calibration = learn_from(h.first);
  if (h.calibration.empty()) {
    out.complaints.push_back(h.calibration.source);
    return out;
  }
  try_healthy(h, out);
  const WaitSegment wait = floor_of(recording, lenders, h, out);
  if (wait.watts.empty()) {
    out.complaints.push_back("no stay at the floor to make a hang of");
    return out;
  }
  const Duration training = end_of(recording) - half;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    // A quarter, a half and three quarters into the rest of training, never twice the same moment.
    const auto share = static_cast<std::int64_t>(seed % 3 + 1);
    const WallTime at = half + training * share / 4 + static_cast<std::int64_t>(seed) * 137ms;
    try_hang(h, next_at_work(h.second, at, h.calibration.bands[0].wait_max_w), wait, seed, out);
  }
  return out;
}

}  // namespace muster
