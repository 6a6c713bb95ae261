#include "core/cost/train_plan.h"
#include "core/model/json_writer.h"

namespace muster::cost {
namespace {

void write_row(JsonWriter& w, const TrainPlan& plan, const PlanRow& row) {
  w.begin_object().key("sharding").value(sharding_name(row.sharding));
  w.key("micro_batch").value(row.micro_batch).key("accumulation").value(row.accumulation);
  w.key("checkpointing").value(row.checkpointing);
  w.key("states_gb").value(row.states_gb).key("held_gb").value(row.held_gb);
  w.key("activations_gb").value(row.activations_gb).key("buffers_gb").value(row.buffers_gb);
  w.key("memory_gb").value(row.memory_gb()).key("fits").value(row.fits);
  w.key("save_gb").value(row.save_gb);
  w.key("received_gb").value(row.received_gb).key("network_s").value(row.network_s);
  w.key("compute_s").value(row.compute_s).key("step_s").value(row.step_s());
  w.key("tokens_per_s").value(plan.tokens_per_s(row)).key("wall").value(wall_name(row.wall));
  w.end_object();
}

}  // namespace

std::string encode_train_plan(const TrainPlan& plan) {
  const PlanRequest& r = plan.request;
  JsonWriter w;
  w.begin_object().key("schema").value("muster.plan/1").key("model").value(r.model.name);
  w.key("parameters").value(r.model.parameters());
  w.key("gpu").value(r.gpu).key("gpus").value(r.gpus).key("nodes").value(plan.nodes);
  w.key("assumed").begin_object();
  w.key("peak_tflops").value(r.peak_tflops).key("mfu").value(r.mfu);
  w.key("memory_gb").value(r.memory_gb).key("usable_memory").value(kUsableMemory);
  w.key("link_gb_s").value(r.link_gb_s).key("network_gb_s").value(r.network_gb_s).end_object();
  w.key("sequence").value(r.sequence).key("step_tokens").value(plan.step_tokens);
  w.key("bytes_per_parameter").value(plan.bytes_per_parameter);
  w.key("gradient_bytes").value(r.gradient_bytes).key("states_gb").value(plan.states_gb);
  w.key("rows").begin_array();
  for (const PlanRow& row : plan.rows) write_row(w, plan, row);
  w.end_array();
  w.key("best");
  if (plan.best) {
    w.value(std::uint64_t{*plan.best});
  } else {
    w.null();
  }
  w.key("advice").begin_array();
  for (const std::string& text : plan_advice(plan)) w.value(text);
  w.end_array().end_object();
  return w.take();
}

}  // namespace muster::cost
