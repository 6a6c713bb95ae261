#include "core/render/report_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/timestamp.h"

namespace muster {
namespace {

constexpr std::size_t kSourceColumns = 28;
constexpr std::size_t kCulpritsShown = 16;
// Where an evidence line goes on, and on how many lines.
constexpr std::size_t kBelow = 12, kMoreLines = 2;

std::string_view label(Severity s) {
  constexpr std::string_view kNames[] = {"OK", "INFO", "WARNING", "CRITICAL"};
  return kNames[static_cast<int>(s)];
}

std::string_view colour_of(Severity s) {
  constexpr std::string_view kCodes[] = {"\x1b[32m", "\x1b[36m", "\x1b[33m", "\x1b[1;31m"};
  return kCodes[static_cast<int>(s)];
}

// Words of `text` broken at blanks so that no line passes `width`; later lines start at `indent`.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// The end of a long path tells more than its beginning: "...flight/trace_rank_3".
std::string source_text(const std::string& source) {
  std::string text = escape_controls(source);
  if (text.size() <= kSourceColumns) return text;
  std::size_t from = text.size() - (kSourceColumns - 3);
  const std::size_t slash = text.find('/', from - 1);
  if (slash != std::string::npos && slash + 1 < text.size()) from = slash + 1;
  const auto inside = [&] { return (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80; };
  while (from < text.size() && inside()) ++from;
  return "..." + text.substr(from);
}

// The text of an evidence line behind `used` columns: what has no room there goes on below, on at
// most kMoreLines lines.
std::string evidence_text(const std::string& text, std::size_t used, std::size_t width) {
  const std::size_t below = std::max(width, kBelow + 20) - kBelow;
  std::string out, rest = escape_controls(text);
  for (std::size_t line = 0; line <= kMoreLines; ++line) {
    const std::size_t room = line > 0 ? below : width > used + 10 ? width - used : 10;
    if (line > 0) out += "\n" + std::string(kBelow, ' ');
    if (rest.size() <= room || line == kMoreLines) return out + escape_controls(rest, room);
    std::size_t end = rest.rfind(' ', room);
    // One word that fills the line is broken where it must be.
    const bool word = end == std::string::npos || end == 0;
    if (word) end = room;
    while (word && end > 1 && (static_cast<unsigned char>(rest[end]) & 0xC0) == 0x80) --end;
    out += rest.substr(0, end);
    rest.erase(0, word ? end : end + 1);
  }
  return out;
}

std::string culprit_text(const std::vector<Culprit>& culprits) {
  std::string out;
  std::size_t named = 0;
  for (const Culprit& c : culprits) {
    if (c.kind == CulpritKind::none) continue;
    if (++named > kCulpritsShown) continue;
    if (!out.empty()) out += ", ";
    out += culprit_kind_name(c.kind);
    if (c.kind != CulpritKind::unknown) out += " " + escape_controls(c.id, 120);
  }
  if (named > kCulpritsShown) out += fmt::format(" and {} more", named - kCulpritsShown);
  return out;
}

void render_finding(const Finding& f, const TextStyle& style, std::string& out) {
  // A hint is no alarm: whoever reads only the first word does nothing rash.
  const bool unsure = f.confidence == Confidence::low && f.severity >= Severity::warning;
  const std::string_view on = !style.colour ? "" : unsure ? "\x1b[36m" : colour_of(f.severity);
  const std::string_view off = style.colour ? "\x1b[0m" : "";
  out += fmt::format("{}{:<8}{}  {}\n", on, unsure ? "UNSURE" : label(f.severity), off,
                     wrap(escape_controls(f.summary, 600), 10, style.width));
  std::string what =
      fmt::format("{}, {} confidence", cause_name(f.cause), confidence_name(f.confidence));
  if (f.since) what += ", since " + format_rfc3339(*f.since);
  out += "  cause   " + wrap(what, 10, style.width) + "\n";
  if (const std::string who = culprit_text(f.culprits); !who.empty()) {
    out += "  who     " + wrap(who, 10, style.width) + "\n";
  }
  std::string_view head = "  seen    ";
  for (const Evidence& e : f.evidence) {
    std::string where = source_text(e.source);
    if (e.line) where += fmt::format(":{}", *e.line);
    if (!where.empty()) where += "  ";
    out +=
        fmt::format("{}{}{}\n", head, where, evidence_text(e.text, 10 + where.size(), style.width));
    head = "          ";
  }
  if (!f.next.empty())
    out += "  next    " + wrap(escape_controls(f.next, 600), 10, style.width) + "\n";
}

// In step with exit_status_of().
std::string nothing_found(const Report& report, std::size_t width) {
  const auto hides = std::find_if(report.blind.begin(), report.blind.end(),
                                  [](const Blind& b) { return b.hides_critical; });
  if (hides != report.blind.end()) {
    return "UNKNOWN   " +
           wrap(fmt::format("cannot tell: {} could not be used ({})",
                            escape_controls(hides->source, 100),
                            escape_controls(hides->reason, 300)),
                10, width) +
           "\n";
  }
  return report.blind.empty() ? "OK        nothing wrong in what was read\n"
                              : "OK        nothing wrong in what was read; see blind\n";
}

}  // namespace

std::string render_report(const Report& report, const TextStyle& style) {
  std::string out;
  if (report.findings.empty()) out += nothing_found(report, style.width);
  for (const Finding& f : report.findings) render_finding(f, style, out);
  for (const Blind& b : report.blind) {
    out += "  blind   " +
           wrap(escape_controls(b.source, 100) + ": " + escape_controls(b.reason, 300), 10,
                style.width) +
           "\n";
  }
  for (const std::string& note : report.notes) {
    out += "  read    " + wrap(escape_controls(note, 400), 10, style.width) + "\n";
  }
  return out;
}

}  // namespace muster
