#include "cmd/plan_screen.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cmd/pack_screen.h"

namespace muster {
namespace {

std::string rate_text(double tokens_per_s) {
  return tokens_per_s < 1e6 ? fmt::format("{:.1f}k", tokens_per_s / 1e3)
                            : fmt::format("{:.2f}M", tokens_per_s / 1e6);
}

std::string row_text(const cost::TrainPlan& plan, std::size_t i) {
  const cost::PlanRow& row = plan.rows[i];
  const std::string name = fmt::format("{}{}", cost::sharding_name(row.sharding),
                                       row.checkpointing ? ", checkpointing" : "");
  return fmt::format("{} {:<21} {:>3} x {:<3} {:>7.1f} {:>8.0f} {:>8.2f} {:>8.2f} {:>7}  {}\n",
                     plan.best == i ? '*' : ' ', name, row.micro_batch, row.accumulation,
                     row.memory_gb(), row.received_gb, row.network_s, row.compute_s,
                     rate_text(plan.tokens_per_s(row)),
                     row.fits ? cost::wall_name(row.wall) : "too large");
}

// Lines of at most 80 columns, the later ones indented.
std::string wrapped(std::string_view label, std::string_view text) {
  constexpr std::size_t kWidth = 80, kIndent = 10;
  std::string out, line = fmt::format("  {:<8}", label);
  std::size_t words = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (words > 0 && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = std::string(kIndent, ' ');
      words = 0;
    }
    if (words++ > 0) line += ' ';
    line += word;
  }
  return out + line + "\n";
}

}  // namespace

std::string plan_screen(const cost::TrainPlan& plan) {
  const cost::PlanRequest& r = plan.request;
  const cost::PlanRow& asked = plan.rows.front();
  std::string text = fmt::format("{}  {:.2f} G parameters  {} x {} ({} node{})  {} tokens a step\n",
                                 escape_controls(r.model.name, 40),
                                 static_cast<double>(r.model.parameters()) / 1e9, r.gpus, r.gpu,
                                 plan.nodes, plan.nodes == 1 ? "" : "s", grouped(plan.step_tokens));
  text += wrapped(
      "states",
      fmt::format("{} bytes a parameter (weights 2, gradients {}, master 4, moments "
                  "8): {:.0f} GB, {:.1f} GB a GPU",
                  plan.bytes_per_parameter, r.gradient_bytes, plan.states_gb, asked.states_gb));
  text +=
      wrapped("memory", fmt::format("{:.1f} GB of {:.0f} a GPU: states {:.1f}, activations {:.1f}, "
                                    "buffers {:.1f}",
                                    asked.memory_gb(), r.memory_gb, asked.states_gb,
                                    asked.activations_gb, asked.buffers_gb));
  text += wrapped("step",
                  fmt::format("{:.2f} s, {} tok/s, {} a GPU", asked.step_s(),
                              rate_text(plan.tokens_per_s(asked)),
                              rate_text(plan.tokens_per_s(asked) / static_cast<double>(r.gpus))));
  text += "  plan                  micro x   GB each GB moved  network  compute   tok/s  wall\n";
  for (std::size_t i = 0; i < plan.rows.size(); ++i) text += row_text(plan, i);
  for (const std::string& line : cost::plan_advice(plan)) text += wrapped("so", line);
  text += wrapped("assumed",
                  fmt::format("{:.0f} TFLOP/s dense BF16 at {:.0f} % MFU where nothing waits; "
                              "NVLink {:.0f} GB/s, network {:.0f} GB/s a GPU; the network hides "
                              "behind compute (--mfu, --network, --memory)",
                              r.peak_tflops, r.mfu * 100, r.link_gb_s, r.network_gb_s));
  return text;
}

}  // namespace muster
