#include "core/model/verdict.h"

#include "base/timestamp.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"
#include "core/model/report_json.h"

namespace muster {
namespace {

constexpr std::string_view kStates[] = {"starting",  "running", "saving",  "evaluating", "slow",
                                        "suspected", "hung",    "crashed", "done",       "blind"};
constexpr std::string_view kRecommendations[] = {"none", "stop", "restart", "restart_excluding"};

}  // namespace

std::string_view run_state_name(RunState state) {
  return kStates[static_cast<int>(state)];
}
std::string_view recommendation_name(Recommendation recommendation) {
  return kRecommendations[static_cast<int>(recommendation)];
}

std::string encode_verdict(const Verdict& verdict) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.verdict/1");
  w.key("state").value(run_state_name(verdict.state));
  w.key("since").value(format_rfc3339(verdict.since, true));
  w.key("report");
  write_report(w, verdict.report);
  w.key("recommend").value(recommendation_name(verdict.recommend));
  w.key("exclude").begin_array();
  for (const std::string& host : verdict.exclude) w.value(host);
  w.end_array().key("resume_from");
  verdict.resume_from ? w.value(*verdict.resume_from) : w.null();
  w.end_object();
  return w.take();
}

Result<Verdict> decode_verdict(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.verdict", 1); !known) return known.error();
  JsonFields fields(*document);
  Verdict out;
  out.state = static_cast<RunState>(fields.require_word("state", kStates));
  const auto since = parse_timestamp(fields.require_text("since"));
  if (!since || !since->has_zone || !since->has_date) {
    fields.complain("since", "not a date and time with its zone");
  } else {
    out.since = since->at;
  }
  if (const JsonNode* report = fields.require("report")) {
    auto read = read_report(*report, "report.");
    if (!read) return read.error();
    out.report = std::move(*read);
  }
  out.recommend = static_cast<Recommendation>(fields.require_word("recommend", kRecommendations));
  out.exclude = fields.texts("exclude");
  if (out.exclude.empty() == (out.recommend == Recommendation::restart_excluding)) {
    fields.complain("exclude", "names hosts with restart_excluding, and only then");
  }
  out.resume_from = fields.text("resume_from");
  if (fields.fault()) return *fields.fault();
  return out;
}

}  // namespace muster
