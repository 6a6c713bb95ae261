#include "core/render/plot_svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/render/plot_frame.h"

namespace muster {
namespace {

constexpr int kWidth = 960, kHeight = 280, kLeft = 70, kTop = 40, kRight = 20, kBottom = 40;
constexpr int kHead = 40;

std::string xml(std::string_view text, std::size_t chars) {
  std::string out;
  for (const char c : escape_controls(text, chars)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  // U+FFFE and U+FFFF are valid UTF-8 and no characters of XML.
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = out.find(none); at != std::string::npos; at = out.find(none)) {
      out.replace(at, none.size(), "?");
    }
  }
  return out;
}

std::string label(int x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string one(const Plot& plot, int offset) {
  constexpr int kPixels = kWidth - kLeft - kRight, kRows = kHeight - kTop - kBottom;
  const PlotFrame frame = frame_plot(plot, kPixels);
  std::string out =
      label(kLeft, offset + 22, "start", xml(plot.title, 120) + ": " + xml(plot.y_name, 30));
  if (frame.columns.empty()) return out;
  const auto place = [&](double y) {
    const double share = (frame.y_high - y) / (frame.y_high - frame.y_low);
    return offset + kTop + std::clamp(share, 0.0, 1.0) * kRows;
  };
  out += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>\n", kLeft, offset + kTop,
                     offset + kTop + kRows, kLeft + kPixels);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = frame.y_low + share * (frame.y_high - frame.y_low);
    out += label(kLeft - 6, place(y) + 4, "end", plot_number(y));
  }
  for (const Plot::Mark& mark : plot.marks) {
    const int x = kLeft + static_cast<int>(plot_column(frame, mark.x));
    out += fmt::format("<path class=\"mark\" d=\"M{} {}V{}\"/>\n", x, offset + kTop,
                       offset + kTop + kRows);
    out += label(x + 3, offset + kTop + 10, "start", xml(mark.text, 20));
  }
  std::string path;
  for (std::size_t i = 0; i < frame.columns.size(); ++i) {
    const PlotColumn& column = frame.columns[i];
    if (!column.any) continue;
    path += fmt::format("M{} {:.1f}V{:.1f}", kLeft + static_cast<int>(i), place(column.high) - 0.7,
                        place(column.low) + 0.7);
  }
  out += "<path class=\"curve\" d=\"" + path + "\"/>\n";
  const double below = offset + kTop + kRows + 16;
  out += label(kLeft, below, "start", fmt::format("{} {:.0f}", xml(plot.x_name, 20), frame.x_low));
  out += label(kLeft + kPixels, below, "end", fmt::format("{:.0f}", frame.x_high));
  return out;
}

}  // namespace

std::string render_svg(const std::vector<Plot>& plots, const std::string& answer) {
  const int height = kHead + kHeight * static_cast<int>(std::min<std::size_t>(plots.size(), 64));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<style>.curve{{stroke:#1f6feb;fill:none}}.axis{{stroke:#888;fill:none}}"
      ".mark{{stroke:#c33;stroke-dasharray:3 3;fill:none}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, height);
  out += label(kLeft, 24, "start", xml(answer, 150));
  for (std::size_t i = 0; i < plots.size() && i < 64; ++i) {
    out += one(plots[i], kHead + kHeight * static_cast<int>(i));
  }
  return out + "</svg>\n";
}

}  // namespace muster
