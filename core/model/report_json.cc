#include "core/model/report_json.h"

#include <fmt/core.h>

#include <array>

#include "base/timestamp.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

void write_culprits(JsonWriter& w, const std::vector<Culprit>& culprits) {
  w.key("culprits").begin_array();
  for (const Culprit& c : culprits) {
    w.begin_object().key("kind").value(culprit_kind_name(c.kind));
    if (c.kind != CulpritKind::none && c.kind != CulpritKind::unknown) w.key("id").value(c.id);
    w.end_object();
  }
  w.end_array();
}

void write_finding(JsonWriter& w, const Finding& f) {
  w.begin_object();
  w.key("severity").value(severity_name(f.severity));
  w.key("confidence").value(confidence_name(f.confidence));
  w.key("cause").value(cause_name(f.cause));
  write_culprits(w, f.culprits);
  w.key("summary").value(f.summary);
  w.key("since");
  f.since ? w.value(format_rfc3339(*f.since, true)) : w.null();
  w.key("evidence").begin_array();
  for (const Evidence& e : f.evidence) {
    w.begin_object().key("source").value(e.source).key("line");
    e.line ? w.value(*e.line) : w.null();
    w.key("text").value(e.text).end_object();
  }
  w.end_array().key("actions").begin_array();
  for (const Action a : f.actions) w.value(action_name(a));
  w.end_array().key("next").value(f.next).end_object();
}

constexpr std::array kSeverities = {severity_name(Severity::ok), severity_name(Severity::info),
                                    severity_name(Severity::warning),
                                    severity_name(Severity::critical)};
constexpr std::array kConfidences = {confidence_name(Confidence::low),
                                     confidence_name(Confidence::medium),
                                     confidence_name(Confidence::high)};

std::span<const std::string_view> culprit_words() {
  constexpr int kCount = static_cast<int>(CulpritKind::unknown) + 1;
  static const auto kWords = [] {
    std::array<std::string_view, kCount> words;
    for (int i = 0; i < kCount; ++i) {
      words[static_cast<std::size_t>(i)] = culprit_kind_name(static_cast<CulpritKind>(i));
    }
    return words;
  }();
  return kWords;
}

Culprit read_culprit(JsonFields& fields) {
  Culprit culprit;
  culprit.kind = static_cast<CulpritKind>(fields.require_word("kind", culprit_words()));
  if (culprit.kind != CulpritKind::none && culprit.kind != CulpritKind::unknown) {
    culprit.id = fields.require_text("id");
  }
  return culprit;
}

void read_names(JsonFields& fields, Finding& out) {
  const std::string cause_text = fields.require_text("cause");
  const auto cause = cause_from_name(cause_text);
  if (!cause) fields.complain("cause", "not in the list of causes");
  out.cause = cause.value_or(Cause::undetermined);
  for (const std::string& name : fields.texts("actions")) {
    const auto action = action_from_name(name);
    if (!action) fields.complain("actions", "not in the list of actions");
    out.actions.push_back(action.value_or(Action::none));
  }
}

Finding read_finding(JsonFields& fields, const std::string& where) {
  Finding out;
  out.severity = static_cast<Severity>(fields.require_word("severity", kSeverities));
  out.confidence = static_cast<Confidence>(fields.require_word("confidence", kConfidences));
  read_names(fields, out);
  for (const JsonNode& node : fields.array("culprits")) {
    JsonFields part(node, fmt::format("{}culprits[{}].", where, out.culprits.size()));
    out.culprits.push_back(read_culprit(part));
    fields.adopt(part.fault());
  }
  out.summary = fields.require_text("summary");
  if (const auto since = fields.text("since")) {
    const auto time = parse_timestamp(*since);
    if (!time || !time->has_zone || !time->has_date) {
      fields.complain("since", "not a date and time with its zone");
    } else {
      out.since = time->at;
    }
  }
  for (const JsonNode& node : fields.array("evidence")) {
    JsonFields part(node, fmt::format("{}evidence[{}].", where, out.evidence.size()));
    Evidence evidence;
    evidence.source = part.require_text("source");
    evidence.line = part.unsigned_integer("line");
    evidence.text = part.require_text("text");
    out.evidence.push_back(std::move(evidence));
    fields.adopt(part.fault());
  }
  out.next = fields.text("next").value_or("");
  return out;
}

}  // namespace

void write_report_fields(JsonWriter& w, const Report& report) {
  w.key("schema").value("muster.report/1").key("verb").value(report.verb);
  w.key("findings").begin_array();
  for (const Finding& f : report.findings) write_finding(w, f);
  w.end_array().key("blind").begin_array();
  for (const Blind& b : report.blind) {
    w.begin_object().key("source").value(b.source).key("reason").value(b.reason);
    w.key("hides_critical").value(b.hides_critical).end_object();
  }
  w.end_array().key("notes").begin_array();
  for (const std::string& note : report.notes) w.value(note);
  w.end_array();
}

void write_report(JsonWriter& w, const Report& report) {
  w.begin_object();
  write_report_fields(w, report);
  w.end_object();
}

std::string encode_report(const Report& report) {
  JsonWriter w;
  write_report(w, report);
  return w.take();
}

Result<Report> read_report(const JsonNode& node, const std::string& where) {
  if (Status known = check_schema(node, "muster.report", 1); !known) return known.error();
  JsonFields fields(node, where);
  Report out;
  out.verb = fields.require_text("verb");
  fields.require("findings");
  for (const JsonNode& item : fields.array("findings")) {
    const std::string place = fmt::format("{}findings[{}].", where, out.findings.size());
    JsonFields part(item, place);
    out.findings.push_back(read_finding(part, place));
    fields.adopt(part.fault());
  }
  // A report without "blind" does not say that all was seen: a reader must not take it for that.
  fields.require("blind");
  for (const JsonNode& item : fields.array("blind")) {
    JsonFields part(item, fmt::format("{}blind[{}].", where, out.blind.size()));
    Blind blind;
    blind.source = part.require_text("source");
    blind.reason = part.require_text("reason");
    // Where nobody says: what was not seen may have been critical, and is never counted as healthy.
    blind.hides_critical = part.boolean("hides_critical").value_or(true);
    out.blind.push_back(std::move(blind));
    fields.adopt(part.fault());
  }
  out.notes = fields.texts("notes");
  if (fields.fault()) return *fields.fault();
  return out;
}

Result<Report> decode_report(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  return read_report(*document, "");
}

}  // namespace muster
