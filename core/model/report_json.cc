#include "core/model/report_json.h"

#include "base/timestamp.h"
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

}  // namespace

std::string encode_report(const Report& report) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.report/1").key("verb").value(report.verb);
  w.key("findings").begin_array();
  for (const Finding& f : report.findings) write_finding(w, f);
  w.end_array().key("blind").begin_array();
  for (const Blind& b : report.blind) {
    w.begin_object().key("source").value(b.source).key("reason").value(b.reason).end_object();
  }
  w.end_array().key("notes").begin_array();
  for (const std::string& note : report.notes) w.value(note);
  w.end_array().end_object();
  return w.take();
}

}  // namespace muster
