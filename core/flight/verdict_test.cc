#include "core/flight/verdict.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(FlightVerdict, HasAName) {
  EXPECT_EQ(flight_verdict_name(FlightVerdictKind::behind), "behind");
  EXPECT_EQ(flight_verdict_name(FlightVerdictKind::undecided), "undecided");
}

}  // namespace
}  // namespace muster
