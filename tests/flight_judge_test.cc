#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/flight/dump_reader.h"
#include "core/flight/verdict.h"
#include "core/flight/verdict_text.h"
#include "tests/support/flight_scenarios.h"
#include "tests/support/flight_simulator.h"

// The judge on SIMULATED jobs with one known fault, none, or two. bench/flight_accuracy_bench.cc
// prints the figures over many more seeds.

namespace muster {
namespace {

bool is_true_rank(const SimulatedFlight& truth, std::int32_t rank) {
  return std::find(truth.culprits.begin(), truth.culprits.end(), rank) != truth.culprits.end();
}

bool all_true(const FlightVerdict& verdict, const SimulatedFlight& truth) {
  return std::all_of(verdict.culprits.begin(), verdict.culprits.end(),
                     [&](std::int32_t rank) { return is_true_rank(truth, rank); });
}

std::string told(const FlightAnalysis& analysis) {
  std::string text;
  for (const FlightVerdict& v : analysis.verdicts) {
    text += fmt::format("{} {} {}; ", flight_verdict_name(v.kind), static_cast<int>(v.confidence),
                        describe_ranks(v.culprits));
  }
  return text;
}

class SingleFault : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SingleFault, NamesNobodyWhoIsInnocent) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 20; ++seed) {
    const SimulatedFlight truth = simulate_flight(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    for (const FlightVerdict& v : analysis.verdicts) {
      if (v.confidence == Confidence::high) {
        EXPECT_TRUE(all_true(v, truth)) << seed << ": " << told(analysis);
      }
      if (v.confidence == Confidence::medium && !v.culprits.empty()) {
        EXPECT_TRUE(std::any_of(v.culprits.begin(), v.culprits.end(),
                                [&](std::int32_t r) { return is_true_rank(truth, r); }))
            << seed << ": " << told(analysis);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SingleFault, testing::Values(100, 120, 140, 160, 180));

// Faults whose dumps always hold enough: exactly the true ranks, each time.
TEST(Judge, NamesRanksThatStopOrDisagree) {
  for (const FaultKind kind :
       {FaultKind::hang, FaultKind::crash, FaultKind::comm_init, FaultKind::dataloader_stall}) {
    for (std::uint64_t seed = 300; seed < 308; ++seed) {
      const SimulatedFlight truth = simulate_fault(kind, seed);
      const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
      ASSERT_FALSE(analysis.verdicts.empty()) << fault_name(kind) << " " << seed;
      const std::vector<std::int32_t> wanted(truth.culprits.begin(), truth.culprits.end());
      EXPECT_EQ(analysis.verdicts.front().culprits, wanted)
          << fault_name(kind) << " " << seed << ": " << told(analysis);
    }
  }
}

TEST(Judge, AccusesNobodyOfAHealthyJob) {
  for (std::uint64_t seed = 400; seed < 440; ++seed) {
    const SimulatedFlight truth = simulate_healthy(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    for (const FlightVerdict& v : analysis.verdicts) {
      EXPECT_TRUE(v.culprits.empty() || v.confidence == Confidence::low)
          << seed << ": " << told(analysis);
    }
  }
}

TEST(Judge, NamesNoInnocentForSureAmongTwoFaults) {
  for (std::uint64_t seed = 500; seed < 530; ++seed) {
    const SimulatedFlight truth = simulate_two_faults(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    for (const FlightVerdict& v : analysis.verdicts) {
      if (v.confidence != Confidence::high) continue;
      EXPECT_TRUE(all_true(v, truth)) << seed << ": " << told(analysis);
    }
  }
}

TEST(Judge, NamesOnlyTheTrueStraggler) {
  std::size_t named = 0;
  for (std::uint64_t seed = 600; seed < 640; ++seed) {
    const SimulatedFlight truth = simulate_straggler(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    for (const FlightVerdict& v : analysis.verdicts) {
      if (v.confidence == Confidence::low) continue;
      EXPECT_TRUE(all_true(v, truth)) << seed << ": " << told(analysis);
      ++named;
    }
  }
  EXPECT_GT(named, 0U);
}

// ---- named incidents ---------------------------------------------------------------------------

// The dumps of a scenario; those that come as bytes are read, and a refusal leaves them out.
std::vector<FlightDump> dumps_of(const FlightScenario& scenario) {
  std::vector<FlightDump> dumps = scenario.dumps;
  FlightReaderScratch scratch;
  for (const FlightFile& file : scenario.files) {
    auto dump = read_flight_dump({file.name, file.bytes}, scratch);
    EXPECT_EQ(dump.has_value(), !scenario.refused) << file.name;
    if (dump) dumps.push_back(std::move(*dump));
  }
  return dumps;
}

class Scenario : public testing::TestWithParam<FlightScenario> {};

TEST_P(Scenario, IsJudgedAsAPersonWould) {
  const FlightScenario& scenario = GetParam();
  const std::vector<FlightDump> dumps = dumps_of(scenario);
  const FlightAnalysis analysis = analyze_flight(dumps, scenario.witnesses);
  if (scenario.expected.empty()) {
    EXPECT_TRUE(analysis.verdicts.empty()) << told(analysis);
    return;
  }
  ASSERT_FALSE(analysis.verdicts.empty());
  const FlightVerdict& first = analysis.verdicts.front();
  EXPECT_NE(std::find(scenario.expected.begin(), scenario.expected.end(), first.kind),
            scenario.expected.end())
      << told(analysis);
  const std::vector<std::int32_t> wanted(scenario.culprits.begin(), scenario.culprits.end());
  EXPECT_EQ(first.culprits, wanted) << told(analysis);
  EXPECT_GE(first.confidence, scenario.least) << told(analysis);
}

INSTANTIATE_TEST_SUITE_P(Named, Scenario, testing::ValuesIn(flight_scenarios()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster
