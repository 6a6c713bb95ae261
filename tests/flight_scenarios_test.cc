#include "tests/support/flight_scenarios.h"

#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace {

const FlightScenario& find(const std::string& name) {
  static const std::vector<FlightScenario> kAll = flight_scenarios();
  for (const FlightScenario& s : kAll) {
    if (s.name == name) return s;
  }
  ADD_FAILURE() << "no scenario " << name;
  return kAll.front();
}

const FlightEntry* first_waiting(const FlightDump& dump) {
  for (const FlightEntry& e : dump.entries) {
    if (e.state != FlightState::completed) return &e;
  }
  return nullptr;
}

TEST(FlightScenarios, AreWhole) {
  std::set<std::string> names;
  for (const FlightScenario& s : flight_scenarios()) {
    SCOPED_TRACE(s.name);
    EXPECT_TRUE(names.insert(s.name).second);
    EXPECT_NE(s.dumps.empty(), s.files.empty());
    for (const FlightDump& dump : s.dumps) EXPECT_FALSE(dump.entries.empty());
  }
  EXPECT_GE(names.size(), 30U);
}

TEST(FlightScenarios, LeftTheLoopMeetsTheOthersAtOneNumber) {
  const FlightScenario& s = find("01_left_the_loop");
  ASSERT_EQ(s.dumps.size(), 16U);
  const std::int64_t seq = first_waiting(s.dumps[0])->seq;
  for (const FlightDump& dump : s.dumps) {
    const FlightEntry* e = first_waiting(dump);
    ASSERT_TRUE(e);
    EXPECT_EQ(e->seq, seq);
    EXPECT_EQ(dump.signatures[e->signature].name,
              *dump.rank == 3 ? "nccl:all_reduce" : "nccl:_reduce_scatter_base");
  }
}

TEST(FlightScenarios, TheLateRankHasNothingOpen) {
  const FlightScenario& s = find("03_data_loader");
  for (const FlightDump& dump : s.dumps) {
    const FlightEntry* e = first_waiting(dump);
    if (*dump.rank == 5) {
      EXPECT_FALSE(e);
      EXPECT_EQ(dump.entries.back().seq, 12);
    } else {
      ASSERT_TRUE(e);
      EXPECT_EQ(e->seq, 13);
    }
  }
}

TEST(FlightScenarios, StagesWaitForEachOther) {
  const FlightScenario& s = find("08_both_stages_send_first");
  const auto waiting = [&s](std::size_t rank) {
    const FlightEntry* e = first_waiting(s.dumps[rank]);
    return e ? s.dumps[rank].signatures[e->signature].name : std::string();
  };
  EXPECT_EQ(waiting(0), "nccl:recv 0<-1");
  EXPECT_EQ(waiting(1), "nccl:send 1->2");
  EXPECT_EQ(waiting(2), "nccl:send 2->1");
  EXPECT_EQ(waiting(3), "nccl:recv 3<-2");
}

TEST(FlightScenarios, StartedTellsTheHosts) {
  for (const FlightDump& dump : find("07c_started_on_one_host").dumps) {
    const FlightEntry* e = first_waiting(dump);
    ASSERT_TRUE(e);
    EXPECT_EQ(e->seq, 13);
    EXPECT_EQ(e->state, *dump.rank < 8 ? FlightState::started : FlightState::scheduled);
  }
}

TEST(FlightScenarios, RingsWrapAtDifferentRecords) {
  const FlightScenario& s = find("11_wrapped_rings");
  for (const FlightDump& dump : s.dumps) EXPECT_EQ(dump.entries.size(), 12U);
  EXPECT_NE(s.dumps[0].entries[0].record_id, s.dumps[2].entries[0].record_id);
}

TEST(FlightScenarios, TheHugeFileIsHuge) {
  EXPECT_GT(huge_flight_file().size(), 10'000'000U);
}

}  // namespace
}  // namespace muster
