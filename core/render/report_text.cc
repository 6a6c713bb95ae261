#include "core/render/report_text.h"

#include <fmt/core.h>

#include "base/text.h"
#include "base/timestamp.h"

namespace muster {
namespace {

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

std::string culprit_text(const std::vector<Culprit>& culprits) {
  std::string out;
  for (const Culprit& c : culprits) {
    if (c.kind == CulpritKind::none) continue;
    if (!out.empty()) out += ", ";
    out += culprit_kind_name(c.kind);
    if (c.kind != CulpritKind::unknown) out += " " + escape_controls(c.id, 120);
  }
  return out;
}

void render_finding(const Finding& f, const TextStyle& style, std::string& out) {
  const std::string_view on = style.colour ? colour_of(f.severity) : "";
  const std::string_view off = style.colour ? "\x1b[0m" : "";
  out += fmt::format("{}{:<8}{}  {}\n", on, label(f.severity), off,
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
    std::string where = escape_controls(e.source, 60);
    if (e.line) where += fmt::format(":{}", *e.line);
    if (!where.empty()) where += "  ";
    const std::size_t used = 10 + where.size();
    const std::size_t room = style.width > used + 24 ? style.width - used - 3 : 24;
    out += fmt::format("{}{}{}\n", head, where, escape_controls(e.text, room));
    head = "          ";
  }
  if (!f.next.empty())
    out += "  next    " + wrap(escape_controls(f.next, 600), 10, style.width) + "\n";
}

}  // namespace

std::string render_report(const Report& report, const TextStyle& style) {
  std::string out;
  if (report.findings.empty()) {
    out += report.blind.empty() ? "OK        nothing wrong in what was read\n"
                                : "UNKNOWN   nothing wrong in what could be read; see blind\n";
  }
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
