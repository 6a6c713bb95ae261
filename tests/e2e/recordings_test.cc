#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/halves_trial.h"

// Recordings of real runs, where somebody has some: MUSTER_RECORDINGS names a folder of pairs
// STEM_node_ac_power_long.csv[.gz] and STEM_events.csv (whole-node power and MLPerf log rows).

namespace muster {
namespace {

TEST(Recordings, EachIsCalibratedOnItsFirstHalfAndJudgedOnItsSecond) {
  const char* folder = std::getenv("MUSTER_RECORDINGS");
  if (folder == nullptr) GTEST_SKIP() << "MUSTER_RECORDINGS names no folder of recordings";
  const auto recordings = read_recordings(folder);
  ASSERT_FALSE(recordings.empty()) << "no STEM_node_ac_power_long.csv[.gz] in " << folder;
  for (const PowerRecording& recording : recordings) {
    const HalvesTrial trial = try_halves(recording, recordings, 9);
    std::cout << trial.row() << "\n";
    for (const std::string& complaint : trial.complaints) {
      ADD_FAILURE() << trial.name << ": " << complaint;
    }
  }
}

}  // namespace
}  // namespace muster
