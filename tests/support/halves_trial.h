#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/support/power_replay.h"

namespace muster {

// The bar that triage by whole-node power is held to: a recording of a healthy run calibrates on
// its first half; its second half must pass without an alarm, known in its phases, and hangs put
// into it must be found in time.
//
// The hangs are SYNTHETIC: no labelled recording of a real one is public. At several moments of
// training every node falls to a real stay at the floor (of the second half; where it has none, of
// the whole recording; else of one of the `lenders`), drawn sample by sample, and stays; its first
// sample is its start. A second kind stays at power while the step log falls silent, as kernels
// that spin would.
struct HalvesTrial {
  struct Hangs {
    int tried = 0, found = 0, early = 0;  // found: within limit + 2 samples, and not early
    double worst_delay_samples = 0;       // behind the limit
  };
  std::string name;
  std::string floor_from;               // where the stay at the floor was taken from
  std::vector<std::string> complaints;  // each way in which the bar was missed
  double unknown_percent = 100;         // the worst of without and with log
  int healthy_alarms = 0;
  Hangs waits, silences;

  // One line of a table.
  std::string row() const;
};

// `hangs` times without and with the log, and `silences` with it.
HalvesTrial try_halves(const PowerRecording& recording, std::span<const PowerRecording> lenders,
                       int hangs, int silences);

}  // namespace muster
