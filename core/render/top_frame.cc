#include "core/render/top_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/render/cells.h"
#include "core/render/moment_text.h"
#include "core/render/top_table.h"

namespace muster {
namespace {

constexpr std::size_t kLeastColumns = 40, kLeastRows = 8;
constexpr std::size_t kAroundTable = 5;  // run, phase, finding, names of the columns, keys
constexpr std::size_t kMoreOfFinding = 3;

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

// The same word as in the report: what is not sure is no alarm.
bool is_unsure(const Finding& f) {
  return f.confidence == Confidence::low && f.severity >= Severity::warning;
}

// The first line of what is told, with its word in its style; nothing is cut here.
struct Told {
  std::string text;
  std::size_t styled;
  FrameStyle style;
};

Told told_of(const Report& report) {
  const std::size_t blind = report.blind.size();
  const std::string unread =
      blind == 0 ? "" : fmt::format("{} source{} blind", blind, blind == 1 ? "" : "s");
  if (report.findings.empty()) {
    if (blind == 0) return {"OK  nothing wrong", 2, FrameStyle::good};
    return {"UNKNOWN  " + unread + ": " + report.blind.front().source + ": " +
                report.blind.front().reason,
            7, FrameStyle::warning};
  }
  std::vector<Finding> findings = report.findings;
  sort_findings(findings);
  const Finding& worst = findings.front();
  const std::string word = is_unsure(worst) ? "UNSURE" : upper(severity_name(worst.severity));
  const std::string mark = blind == 0 ? "" : " (" + unread + ")";
  return {word + mark + "  " + worst.summary, word.size(),
          is_unsure(worst) ? FrameStyle::notice : severity_style(worst.severity)};
}

// Broken at blanks on up to `more` further lines; the last one is cut.
std::vector<FrameLine> finding_lines(const Report& report, std::size_t columns, std::size_t more) {
  const Told told = told_of(report);
  std::vector<FrameLine> lines;
  std::string rest = escape_controls(told.text);
  while (lines.size() < more && rest.size() > columns) {
    const std::size_t end = rest.rfind(' ', columns);
    if (end == std::string::npos || end < columns / 2) break;
    lines.push_back(line_of(rest.substr(0, end), columns, 0, {}));
    rest = "  " + rest.substr(end + 1);
  }
  lines.push_back(line_of(rest, columns, 0, {}));
  lines.front().spans = {{0, std::min(told.styled, lines.front().text.size()), told.style}};
  return lines;
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
  // The finding goes on below where the table leaves room.
  const std::size_t used = kAroundTable + view.gpus.size();
  const std::size_t spare = state.rows > used ? state.rows - used : 0;
  const std::vector<FrameLine> told =
      finding_lines(report, state.columns, std::min(kMoreOfFinding, spare));
  const std::size_t room = state.rows - kAroundTable - (told.size() - 1);
  const TopTable table = make_top_table(view, state.sort, state.columns, room);
  TopFrame frame;
  frame.scroll_max = table.rows.size() > room ? table.rows.size() - room : 0;
  const std::size_t first = std::min(state.scroll, frame.scroll_max);
  const std::size_t shown = std::min(room, table.rows.size());
  frame.lines = {run_line(view, state), phase_line(view, state.columns)};
  frame.lines.insert(frame.lines.end(), told.begin(), told.end());
  frame.lines.push_back(table.head);
  frame.lines.back().spans = {{0, frame.lines.back().text.size(), FrameStyle::title}};
  for (std::size_t i = 0; i < shown; ++i) frame.lines.push_back(table.rows[first + i]);
  frame.lines.push_back(key_line(state, shown, table.rows.size(), first));
  return frame;
}

}  // namespace muster
