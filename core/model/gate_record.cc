#include "core/model/gate_record.h"

#include <fmt/core.h>

#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::string_view kOutcomes[] = {"pass", "warn", "fail", "unknown", "skipped"};

void write_value(JsonWriter& w, std::string_view key, const std::optional<GateValue>& value) {
  if (!value) return;
  w.key(key);
  std::visit([&w](const auto& v) { w.value(v); }, *value);
}

std::optional<GateValue> read_value(JsonFields& fields, const JsonNode& object,
                                    std::string_view key) {
  const JsonNode* node = object.find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* number = node->get<std::int64_t>()) return *number;
  if (const auto* number = node->get<double>()) return *number;
  if (const auto* text = node->get<std::string>()) return *text;
  fields.complain(key, "neither a number nor a text");
  return std::nullopt;
}

GateCheck read_check(const JsonNode& node, JsonFields& fields) {
  GateCheck check;
  check.id = fields.require_text("id");
  check.outcome = static_cast<CheckOutcome>(fields.require_word("outcome", kOutcomes));
  check.value = read_value(fields, node, "value");
  check.limit = read_value(fields, node, "limit");
  check.unit = fields.text("unit").value_or("");
  check.duration_ms = fields.integer("duration_ms");
  return check;
}

}  // namespace

std::string_view check_outcome_name(CheckOutcome outcome) {
  return kOutcomes[static_cast<int>(outcome)];
}

std::string encode_gate_record(const GateRecord& record) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.gate/1").key("checks").begin_array();
  for (const GateCheck& check : record.checks) {
    w.begin_object().key("id").value(check.id);
    w.key("outcome").value(check_outcome_name(check.outcome));
    write_value(w, "value", check.value);
    write_value(w, "limit", check.limit);
    if (!check.unit.empty()) w.key("unit").value(check.unit);
    if (check.duration_ms) w.key("duration_ms").value(*check.duration_ms);
    w.end_object();
  }
  w.end_array();
  if (record.global_min_blocks) w.key("global_min_blocks").value(*record.global_min_blocks);
  w.key("versions").begin_object();
  for (const auto& [name, version] : record.versions) w.key(name).value(version);
  w.end_object().key("overrides").begin_array();
  for (const GateOverride& o : record.overrides) {
    w.begin_object().key("check").value(o.check).key("reason").value(o.reason).end_object();
  }
  w.end_array().end_object();
  return w.take();
}

Result<GateRecord> decode_gate_record(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.gate", 1); !known) return known.error();
  JsonFields fields(*document);
  GateRecord out;
  fields.require("checks");
  for (const JsonNode& node : fields.array("checks")) {
    JsonFields part(node, fmt::format("checks[{}].", out.checks.size()));
    out.checks.push_back(read_check(node, part));
    fields.adopt(part.fault());
  }
  out.global_min_blocks = fields.integer("global_min_blocks");
  for (const auto& [name, version] : fields.object("versions")) {
    const auto* text = version.get<std::string>();
    if (text == nullptr) fields.complain("versions", "not a text for each name");
    if (text != nullptr) out.versions.emplace(name, *text);
  }
  for (const JsonNode& node : fields.array("overrides")) {
    JsonFields part(node, fmt::format("overrides[{}].", out.overrides.size()));
    out.overrides.push_back({part.require_text("check"), part.require_text("reason")});
    if (out.overrides.back().reason.empty()) part.complain("reason", "empty");
    fields.adopt(part.fault());
  }
  if (fields.fault()) return *fields.fault();
  return out;
}

}  // namespace muster
