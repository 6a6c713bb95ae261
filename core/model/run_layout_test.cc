#include "core/model/run_layout.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RunLayout, NamesEveryPart) {
  const RunLayout run("/data/r1//");
  EXPECT_EQ(run.run_toml(), "/data/r1/run.toml");
  EXPECT_EQ(run.attempts(), "/data/r1/attempts");
  EXPECT_EQ(run.gate_record(1), "/data/r1/attempts/1/gate.json");
  EXPECT_EQ(run.heartbeat(2, 31), "/data/r1/attempts/2/heartbeat/rank-31");
  EXPECT_EQ(run.verdict(2), "/data/r1/attempts/2/verdict.json");
  EXPECT_EQ(run.logs(2), "/data/r1/attempts/2/log");
  EXPECT_EQ(run.flight(2), "/data/r1/attempts/2/flight");
  EXPECT_EQ(run.evidence(2), "/data/r1/attempts/2/evidence");
  EXPECT_EQ(run.incident_json(2), "/data/r1/attempts/2/incident.json");
  EXPECT_EQ(run.incident_text(2), "/data/r1/attempts/2/incident.md");
  const auto in_home = RunLayout::in_home("/var/m", "qwen-8b.7");
  ASSERT_TRUE(in_home);
  EXPECT_EQ(in_home->folder(), "/var/m/runs/qwen-8b.7");
}

TEST(RunLayout, RefusesIdsThatAreNoPlainNames) {
  for (const char* id : {"a", "A7", "2026-08-01_run.3"}) EXPECT_TRUE(parse_run_id(id)) << id;
  EXPECT_TRUE(parse_run_id(std::string(64, 'a')));
  for (const char* id : {"", ".", "..", "../x", "a/b", "/a", "a\\b", "-rf", "_a", " a", "a b",
                         "a\n", "a$b", "\xc3\xa9"}) {
    EXPECT_FALSE(parse_run_id(id)) << id;
    EXPECT_FALSE(RunLayout::in_home("/h", id)) << id;
  }
  EXPECT_FALSE(parse_run_id(std::string(65, 'a')));
  EXPECT_FALSE(parse_run_id(std::string_view("a\0b", 3)));
}

TEST(RunLayout, ReadsNamesBack) {
  EXPECT_EQ(parse_rank_name("rank-0"), 0);
  EXPECT_EQ(parse_rank_name("rank-4095"), 4095);
  EXPECT_EQ(parse_attempt_name("12"), 12);
  for (const char* name : {"", "rank-", "rank--1", "rank-01", "rank-1.Xa3f9q", "Rank-1", "rank-1 ",
                           "rank-99999999999999999999"}) {
    EXPECT_FALSE(parse_rank_name(name)) << name;
  }
  for (const char* name : {"", "0", "-1", "01", "+1", "1.tmp", "one"}) {
    EXPECT_FALSE(parse_attempt_name(name)) << name;
  }
}

}  // namespace
}  // namespace muster
