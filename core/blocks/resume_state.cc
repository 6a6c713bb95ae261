#include "core/blocks/resume_state.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::blocks {

std::string encode_resume_state(const ResumeState& state) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.pack_state/1");
  w.key("manifest").value(state.manifest).key("seed").value(state.seed);
  w.key("epoch").value(state.epoch).key("step").value(state.step);
  w.key("global_batch").value(state.global_batch).end_object();
  return w.take();
}

Result<ResumeState> decode_resume_state(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.pack_state", 1); !known) return known.error();
  JsonFields fields(*document);
  ResumeState out;
  out.manifest = fields.require_text("manifest");
  for (const std::string_view key : {"seed", "epoch", "step", "global_batch"}) fields.require(key);
  out.seed = fields.unsigned_integer("seed").value_or(0);
  out.epoch = fields.unsigned_integer("epoch").value_or(0);
  out.step = fields.unsigned_integer("step").value_or(0);
  out.global_batch = fields.unsigned_integer("global_batch").value_or(0);
  if (out.global_batch == 0 || out.global_batch > limits::kPackGlobalBatch) {
    fields.complain("global_batch", "out of range");
  }
  if (!parse_hash(out.manifest)) fields.complain("manifest", "no hash of a pack");
  if (fields.fault()) return *fields.fault();
  return out;
}

Status check_resume(const ResumeState& state, std::string_view manifest, std::uint64_t global_batch,
                    std::uint64_t steps) {
  if (state.manifest != manifest) {
    return make_error(Errc::invalid_input,
                      fmt::format("the state is of the pack {}, this is {}: going on would skip "
                                  "blocks that were never seen",
                                  escape_controls(state.manifest, 64), manifest));
  }
  if (state.global_batch != global_batch) {
    return make_error(Errc::invalid_input,
                      fmt::format("the state counts steps of {} blocks, this run takes {} a step",
                                  state.global_batch, global_batch));
  }
  if (state.step > steps) {
    return make_error(Errc::invalid_input,
                      fmt::format("step {} is beyond the {} steps of an epoch", state.step, steps));
  }
  return {};
}

}  // namespace muster::blocks
