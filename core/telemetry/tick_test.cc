#include "core/telemetry/tick.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

SeriesIdentity b300(int index) {
  SeriesIdentity who;
  who.host = "n1";
  who.index = index;
  who.name = "NVIDIA B300 SXM6 AC";
  return who;
}

// What the field report says of a B300 (1100 W), row by row.
struct Row {
  const char* name;
  std::vector<double> watts;  // one: all the same
  std::vector<double> utils;
  Phase phase;
  Shape shape;
  int odd;  // -1: nobody
};

TickVerdict judge(const Row& row) {
  std::vector<TickInput> inputs;
  for (int i = 0; i < 8; ++i) {
    const auto n = static_cast<std::size_t>(i);
    TickInput in;
    in.id = static_cast<SeriesId>(i);
    const Bands bands = bands_for(b300(i), Reading::of(1100), 0, {});
    in.level = bands.level_of(Reading::of(row.watts.size() == 1 ? row.watts[0] : row.watts[n]));
    if (!row.utils.empty()) in.util_percent = row.utils.size() == 1 ? row.utils[0] : row.utils[n];
    in.rank0 = i == 0;
    inputs.push_back(in);
  }
  return judge_tick(inputs);
}

TEST(JudgeTick, TheSeedsTableOfB300) {
  const Row rows[] = {
      {"compute, low end", {940}, {100}, Phase::compute, Shape::uniform, -1},
      {"compute, high end", {1040}, {100}, Phase::compute, Shape::uniform, -1},
      {"communication", {640}, {100}, Phase::communication, Shape::uniform, -1},
      {"starved", {575}, {55, 100, 80, 100, 62, 97, 71, 100}, Phase::starved, Shape::scatter, -1},
      {"one at rest, the others busy above the floor",
       {400, 400, 190, 400, 400, 400, 400, 400},
       {100, 100, 0, 100, 100, 99, 100, 100},
       Phase::waiting,
       Shape::one_zero,
       2},
      {"two at rest",
       {400, 400, 190, 400, 400, 190, 400, 400},
       {100, 100, 0, 100, 100, 0, 100, 100},
       Phase::starved,
       Shape::scatter,
       -1},
      {"save, low end",
       {190},
       {0, 100, 100, 100, 100, 100, 100, 100},
       Phase::checkpoint_wait,
       Shape::rank0_zero,
       0},
      {"deadlock",
       {195},
       {100, 100, 100, 0, 100, 100, 100, 100},
       Phase::waiting,
       Shape::one_zero,
       3},
      {"idle", {135}, {0}, Phase::idle, Shape::uniform, -1},
      {"context, no kernels", {183}, {0}, Phase::context_idle, Shape::uniform, -1},
      {"all spin", {192}, {100}, Phase::waiting, Shape::all_spinning, -1},
      {"half apart",
       {192},
       {0, 0, 0, 0, 100, 100, 100, 100},
       Phase::waiting,
       Shape::several_zero,
       -1},
      {"power alone at the floor", {192}, {}, Phase::waiting, Shape::none, -1},
      {"power alone at full", {980}, {}, Phase::compute, Shape::uniform, -1},
      {"one GPU low",
       {990, 985, 600, 1000, 970, 990, 985, 1001},
       {100},
       Phase::compute,
       Shape::one_low,
       2},
      {"one works, the rest wait",
       {190, 190, 190, 190, 190, 900, 190, 190},
       {100},
       Phase::waiting,
       Shape::one_busy,
       5},
  };
  for (const Row& row : rows) {
    const TickVerdict v = judge(row);
    EXPECT_EQ(v.phase, row.phase) << row.name << ": " << phase_name(v.phase);
    EXPECT_EQ(v.shape, row.shape) << row.name << ": " << shape_name(v.shape);
    EXPECT_EQ(v.odd ? static_cast<int>(*v.odd) : -1, row.odd) << row.name;
  }
}

// Whole hosts by power alone: one in ten may have a floor of its own.
TEST(JudgeTick, NodesWaitWhereNearlyAllDo) {
  using enum PowerLevel;
  struct NodesRow {
    const char* name;
    std::size_t low, mid, high;
    bool at_floor, busy;
  };
  const NodesRow rows[] = {
      {"all at the floor", 8, 0, 0, true, false},
      {"one above it", 7, 1, 0, true, false},
      {"one at full power", 7, 0, 1, false, true},
      {"two of eight above it", 6, 2, 0, false, false},
      {"one of three is too many", 2, 1, 0, false, true},
      {"one of four", 3, 1, 0, true, false},
      {"four of 46", 42, 4, 0, true, false},
      {"three of eight above it", 5, 3, 0, false, true},
      {"five of 46", 41, 5, 0, false, false},
      {"four of 46, and one computes", 41, 4, 1, false, true},
  };
  for (const NodesRow& row : rows) {
    std::vector<TickInput> inputs;
    const auto add = [&](std::size_t count, PowerLevel level) {
      for (std::size_t i = 0; i < count; ++i) {
        TickInput in;
        in.id = static_cast<SeriesId>(inputs.size());
        in.level = level;
        in.whole_node = true;
        inputs.push_back(in);
      }
    };
    add(row.low, floor), add(row.mid, mid), add(row.high, high);
    EXPECT_EQ(judge_tick(inputs).at_floor, row.at_floor) << row.name;
    EXPECT_EQ(judge_tick(inputs).busy, row.busy) << row.name;
    for (TickInput& in : inputs) in.whole_node = false;
    EXPECT_EQ(judge_tick(inputs).at_floor, row.low == inputs.size()) << row.name << ", GPUs";
  }
}

