#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/text.h"
#include "core/render/plot_frame.h"
#include "core/render/plot_svg.h"
#include "core/render/plot_text.h"

namespace muster {
namespace {

Plot wave(int points) {
  Plot plot{"train.log", "step", "s a step", {}, {}, {{0, "restart"}, {points / 2.0, "slower"}}};
  for (int i = 0; i < points; ++i) {
    plot.x.push_back(i);
    plot.y.push_back(5 + std::sin(i * 0.1));
  }
  return plot;
}

// Columns of a line: bytes that begin a character.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

TEST(Plot, NothingToDraw) {
  EXPECT_EQ(render_plot({}, {}), "");
  Plot plot = wave(3);
  plot.y.assign(3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(render_plot(plot, {}), "");
  plot.y.assign(3, std::numeric_limits<double>::infinity());
  EXPECT_EQ(render_plot(plot, {}), "");
  plot.y.clear();
  EXPECT_EQ(render_plot(plot, {}), "");
  EXPECT_NE(render_svg({plot}, "").find("</svg>"), std::string::npos);
}

TEST(Plot, FitsTheTerminal) {
  for (const int points : {1, 2, 50, 1000}) {
    for (const std::size_t width : {0u, 40u, 80u, 160u}) {
      for (const bool unicode : {false, true}) {
        const std::string text = render_plot(wave(points), {width, 12, unicode});
        const std::size_t widest = std::max<std::size_t>(width, 40);
        ASSERT_TRUE(text.ends_with('\n'));
        const auto lines = split(trim(text), '\n');
        EXPECT_EQ(lines.size(), 12u);
        for (const std::string_view line : lines) EXPECT_LE(columns(line), widest) << line;
        if (!unicode) {
          EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; }));
        }
      }
    }
  }
}

TEST(Plot, ShowsTheShape) {
  Plot plot{"t", "step", "s", {}, {}, {}};
  for (int i = 0; i < 100; ++i) {
    plot.x.push_back(i);
    plot.y.push_back(i < 50 ? 1 : 2);
  }
  const std::string text = render_plot(plot, {.width = 60, .height = 8, .unicode = false});
  const auto lines = split(text, '\n');
  EXPECT_EQ(lines[0], "t  s");
  EXPECT_EQ(lines[1].substr(0, 9), "   2.00 +");
  EXPECT_EQ(lines[1].find('*'), 34u) << "the second half, high" << text;
  EXPECT_EQ(lines[5].find('*'), 9u) << "the first half, low" << text;
  EXPECT_TRUE(lines[6].find("step 0") != std::string_view::npos && lines[6].ends_with("99"));
}

TEST(Plot, OneSlowStepDoesNotFlattenTheRest) {
  Plot plot = wave(400);
  plot.y[0] = 1000;
  const PlotFrame frame = frame_plot(plot, 80);
  EXPECT_LT(frame.y_high, 10);
  EXPECT_EQ(frame.above, 1u);
  EXPECT_NE(render_plot(plot, {}).find('^'), std::string::npos);
}

TEST(Plot, TextFromOutsideIsEscaped) {
  Plot plot = wave(10);
  plot.title = "a\x1b[31m<script>&\"'\xff\n";
  plot.y_name = "<b>";
  plot.marks = {{3, "</svg>\x07"}};
  const std::string text = render_plot(plot, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  const std::string svg = render_svg({plot, plot}, "x < y & z\xef\xbf\xbf");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("\xef\xbf\xbf"), std::string::npos);
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7) << "once, at the end";
  EXPECT_NE(svg.find("x &lt; y &amp; z?"), std::string::npos);
  EXPECT_EQ(svg.find("http"), svg.find("http://www.w3.org/2000/svg")) << "nothing from elsewhere";
  EXPECT_EQ(svg.find("http", svg.find("http") + 1), std::string::npos);
}

TEST(Plot, Numbers) {
  EXPECT_EQ(plot_number(0), "0.00");
  EXPECT_EQ(plot_number(4.951), "4.95");
  EXPECT_EQ(plot_number(53088), "53.1k");
  EXPECT_EQ(plot_number(1.5e7), "15.0M");
  for (const double value : {-1e300, 1e-300, 123456.0, -99.9, 1e9}) {
    EXPECT_LE(plot_number(value).size(), 7u) << value;
  }
}

}  // namespace
}  // namespace muster
