#include "core/model/heartbeat.h"

#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::string_view kPhases[] = {"init",      "data", "forward", "backward",
                                        "optimizer", "save", "eval",    "done"};

}  // namespace

std::string_view rank_phase_name(RankPhase phase) {
  return kPhases[static_cast<int>(phase)];
}

std::string encode_heartbeat(const Heartbeat& heartbeat) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.heartbeat/1");
  w.key("rank").value(heartbeat.rank).key("attempt").value(heartbeat.attempt);
  w.key("step").value(heartbeat.step);
  if (heartbeat.target_step) w.key("target_step").value(*heartbeat.target_step);
  w.key("phase").value(rank_phase_name(heartbeat.phase));
  w.key("wall_ms").value(heartbeat.wall_ms);
  if (heartbeat.tokens) w.key("tokens").value(*heartbeat.tokens);
  if (heartbeat.loss) w.key("loss").value(*heartbeat.loss);
  w.end_object();
  return w.take();
}

Result<Heartbeat> decode_heartbeat(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.heartbeat", 1); !known) return known.error();
  JsonFields fields(*document);
  Heartbeat out;
  out.rank = fields.require_integer("rank");
  out.attempt = fields.require_integer("attempt", 1);
  out.step = fields.require_integer("step");
  out.target_step = fields.integer("target_step");
  out.phase = static_cast<RankPhase>(fields.require_word("phase", kPhases));
  out.wall_ms = fields.require_integer("wall_ms");
  out.tokens = fields.integer("tokens");
  out.loss = fields.number("loss");
  if (fields.fault()) return *fields.fault();
  return out;
}

}  // namespace muster
