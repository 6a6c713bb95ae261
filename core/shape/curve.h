#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/progress.h"

// Step records of one log -> one curve: how long a step took, over the steps.

namespace muster::shape {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What the speed of the curve was taken from. All of them become seconds of one step (or a figure
// in proportion to them: see Curve::seconds).
enum class Measure : std::uint8_t {
  none,
  step_time,   // as printed
  throughput,  // from tokens per second
  stamps,      // from the times of the lines
  mfu,
};

struct CurvePoint {
  std::int64_t step = 0;
  std::int64_t steps = 1;     // that lie between the point before and this one
  double step_s = kNone;      // of one step; NaN where this point does not tell it
  double interval_s = kNone;  // from the point before, by the clocks of the lines
  double loading_s = kNone;   // of one step
  double tokens_per_s = kNone;
  double mfu_ratio = kNone;
  double at_s = 0;  // since the first point: by the clocks where they are told
  std::uint64_t line = 0;
  std::int32_t rank = -1;     // that took longest, where ranks are told
  std::uint32_t attempt = 0;  // counts restarts
  // An event stood between the point before and this one.
  std::optional<ProgressKind> after = {};
};

// A restart, a save, an evaluation, ...: between the points `before` - 1 and `before`.
struct CurveEvent {
  ProgressKind kind = ProgressKind::startup;
  std::size_t before = 0;
  std::optional<Duration> duration;
  std::string text;  // at most limits::kEvidenceChars
  std::uint64_t line = 0;
};

struct Curve {
  std::string source;
  Measure measure = Measure::none;
  // step_s is in seconds. Otherwise it is 1/throughput or 1/mfu: only ratios mean something.
  bool seconds = false;
  // The clocks of the lines tell times to this many seconds; 0: there are none.
  double stamp_resolution_s = 0;
  // Wall time of one step, by the clocks or, without them, by the printed durations.
  std::optional<double> typical_step_s;
  std::vector<CurvePoint> points;
  std::vector<CurveEvent> events;  // the first limits::kCurveEvents
  std::array<std::uint64_t, static_cast<std::size_t>(ProgressKind::monitor_stuck) + 1> counts{};
  std::optional<std::int64_t> target_step;
  std::uint32_t attempts = 1;
  std::uint64_t dropped = 0;  // records beyond limits::kCurvePoints
  bool finished = false;
};

// Collects; memory is bounded by limits::kCurvePoints.
class CurveBuilder : public ProgressSink {
 public:
  void step(const StepRecord& record) override;
  void event(const ProgressEvent& event) override;

  // True where `next` goes on where this run was when it ended: a later attempt with a log of its
  // own. Logs of ranks begin at the same step, other runs end elsewhere.
  bool continued_by(const CurveBuilder& next) const;
  // Adds the next attempt; line numbers stay those of its own log. `next` is empty afterwards.
  void append(CurveBuilder&& next);

  // `restart_steps`: restarts that something else told (notes of an operator), by the step at which
  // they came. The builder is empty afterwards.
  Curve finish(std::string source, const std::set<std::int64_t>& restart_steps = {});

 private:
  struct Raw {
    std::int64_t step = 0;
    double step_s = kNone, tokens_per_s = kNone, mfu_ratio = kNone, loading_s = kNone;
    double clock_s = kNone;  // absolute
    std::uint64_t line = 0;
    std::int32_t rank = -1;
    std::uint32_t attempt = 0;
    bool dated = true;
    std::optional<ProgressKind> after;
  };
  void merge(const StepRecord& record);
  void open(const StepRecord& record);
  void choose_measure(Curve& curve) const;
  void set_clocks(Curve& curve);
  void set_speeds(Curve& curve) const;

  std::vector<Raw> raws_;
  std::vector<CurveEvent> events_;
  std::array<std::uint64_t, static_cast<std::size_t>(ProgressKind::monitor_stuck) + 1> counts_{};
  std::optional<ProgressKind> pending_;
  std::optional<std::int64_t> target_;
  std::uint32_t attempt_ = 0;
  std::uint64_t dropped_ = 0;
  bool finished_ = false, restarted_ = false;
};

}  // namespace muster::shape
