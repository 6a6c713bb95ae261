#include "core/render/top_frame.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

namespace muster {
namespace {

FleetView fleet(int hosts, int gpus) {
  FleetView view;
  view.at = wall_from_ns(1'785'592'925'000'000'000);  // 14:02:05 UTC
  view.phase = Phase::compute;
  view.shape = Shape::uniform;
  view.phase_for = std::chrono::seconds(216);
  view.bands_source = "defaults for B300";
  view.step = 120;
  view.target_step = 300;
  for (int h = 0; h < hosts; ++h) {
    for (int i = 0; i < gpus; ++i) {
      GpuView g;
      g.host = "n" + std::to_string(h + 1);
      g.label = std::to_string(i);
      g.rank = h * gpus + i;
      g.model = "B300";
      g.power_w = Reading::of(1000 - h);
      g.power_limit_w = Reading::of(1100);
      g.util_percent = Reading::of(100);
      g.power_ratio = Reading::of(0.9);
      g.phase = Phase::compute;
      view.gpus.push_back(g);
    }
  }
  return view;
}

void expect_fits(const TopFrame& frame, const TopState& state) {
  EXPECT_LE(frame.lines.size(), state.rows);
  for (const FrameLine& line : frame.lines) {
    EXPECT_LE(line.text.size(), state.columns) << line.text;
    for (const char c : line.text) EXPECT_TRUE(c >= ' ' && c < 127) << int{c};
    std::size_t at = 0;
    for (const StyleSpan& span : line.spans) {
      EXPECT_TRUE(span.from >= at && span.from < span.to && span.to <= line.text.size())
          << line.text << " " << span.from << ".." << span.to;
      at = span.to;
    }
  }
}

std::string text_of(const TopFrame& frame) {
  std::string out;
  for (const FrameLine& line : frame.lines) out += line.text + "\n";
  return out;
}

TEST(TopFrame, ShowsARowForEachGpu) {
  FleetView view = fleet(2, 8);
  view.gpus[3].odd = true;
  const TopState state;
  const TopFrame frame = render_top(view, {}, state);
  expect_fits(frame, state);
  const std::string text = text_of(frame);
  EXPECT_EQ(frame.lines[0].text, "14:02:05 UTC  2 hosts  16 GPUs  B300  step 120 of 300");
  EXPECT_EQ(frame.lines[1].text, "COMPUTE  for 3 min 36 s  all alike  bands: defaults for B300");
  EXPECT_EQ(frame.lines[2].text, "OK  nothing wrong");
  EXPECT_NE(text.find("*n1   3      3 compute"), std::string::npos) << text;
  EXPECT_NE(text.find("999/1100"), std::string::npos) << text;
  EXPECT_EQ(frame.lines.size(), 21U);
  EXPECT_EQ(frame.scroll_max, 0U);
}

// What tells most stays whole: watts and utilization before bars and clocks.
TEST(TopFrame, NarrowWindowsLeaveOutWhatTellsLeast) {
  FleetView view = fleet(2, 8);
  view.gpus[3].odd = true;
  const struct {
    std::size_t columns, rows;
    const char* head;
    const char* row;
  } windows[] = {
      {40, 24, " host gpu phase             W/limit util", "*n1   3   compute         1000/1100"},
      {46, 24, " host gpu phase             W/limit util   age",
       "*n1   3   compute         1000/1100"},
      {51, 24, " host gpu rank phase             W/limit util   age",
       "*n1   3      3 compute         1000/1100"},
      {57, 24, " host gpu rank phase             W/limit util   MHz   age",
       "*n1   3      3 compute         1000/1100"},
      {72, 24, " host gpu rank phase             W/limit util   MHz    C mem%   age",
       "*n1   3      3 compute         1000/1100"},
      {73, 24, " host gpu rank phase           power   W/limit util   MHz    C mem%   age",
       "*n1   3      3 compute         ##### 1000/1100"},
      {40, 12, " host phase               W util  odd", "*n1   compute          1000"},
      {80, 12, " host gpus phase               W util   age  odd    power of each GPU",
       "*n1      8 compute"},
  };
  for (const auto& window : windows) {
    TopState state;
    state.columns = window.columns;
    state.rows = window.rows;
    const TopFrame frame = render_top(view, {}, state);
    expect_fits(frame, state);
    const std::string text = text_of(frame);
    EXPECT_NE(text.find(window.head), std::string::npos) << window.columns << "\n" << text;
    EXPECT_NE(text.find(window.row), std::string::npos) << window.columns << "\n" << text;
  }
}

// What was recorded long ago says so before anything else.
TEST(TopFrame, TellsOldDataFromNow) {
  FleetView view = fleet(1, 1);
  const TopState state;
  view.behind = std::chrono::minutes(2);
  EXPECT_TRUE(render_top(view, {}, state).lines[0].text.starts_with("14:02:05 UTC  1 host"));
  view.behind = std::chrono::seconds(121);
  EXPECT_EQ(render_top(view, {}, state).lines[0].text.substr(0, 48),
            "RECORDED 2026-08-01 14:02:05 UTC, 2 min 01 s ago");
  view.behind = std::chrono::hours(28 * 24 + 3);
  const TopFrame frame = render_top(view, {}, state);
  expect_fits(frame, state);
  EXPECT_TRUE(frame.lines[0].text.starts_with("RECORDED 2026-08-01 14:02:05 UTC, 28 d 3 h ago  1"));
  view.behind = -std::chrono::hours(3);  // a clock that is ahead
  EXPECT_TRUE(render_top(view, {}, state).lines[0].text.starts_with("14:02:05 UTC  1 host"));
}

TEST(TopFrame, CondensesToHostsAndScrolls) {
  const FleetView view = fleet(40, 8);
  TopState state;
  TopFrame frame = render_top(view, {}, state);
  expect_fits(frame, state);
  EXPECT_EQ(frame.lines.size(), 24U);
  EXPECT_EQ(frame.scroll_max, 21U);
  EXPECT_NE(frame.lines[4].text.find("n1 "), std::string::npos);
  EXPECT_NE(frame.lines.back().text.find("rows 1-19 of 40"), std::string::npos);
  state.scroll = 500;
  frame = render_top(view, {}, state);
  EXPECT_NE(frame.lines[22].text.find("n40 "), std::string::npos);
  state.sort = TopSort::power;
  state.scroll = 0;
  EXPECT_NE(render_top(view, {}, state).lines[4].text.find("n40 "), std::string::npos);
}

// Sixteen GPUs a host leave no room for bars: the odd ones are named.
TEST(TopFrame, ARowOfAHostNamesItsWorstPhaseAndItsOddGpus) {
  FleetView view = fleet(20, 16);
  view.gpus[3].odd = view.gpus[11].odd = true;
  view.gpus[11].phase = Phase::starved;
  view.gpus[12].phase = Phase::idle;
  view.gpus[16].phase = Phase::waiting;
  view.gpus[17].phase = Phase::hang_suspected;
  view.gpus[40].power_w = Reading::of(1);  // the median stands
  view.gpus[48].phase = Phase::communication;
  view.gpus[64].phase = Phase::unknown;
  for (std::size_t i = 80; i < 96; ++i) view.gpus[i].odd = true;
  const TopState state;
  const TopFrame frame = render_top(view, {}, state);
  expect_fits(frame, state);
  EXPECT_EQ(frame.lines[3].text,
            " host gpus phase               W util   age  odd" + std::string(80 - 48, ' '));
  const auto row = [&](std::size_t i) {
    const std::string& text = frame.lines[4 + i].text;
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  EXPECT_EQ(row(0), "*n1     16 starved          1000  100    0s  3 11");
  EXPECT_EQ(row(1), " n2     16 hang suspected    999  100    0s");
  EXPECT_EQ(row(2), " n3     16 compute           998  100    0s");
  EXPECT_EQ(row(3), " n4     16 communication     997  100    0s");
  EXPECT_EQ(row(4), " n5     16 unknown           996  100    0s");
  EXPECT_EQ(row(5),
            "*n6     16 compute           995  100    0s  "
            "0 1 2 3 4 5 6 7 8 9 10 11 12 13 +2");
  EXPECT_GE(frame.lines.size() - 5, 16U);
  EXPECT_NE(frame.lines.back().text.find("rows 1-19 of 20"), std::string::npos);
  // Eight a host: both.
  FleetView eight = fleet(20, 8);
  eight.gpus[3].odd = eight.gpus[4].odd = eight.gpus[5].odd = true;
  EXPECT_EQ(render_top(eight, {}, state).lines[4].text,
            "*n1      8 compute          1000  100    0s  3 4 5  ## ## ## ##*##*##*## ## ");
}

TEST(TopFrame, MissingAndOldValuesAreDashesAndComeFirst) {
  FleetView view = fleet(1, 4);
  view.gpus[2].stale = true;
  view.gpus[3].power_w = Reading::absent(Absence::lost);
  TopState state;
  state.sort = TopSort::power;
  const TopFrame frame = render_top(view, {}, state);
  expect_fits(frame, state);
  EXPECT_NE(frame.lines[4].text.find(" -/- "), std::string::npos) << frame.lines[4].text;
  EXPECT_NE(frame.lines[5].text.find(" -/1100 "), std::string::npos) << frame.lines[5].text;
  EXPECT_EQ(frame.lines[4].spans.front().style, FrameStyle::dim);
}

TEST(TopFrame, TheWorstFindingAndBlindnessAreOneLine) {
  Report report;
  report.blind.push_back({"n9", "no answer\x1b[2J", true});
  EXPECT_EQ(render_top({}, report, {}).lines[2].text,
            "UNKNOWN  1 source blind: n9: no answer\\x1b[2J");
  Finding mild, bad;
  mild.severity = Severity::info;
  mild.summary = "mild";
  bad.severity = Severity::critical;
  bad.confidence = Confidence::medium;
  bad.summary = "n1/3 hangs\nsince 14:00";
  report.findings = {mild, bad};
  const TopFrame frame = render_top({}, report, {});
  EXPECT_EQ(frame.lines[2].text, "CRITICAL (1 source blind)  n1/3 hangs\\nsince 14:00");
  EXPECT_EQ(frame.lines[2].spans.front(), (StyleSpan{0, 8, FrameStyle::alarm}));
}

// As in the report of triage, and told whole where the table leaves room.
TEST(TopFrame, AHintIsUnsureAndGoesOnBelow) {
  Report report;
  Finding hint;
  hint.severity = Severity::critical;
  hint.confidence = Confidence::low;
  hint.summary =
      "n4/2 at 0 %, the other 7 spin; power floor for 4 min 05 s: limit 2 min 00 s, no "
      "healthy wait is known; a hint only: a save looks the same";
  report.findings = {hint};
  const TopFrame frame = render_top({}, report, {});
  EXPECT_EQ(frame.lines[2].spans.front(), (StyleSpan{0, 6, FrameStyle::notice}));
  EXPECT_EQ(frame.lines[2].text.substr(0, 14), "UNSURE  n4/2 a");
  const std::string all = text_of(frame);
  EXPECT_NE(all.find("a save looks the same\n"), std::string::npos) << all;
  EXPECT_EQ(all.find('~'), std::string::npos) << all;
  expect_fits(frame, {});
  const TopFrame low = render_top(fleet(1, 8), report, {80, 13});
  EXPECT_NE(low.lines[2].text.find('~'), std::string::npos);
  Finding sure;
  sure.severity = Severity::warning;
  sure.confidence = Confidence::high;
  sure.summary = "a link went down";
  report.findings.push_back(sure);
  EXPECT_EQ(render_top({}, report, {}).lines[2].text, "WARNING  a link went down");
}

TEST(TopFrame, HostileTextAndNumbersFitInEveryWindow) {
  FleetView view = fleet(3, 9);
  view.gpus[0].host = std::string(300, 'x') + "\x1b]0;title\a";
  view.gpus[1].label = "\xff\xfe\n\t\xe2\x80\xae";
  view.gpus[2].power_w = Reading::of(std::numeric_limits<double>::quiet_NaN());
  view.gpus[3].power_ratio = Reading::of(-std::numeric_limits<double>::infinity());
  view.gpus[4].mem_used_bytes = Reading::of(1e300);
  view.gpus[4].mem_total_bytes = Reading::of(1e-300);
  view.gpus[5].age = Duration::max();
  view.gpus[6].age = Duration::min();
  view.gpus[7].rank = std::numeric_limits<int>::min();
  view.bands_source = "calibration \x1b[31m";
  for (std::size_t columns = 0; columns < 240; columns += 3) {
    for (const std::size_t rows : {0u, 1u, 7u, 8u, 24u, 60u}) {
      for (int sort = 0; sort < kTopSortCount; ++sort) {
        TopState state{columns, rows, static_cast<TopSort>(sort), 5, true, sort == 3, false};
        expect_fits(render_top(view, {}, state), state);
      }
    }
  }
  EXPECT_EQ(text_of(render_top(view, {}, {39, 24})), "window too small\n");
  EXPECT_EQ(text_of(render_top(view, {}, {80, 7})), "window too small\n");
}

}  // namespace
}  // namespace muster
