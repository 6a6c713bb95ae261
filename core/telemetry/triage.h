#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/model/finding.h"
#include "core/model/fleet_view.h"
#include "core/model/progress.h"
#include "core/model/telemetry_row.h"
#include "core/telemetry/calibration.h"
#include "core/telemetry/fleet.h"

// From power and utilization to a verdict: which phase is this run in, and who is odd?
//
// The GPUs that are put in are taken for the GPUs of one run. Utilization says "a kernel is
// resident", also while it spins in a collective; board power says whether work is done. So power,
// as a share of the enforced limit, gives the band; utilization over the ranks gives the shape;
// time decides between a save and a hang:
//
//   hang = the power floor, without one busy sample between, for at least
//          max(120 s, 1.5 x the longest healthy wait known + 30 s)
//
// A healthy wait is known from a calibration, from saves in the step log, or from waits in this
// very recording that ended; one that was called a hang counts when work follows at once and lasts.
// Where rank 0 alone is at 0 % (the shape of a save) and no wait is known, a save may take ten
// minutes. Below ten minutes, a hang that looks like a save, like waits of this run that ended, or
// like loading after a rest is a hint of low confidence; so is, at any length, a floor that is not
// well below the power of this run's work. Time that nobody saw does not count.
//
// A step log, when given, decides (a save only where it tells saves): steps that go on mean no
// hang, an open save gets the time of a save, a frozen step makes a hang sure; after a line of a
// restart or of its end the run gets half an hour. Its times count only where they fit the
// telemetry: a log that ends after the newest sample, or long before the floor began, is of another
// zone. A log that falls silent while power stays at work is no hang by this rule; it is told
// apart, at medium confidence where a calibration knows how long healthy silences are.
//
// One rank at 0 % beside busy ones above the floor (a cap so low that spinning reaches the power of
// work) is a hint, and a hang where the step log stands still for ten minutes too.
//
// GPUs that rest while others work are not of the run until they work; a host that worked leaves it
// when all of it rests for two minutes beside others that compute.
//
// Memory is bounded by the number of series, not by the length of the input. One thread.

namespace muster {

enum class HangRule : std::uint8_t {
  continuous,   // the rule above
  two_samples,  // the field report's: two samples in a row in the shape of a hang
};

struct TriageOptions {
  Calibration calibration;  // empty: the defaults per GPU model
  HangRule rule = HangRule::continuous;
  Duration min_hang = std::chrono::seconds(120);
  bool learn = false;  // keep what calibrate() needs
};

struct TriageState;  // core/telemetry/triage_state.h

class Triage : public ProgressSink {
 public:
  explicit Triage(TriageOptions options);
  ~Triage() override;

  // One row of a source called `source` (for evidence), on a host called `default_host` where the
  // row names none. `at` is its time. Rows of one host come in order of time; hosts may interleave
  // by up to a few seconds.
  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view default_host);
  void note(const TelemetryNote& note, std::string_view source, std::string_view default_host);

  // The step log of the run. Call set_progress_source() once before, for evidence.
  void set_progress_source(std::string_view source);
  void step(const StepRecord& record) override;
  void event(const ProgressEvent& event) override;

  // False: the rows so far had an order and no time, so that what stood in for it must not be told:
  // no duration, no `since`, and nothing that needs one. Known unless said otherwise.
  void set_times_known(bool known);

  // The verdict as of `now`: the time of the newest row for a file, the wall clock for a live
  // source (values then grow old).
  Report report(WallTime now) const;
  FleetView view(WallTime now) const;
  // Learned from everything put in so far, taken as a known-good run. Errc::unsupported where the
  // input has no power or no work in it.
  Result<Calibration> calibrate(std::string_view source_name) const;

  // What a known-good run does not do, with options.learn: the waits that report() would have
  // called a hang while they lasted, hints too, each as it was last; then what
  // else is critical at the end. The first limits::kFindingsNamed of them.
  std::vector<Finding> doubts() const;

  std::optional<WallTime> newest() const;

 private:
  std::unique_ptr<TriageState> state_;
};

}  // namespace muster