TEST(JudgeTick, CannotTellFromNothing) {
  EXPECT_EQ(judge_tick({}).phase, Phase::unknown);
  TickInput in;
  in.util_percent = 100;
  EXPECT_EQ(judge_tick({&in, 1}).phase, Phase::unknown) << "utilization alone lies";
  in.level = PowerLevel::high;
  in.levels_proven = false;
  EXPECT_EQ(judge_tick({&in, 1}).phase, Phase::unknown) << "one level is no band";
}

TEST(Bands, OfSeveralLimitsTheNearest) {
  Calibration c;
  c.bands.push_back({"NVIDIA B300 SXM6 AC", 1100.0, 140, 220, 700, 985, 0.04, 100});
  c.bands.push_back({"NVIDIA B300 SXM6 AC", 700.0, 130, 200, 500, 640, 0.04, 300});
  c.bands.push_back({"NVIDIA B300 SXM6 AC", std::nullopt, 1, 2, 3, 4, 0.04, 9});
  struct LimitRow {
    const char* name;
    std::optional<double> limit_w;
    double wait_max_w;
  };
  const LimitRow rows[] = {
      {"the first's own", 1100, 220},      {"the second's own", 700, 200},
      {"nearer to the second", 770, 220},  {"nearer to the first", 1000, 220},
      {"not told: most samples", {}, 200}, {"0 W is not told", 0, 200},
  };
  for (const LimitRow& row : rows) {
    const Reading limit = row.limit_w ? Reading::of(*row.limit_w) : Reading();
    for (const SeriesIdentity& who : {b300(0), SeriesIdentity{}}) {
      EXPECT_NEAR(bands_for(who, limit, 0, c).wait_max_w, row.wait_max_w, 1e-9) << row.name;
    }
  }
}

TEST(Bands, BestSourceFirst) {
  Calibration none;
  EXPECT_FALSE(bands_for({}, {}, 0, none).known);
  EXPECT_TRUE(bands_for({}, {}, 990, none).relative);
  EXPECT_EQ(bands_for(b300(0), {}, 0, none).full_w, 1100);
  EXPECT_EQ(bands_for(b300(0), Reading::of(900), 0, none).full_w, 900) << "a cap moves the bands";
  Calibration c;
  c.bands.push_back({"NVIDIA B300 SXM6 AC", 1100.0, 140, 220, 700, 985, 0.04, 100});
  EXPECT_EQ(bands_for(b300(0), Reading::of(550), 0, c).wait_max_w, 220)
      << "a cap leaves the floor where it is";
  EXPECT_EQ(bands_for(b300(0), Reading::of(550), 0, c).compute_min_w, 350) << "scaled by the limit";
  SeriesIdentity other = b300(0);
  other.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(bands_for(other, Reading::of(700), 0, c).source, "defaults of the model");
}

// An H100 spins at 152 W, holds a context at 121 W and rests at 70 W under any cap.
TEST(Bands, ACapLeavesTheFloor) {
  struct CapRow {
    double limit_w, power_w;
    PowerLevel level;
  };
  const CapRow rows[] = {
      {700, 70, PowerLevel::idle},   {700, 121, PowerLevel::floor}, {700, 152, PowerLevel::floor},
      {700, 420, PowerLevel::mid},   {700, 620, PowerLevel::high},  {500, 70, PowerLevel::idle},
      {500, 121, PowerLevel::floor}, {500, 155, PowerLevel::floor}, {500, 250, PowerLevel::mid},
      {500, 490, PowerLevel::high},  {400, 155, PowerLevel::floor}, {400, 392, PowerLevel::high},
      {300, 70, PowerLevel::idle},   {300, 155, PowerLevel::floor}, {300, 190, PowerLevel::mid},
      {300, 294, PowerLevel::high},
  };
  SeriesIdentity who = b300(0);
  who.name = "NVIDIA H100 80GB HBM3";
  for (const CapRow& row : rows) {
    const Bands bands = bands_for(who, Reading::of(row.limit_w), 0, {});
    EXPECT_EQ(bands.level_of(Reading::of(row.power_w)), row.level)
        << row.power_w << " of " << row.limit_w << " W";
  }
}

}  // namespace
}  // namespace muster
