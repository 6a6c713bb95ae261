#include "tests/support/flight_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/flight_machine.h"

namespace muster {
namespace {

class Topologies : public testing::TestWithParam<int> {};

TEST_P(Topologies, AHealthyJobComesToItsEnd) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SimulatorRng rng(seed);
    const SimulatedJob job = draw_job(static_cast<TopologyKind>(GetParam()), seed % 2 == 0, rng);
    Machine machine(job, std::nullopt, false, rng);
    machine.run();
    EXPECT_FALSE(machine.hangs()) << job.topology.text << " seed " << seed;
    for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
      ASSERT_TRUE(machine.finished(rank)) << job.topology.text << " seed " << seed << " " << rank;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Flight, Topologies, testing::Range(0, static_cast<int>(kTopologyKinds)));

// Of one group: numbers rise, what is done comes before what is not, the status fits.
void expect_group_in_order(const FlightDump& dump, std::uint32_t group) {
  std::int64_t seq = -1, highest = -1;
  bool waiting = false, messages = false;
  for (const FlightEntry& e : dump.entries) {
    if (e.group != group) continue;
    highest = std::max({highest, e.seq, e.p2p_seq});
    EXPECT_GE(e.seq, seq);
    if (!e.is_p2p) {
      EXPECT_GT(e.seq, seq) << "two collectives of one number";
    }
    seq = e.seq;
    messages = messages || e.is_p2p;
    if (e.is_p2p) continue;
    EXPECT_FALSE(waiting && e.state == FlightState::completed) << "overtook in its stream";
    waiting = waiting || e.state != FlightState::completed;
  }
  const FlightGroup& g = dump.groups[group];
  // With messages the status holds two kinds of numbers by turns.
  if (!g.last_enqueued || messages) return;
  EXPECT_LE(*g.last_completed, *g.last_enqueued);
  if (highest >= 0) {
    EXPECT_LE(*g.last_enqueued, highest);
  }
}

void expect_sound(const FlightDump& dump) {
  ASSERT_TRUE(dump.rank);
  std::int64_t id = -1, created = 0;
  for (const FlightEntry& e : dump.entries) {
    ASSERT_LT(e.group, dump.groups.size());
    ASSERT_LT(e.signature, dump.signatures.size());
    ASSERT_LT(e.stack, dump.stacks.size());
    if (id >= 0) {
      EXPECT_EQ(e.record_id, id + 1);
    }
    id = e.record_id;
    EXPECT_GE(e.created_ns, created);
    created = e.created_ns;
    const bool done = e.state == FlightState::completed;
    EXPECT_EQ(done, e.completed_seen_ns != FlightEntry::kAbsent);
    if (done) {
      EXPECT_GT(e.completed_seen_ns, e.created_ns);
    }
    const auto& ranks = *dump.groups[e.group].ranks;
    EXPECT_TRUE(std::binary_search(ranks.begin(), ranks.end(), *dump.rank));
  }
  for (std::uint32_t group = 0; group < dump.groups.size(); ++group) {
    expect_group_in_order(dump, group);
  }
  for (const FlightStack& stack : dump.stacks) {
    for (const std::uint32_t frame : stack) ASSERT_LT(frame, dump.frames.size());
  }
}

bool waits(const FlightDump& dump) {
  // Members of a batch stay "scheduled" for ever: only what has events counts.
  std::set<std::pair<std::uint32_t, std::int64_t>> closed;
  for (const FlightEntry& e : dump.entries) {
    if (dump.signatures[e.signature].name == "nccl:coalesced") closed.insert({e.group, e.p2p_seq});
  }
  return std::any_of(dump.entries.begin(), dump.entries.end(), [&](const FlightEntry& e) {
    const bool member = closed.count({e.group, e.p2p_seq}) > 0 && e.is_p2p &&
                        dump.signatures[e.signature].name != "nccl:coalesced";
    return !member && e.state != FlightState::completed;
  });
}

std::set<int> ranks_of(const SimulatedFlight& flight) {
  std::set<int> ranks;
  for (const FlightDump& dump : flight.dumps) ranks.insert(*dump.rank);
  return ranks;
}

class Faults : public testing::TestWithParam<int> {};

TEST_P(Faults, ArePossible) {
  const auto kind = static_cast<FaultKind>(GetParam());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedFlight flight = simulate_fault(kind, seed);
    SCOPED_TRACE(flight.topology);
    EXPECT_EQ(flight.fault, kind);
    EXPECT_FALSE(flight.accepted.empty());
    EXPECT_TRUE(std::is_sorted(flight.culprits.begin(), flight.culprits.end()));
    const std::set<int> ranks = ranks_of(flight);
    for (const int culprit : flight.culprits) {
      EXPECT_EQ(ranks.count(culprit), kind == FaultKind::crash ? 0U : 1U);
    }
    std::size_t waiting = 0;
    for (const FlightDump& dump : flight.dumps) {
      expect_sound(dump);
      if (waits(dump)) ++waiting;
      const bool stuck = kind == FaultKind::hang || kind == FaultKind::dataloader_stall ||
                         kind == FaultKind::comm_init;
      const auto& c = flight.culprits;
      if (stuck && std::find(c.begin(), c.end(), *dump.rank) != c.end()) {
        EXPECT_FALSE(waits(dump)) << "the culprit waits itself";
      }
    }
    if (kind != FaultKind::silent) {
      EXPECT_GT(waiting, 0U);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Flight, Faults, testing::Range(0, static_cast<int>(kFaultKinds)),
                         [](const auto& row) {
                           return std::string(fault_name(static_cast<FaultKind>(row.param)));
                         });

TEST(FlightSimulator, SameSeedSameDumps) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const SimulatedFlight a = simulate_flight(seed), b = simulate_flight(seed);
    ASSERT_EQ(a.dumps.size(), b.dumps.size());
    EXPECT_EQ(a.culprits, b.culprits);
    for (std::size_t i = 0; i < a.dumps.size(); ++i) {
      ASSERT_EQ(a.dumps[i].entries.size(), b.dumps[i].entries.size());
      for (std::size_t e = 0; e < a.dumps[i].entries.size(); ++e) {
        EXPECT_EQ(a.dumps[i].entries[e].created_ns, b.dumps[i].entries[e].created_ns);
      }
    }
  }
}

