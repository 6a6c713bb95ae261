#include "train/run/step_report.h"

#include <fmt/core.h>

#include <vector>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/model/json_writer.h"
#include "train/run/event_file_writer.h"

namespace muster::train {
namespace {

std::int64_t wall_ms(WallTime at) {
  return wall_to_ns(at) / 1'000'000;
}

JsonWriter begin_line(WallTime at) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.metrics/1").key("wall_ms").value(wall_ms(at));
  return w;
}

void put(JsonWriter& w, std::string_view key, std::optional<double> value) {
  if (value) w.key(key).value(*value);
}

}  // namespace

std::optional<double> StepReport::tokens_per_s() const {
  if (!(step_s > 0)) return std::nullopt;
  return static_cast<double>(step_tokens) / step_s;
}

std::string step_line(const StepReport& r) {
  std::string line = fmt::format("{} step {}/{}", format_rfc3339(r.at), r.step, r.target_step);
  if (r.skipped == StepReport::Skipped::no_labels) {
    line += " | no labels";  // so no loss, and nothing that went wrong
  } else {
    line += fmt::format(" | loss {}", r.loss ? fmt::format("{:.4f}", *r.loss) : "nan");
    line += fmt::format(" | norm {}", r.grad_norm ? fmt::format("{:.3f}", *r.grad_norm) : "nan");
  }
  line += fmt::format(" | lr {:.2e}", r.learning_rate);
  if (const auto rate = r.tokens_per_s()) {
    line += fmt::format(" | {:.0f} tok/s | {:.0f} tok/s/rank", *rate,
                        *rate / static_cast<double>(r.ranks));
  }
  if (r.mfu) line += fmt::format(" | mfu {:.1f}%", *r.mfu * 100);
  line += fmt::format(" | time {:.0f} ms | data {:.0f} ms | wait {:.0f} ms", r.step_s * 1e3,
                      r.data_s * 1e3, r.wait_s * 1e3);
  if (r.skipped == StepReport::Skipped::not_finite)
    line += " | not applied: the gradient is not finite";
  return line + "\n";
}

std::string step_metrics(const StepReport& r) {
  JsonWriter w = begin_line(r.at);
  w.key("step").value(r.step).key("target_step").value(r.target_step);
  put(w, "loss", r.loss);
  put(w, "grad_norm", r.grad_norm);
  w.key("lr").value(r.learning_rate);
  w.key("step_tokens").value(r.step_tokens).key("tokens").value(r.tokens);
  w.key("ranks").value(r.ranks);
  put(w, "tokens_per_s", r.tokens_per_s());
  put(w, "mfu", r.mfu);
  w.key("step_ms").value(r.step_s * 1e3).key("data_ms").value(r.data_s * 1e3);
  w.key("wait_ms").value(r.wait_s * 1e3);
  if (r.skipped != StepReport::Skipped::no) w.key("skipped").value(true);
  w.end_object();
  return w.take() + "\n";
}

std::string step_event(const StepReport& r) {
  std::vector<EventScalar> scalars;
  if (r.loss) scalars.push_back({"train/loss", *r.loss});
  if (r.grad_norm) scalars.push_back({"train/grad_norm", *r.grad_norm});
  scalars.push_back({"train/learning_rate", r.learning_rate});
  if (const auto rate = r.tokens_per_s()) scalars.push_back({"train/tokens_per_sec", *rate});
  if (r.mfu) scalars.push_back({"train/mfu", *r.mfu});
  scalars.push_back({"train/step_time", r.step_s});
  scalars.push_back({"train/data_time", r.data_s});
  scalars.push_back({"train/wait_time", r.wait_s});
  return event_record(r.at, r.step, scalars);
}

std::string event_line(const RunEvent& e) {
  const std::string text = escape_controls(e.text);
  std::string said = text;
  if (e.name == "save_begin") said = fmt::format("saving checkpoint step={} to {}", e.step, text);
  if (e.name == "save_end") {
    said = fmt::format("checkpoint step={} done", e.step);
    if (e.duration_s) said += fmt::format(" in {:.1f} s", *e.duration_s);
  }
  if (e.name == "restarted") said = "resume from " + text;
  if (e.name == "finished") said = "Training complete" + (text.empty() ? text : ": " + text);
  return format_rfc3339(e.at) + " " + said + "\n";
}

std::string event_metrics(const RunEvent& e) {
  JsonWriter w = begin_line(e.at);
  w.key("event").value(e.name).key("step").value(e.step);
  put(w, "duration_s", e.duration_s);
  if (!e.text.empty()) w.key("text").value(e.text);
  w.end_object();
  return w.take() + "\n";
}

}  // namespace muster::train
