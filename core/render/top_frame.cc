#include "core/render/top_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/timestamp.h"
#include "core/render/cells.h"
#include "core/render/moment_text.h"
#include "core/render/top_table.h"

namespace muster {
namespace {

constexpr std::size_t kLeastColumns = 40, kLeastRows = 8;
constexpr std::size_t kAroundTable = 5;  // run, phase, finding, names of the columns, keys

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

FrameStyle severity_style(Severity severity) {
  constexpr FrameStyle kStyles[] = {FrameStyle::good, FrameStyle::notice, FrameStyle::warning,
                                    FrameStyle::alarm};
  return kStyles[static_cast<int>(severity)];
}

// A line whose first `styled` columns carry `style`.
FrameLine line_of(std::string_view text, std::size_t columns, std::size_t styled,
                  FrameStyle style) {
  FrameLine line{plain_cell(text, columns), {}};
  if (styled > 0) line.spans.push_back({0, std::min(styled, line.text.size()), style});
  return line;
}

FrameLine run_line(const FleetView& view, const TopState& state) {
  std::set<std::string_view> hosts, models;
  for (const GpuView& g : view.gpus) {
    hosts.insert(g.host);
    if (!g.model.empty()) models.insert(g.model);
  }
  std::string text = moment_text(view);
  const std::size_t styled = text.size();
  if (state.paused) text += "  PAUSED";
  text += fmt::format("  {} host{}  {} GPU{}", hosts.size(), hosts.size() == 1 ? "" : "s",
                      view.gpus.size(), view.gpus.size() == 1 ? "" : "s");
  if (models.size() == 1) text += "  " + plain_cell(*models.begin(), 24);
  if (models.size() > 1) text += fmt::format("  {} models", models.size());
  if (view.step) text += fmt::format("  step {}", *view.step);
  if (view.step && view.target_step) text += fmt::format(" of {}", *view.target_step);
  return line_of(text, state.columns, styled, FrameStyle::title);
}

FrameLine phase_line(const FleetView& view, std::size_t columns) {
  const std::string phase = upper(phase_name(view.phase));
  std::string text = phase + "  for " + format_duration(view.phase_for);
  if (view.shape != Shape::none) text += fmt::format("  {}", shape_name(view.shape));
  if (!view.bands_source.empty()) text += "  bands: " + view.bands_source;
  return line_of(text, columns, phase.size(), phase_style(view.phase));
}

FrameLine finding_line(const Report& report, std::size_t columns) {
  const std::size_t blind = report.blind.size();
  const std::string unread =
      blind == 0 ? "" : fmt::format("{} source{} blind", blind, blind == 1 ? "" : "s");
  const auto worst =
      std::max_element(report.findings.begin(), report.findings.end(),
                       [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  if (worst == report.findings.end()) {
    if (blind == 0) return line_of("OK  nothing wrong", columns, 2, FrameStyle::good);
    return line_of("UNKNOWN  " + unread + ": " + report.blind.front().source + ": " +
                       report.blind.front().reason,
                   columns, 7, FrameStyle::warning);
  }
  const std::string word = upper(severity_name(worst->severity));
  const std::string mark = blind == 0 ? "" : " (" + unread + ")";
  return line_of(word + mark + "  " + worst->summary, columns, word.size(),
                 severity_style(worst->severity));
}

FrameLine key_line(const TopState& state, std::size_t shown, std::size_t all, std::size_t scroll) {
  constexpr std::string_view kSorts[] = {"host", "power", "util", "age"};
  std::string text =
      fmt::format("q quit  s sort: {}  p {}  h help", kSorts[static_cast<int>(state.sort)],
                  state.paused ? "go on" : "pause");
  if (shown < all) {
    text += fmt::format("  arrows: rows {}-{} of {}", scroll + 1, scroll + shown, all);
  }
  return line_of(text, state.columns, state.columns, FrameStyle::dim);
}

TopFrame help_frame(const TopState& state) {
  constexpr std::string_view kHelp[] = {
      "q             leave",
      "s             sort by host, least power, least utilization, oldest value",
      "arrows, PgUp, PgDn   move through the table",
      "p             stop the picture; reading goes on",
      "h             this page",
      "*  stands out among its peers     -  missing or too old to be judged",
      "bar: power as a share of the limit (or of this run's compute level)"};
  TopFrame frame;
  for (const std::string_view text : kHelp)
    frame.lines.push_back(line_of(text, state.columns, 0, {}));
  return frame;
}

}  // namespace

TopFrame render_top(const FleetView& view, const Report& report, const TopState& state) {
  if (state.columns < kLeastColumns || state.rows < kLeastRows) {
    TopFrame small;
    if (state.rows > 0) small.lines.push_back(line_of("window too small", state.columns, 0, {}));
    return small;
  }
  if (state.help) return help_frame(state);
  const std::size_t room = state.rows - kAroundTable;
  const TopTable table = make_top_table(view, state.sort, state.columns, room);
  TopFrame frame;
  frame.scroll_max = table.rows.size() > room ? table.rows.size() - room : 0;
  const std::size_t first = std::min(state.scroll, frame.scroll_max);
  const std::size_t shown = std::min(room, table.rows.size());
  frame.lines = {run_line(view, state), phase_line(view, state.columns),
                 finding_line(report, state.columns), table.head};
  frame.lines.back().spans = {{0, frame.lines.back().text.size(), FrameStyle::title}};
  for (std::size_t i = 0; i < shown; ++i) frame.lines.push_back(table.rows[first + i]);
  frame.lines.push_back(key_line(state, shown, table.rows.size(), first));
  return frame;
}

}  // namespace muster