TEST(FlightSimulator, SeedsDiffer) {
  std::set<std::string> topologies;
  std::set<FaultKind> faults;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SimulatedFlight flight = simulate_flight(seed);
    topologies.insert(flight.topology);
    faults.insert(*flight.fault);
  }
  EXPECT_GT(topologies.size(), 30U);
  EXPECT_GT(faults.size(), 12U);
}

TEST(FlightSimulator, HealthyJobsWorkOn) {
  std::size_t in_flight = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const SimulatedFlight flight = simulate_healthy(seed);
    EXPECT_TRUE(flight.culprits.empty());
    EXPECT_FALSE(flight.fault);
    for (const FlightDump& dump : flight.dumps) {
      expect_sound(dump);
      if (waits(dump)) ++in_flight;
    }
  }
  EXPECT_GT(in_flight, 100U) << "no dump was taken in the middle of work";
}

TEST(FlightSimulator, StragglersComeToTheirEnd) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SimulatedFlight flight = simulate_straggler(seed);
    EXPECT_EQ(flight.culprits.size(), 1U);
    for (const FlightDump& dump : flight.dumps) {
      expect_sound(dump);
      EXPECT_FALSE(waits(dump)) << seed;
    }
  }
}

TEST(FlightSimulator, TwoFaultsAreTwo) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SimulatedFlight flight = simulate_two_faults(seed);
    EXPECT_EQ(flight.culprits.size(), 2U);
    for (const FlightDump& dump : flight.dumps) expect_sound(dump);
  }
}

}  // namespace
}  // namespace muster
