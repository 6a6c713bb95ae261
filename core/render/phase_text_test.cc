#include "core/render/phase_text.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/text.h"

namespace muster {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kNow = 1'785'592'925'000'000'000;  // 14:02:05 UTC

FleetView fleet(int hosts, int gpus) {
  FleetView view;
  view.at = wall_from_ns(kNow);
  view.bands_source = "defaults for B300";
  for (int h = 0; h < hosts; ++h) {
    for (int i = 0; i < gpus; ++i) {
      GpuView g;
      g.host = "n" + std::to_string(h + 1);
      g.label = std::to_string(i);
      g.model = "B300";
      g.power_w = Reading::of(193);
      g.util_percent = Reading::of(100);
      view.gpus.push_back(g);
    }
  }
  PhaseSegment s;
  s.phase = Phase::waiting;
  s.shape = Shape::one_zero;
  s.from = view.at - seconds(216);
  s.to = view.at;
  s.power_w_median = Reading::of(193.2);
  s.util_percent_median = Reading::of(100);
  s.odd = "n1/3";
  view.segments = {s};
  return view;
}

void expect_narrow(const std::string& text, std::size_t width) {
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), width) << line;
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << int{c};
}

TEST(PhaseText, NobodyIsNamedForNothing) {
  FleetView view = fleet(2, 8);
  for (const Shape shape : {Shape::none, Shape::uniform}) {
    view.segments[0].shape = shape;
    EXPECT_EQ(render_phase_text(view).find("n1/3"), std::string::npos);
  }
}

TEST(PhaseText, ShowsTheGridOfTwoHosts) {
  FleetView view = fleet(2, 8);
  view.gpus[3].util_percent = Reading::of(0);
  view.gpus[3].odd = true;
  EXPECT_EQ(render_phase_text(view),
            "14:02:05 UTC  n1 n2  16 GPUs  B300  bands: defaults for B300\n"
            "  phase   13:58:29 UTC  WAITING           193 W median  util 100 %  3 min 36 s\n"
            "          n1/3: one rank at 0 %\n"
            "  GPU     0    1    2    3    4    5    6    7\n"
            "  n1  W 193  193  193  193  193  193  193  193\n"
            "  n1  % 100  100  100    0* 100  100  100  100\n"
            "  n2  W 193  193  193  193  193  193  193  193\n"
            "  n2  % 100  100  100  100  100  100  100  100\n");
}

TEST(PhaseText, SaysWhyAValueIsMissing) {
  FleetView view = fleet(1, 3);
  view.segments.clear();
  view.gpus[0].power_w = Reading::absent(Absence::lost);
  view.gpus[1].stale = true;
  view.gpus[2].util_percent = Reading::absent(Absence::unsupported);
  const std::string text = render_phase_text(view);
  EXPECT_NE(text.find("  n1  W   -    -  193\n"), std::string::npos) << text;
  EXPECT_NE(text.find("power of 2 GPUs: several reasons\n"), std::string::npos) << text;
  view.gpus[1].stale = false;
  const std::string one = render_phase_text(view);
  EXPECT_NE(one.find("power of 1 GPU: GPU lost\n"), std::string::npos) << one;
  EXPECT_NE(one.find("utilization of 1 GPU: unsupported\n"), std::string::npos) << one;
}

TEST(PhaseText, ShowsSixteenHostsAndTheOddOneAmongThem) {
  FleetView view = fleet(40, 8);
  EXPECT_NE(render_phase_text(view).find("and 24 more hosts, all alike\n"), std::string::npos);
  view.gpus[39 * 8].odd = true;
  const std::string text = render_phase_text(view);
  EXPECT_NE(text.find("n40 % 100*"), std::string::npos) << text;
  EXPECT_NE(text.find("and 24 more hosts, all alike\n"), std::string::npos);
  for (GpuView& g : view.gpus) g.stale = true;
  EXPECT_NE(render_phase_text(view).find("24 with something odd, old or missing"),
            std::string::npos);
}

TEST(PhaseText, WrapsMoreThanEightGpusAndKeepsTheWidth) {
  FleetView view = fleet(1, 16);
  EXPECT_NE(render_phase_text(view).find("  GPU     8    9   10"), std::string::npos)
      << render_phase_text(view);
  for (GpuView& g : view.gpus) {
    g.host = "\x1b[2J" + std::string(200, 'h') + "\xe2\x80\xae";
    g.label = "0000:3b:00\r" + std::string(90, 'l');
    g.model = "model\n";
    g.power_w = Reading::of(1e300);
  }
  view.bands_source = std::string(300, 'b');
  view.segments.assign(64, view.segments[0]);
  view.segments.back().odd = std::string(300, 'o') + "\x1b";
  for (const std::size_t width : {60u, 80u, 132u}) {
    expect_narrow(render_phase_text(view, width), width);
  }
  EXPECT_NE(render_phase_text(view).find("58 earlier not shown"), std::string::npos);
}

TEST(PhaseText, HasNothingToSayOfNothing) {
  EXPECT_EQ(render_phase_text({}), "");
}

}  // namespace
}  // namespace muster
