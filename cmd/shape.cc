#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/shape_run.h"
#include "cmd/verbs.h"
#include "core/render/plot_svg.h"
#include "core/render/plot_text.h"

namespace muster {
namespace {

constexpr std::size_t kPlotLines = 12;  // beside an answer of some ten lines on 24

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster shape train.log                        what slows this run, and since when?\n"
    "  muster shape steps.csv config.txt nccl.log    with what stands beside the curve\n"
    "  muster shape train.log --expect 4.95s         slower than it should be from the start?\n"
    "  muster shape train.log --params 32e9 --gpu B300 --gpus 16    MFU as well\n"
    "  muster shape tb/events.out.tfevents.* --json | jq .findings[0]\n"
    "  muster shape train.log --svg curve.svg        on a terminal the curve is drawn anyway\n"
    "  kubectl logs trainer-0 | muster shape -\n"
    "  muster shape t.csv --columns step=it,step_time=t_ms:ms\n"
    "\n"
    "Files are known by their content: logs of trainers, tables (CSV), answers of Prometheus\n"
    "(query_range), event files of TensorBoard; settings, environments, NCCL's INFO lines and "
    "notes\n"
    "of restarts are evidence beside them.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class ShapeVerb final : public Verb {
 public:
  std::string_view name() const override { return "shape"; }
  std::string_view summary() const override {
    return "the curve of step times: dips, sag, steps, floors, and their causes";
  }

  void declare(VerbOptions& options) override {
    options.positionals("FILE", &request_.paths,
                        "logs, tables and what stands beside; any mixture");
    options.text("--expect", &expect_, "SPEED",
                 "what the run should reach: 4.95s a step, 53000tok/s, 40% MFU");
    options.text("--params", &params_, "N", "parameters of the model (32e9, 0.6B), to compute MFU");
    options.text("--gpu", &gpu_, "MODEL", "the GPU that MFU is computed for: H100, B200, ...");
    options.integer("--gpus", &gpus_, "N",
                    "GPUs that make the printed tokens per second together (1: printed for each)");
    options.text("--columns", &columns_, "ROLE=NAME,...",
                 "columns of a table, where their names do not tell: step, step_time, tokens, ...");
    options.text("--pattern", &pattern_, "REGEX",
                 "step lines of an unknown log; groups step, total, loss, tps, dt, mfu, epoch");
    options.text("--svg", &svg_, "FILE", "the curves as a picture");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (request_.paths.empty()) {
      console.complain("name a log, a table or an event file, or - (muster shape --help)");
      return ExitStatus::usage;
    }
    if (std::find(request_.paths.begin(), request_.paths.end(), svg_) != request_.paths.end()) {
      console.complain(svg_ + ": the picture would overwrite what it is drawn from");
      return ExitStatus::usage;
    }
    auto columns = parse_step_columns(columns_);
    if (!columns) return refuse(console, columns.error());
    request_.input.columns = std::move(*columns);
    if (!pattern_.empty()) {
      auto pattern = UserPattern::compile(pattern_);
      if (!pattern) return refuse(console, pattern.error());
      request_.input.pattern = std::move(*pattern);
    }
    if (!expect_.empty()) {
      auto expected = shape::parse_expectation(expect_);
      if (!expected) return refuse(console, expected.error());
      request_.expected = std::move(*expected);
    }
    if (!params_.empty() || !gpu_.empty()) {
      auto model = model_size();
      if (!model) return refuse(console, model.error());
      request_.model = *model;
    }
    const auto answer = shape_once(request_, real_files());
    if (!answer) return console.fail(answer.error());
    if (!svg_.empty()) {
      const std::string line =
          answer->report.findings.empty() ? "" : answer->report.findings.front().summary;
      const Status written = real_files().write_atomic(svg_, render_svg(answer->plots, line));
      if (!written) {
        console.complain(written.error().context);
        return ExitStatus::storage;
      }
    }
    const ExitStatus status = console.answer(answer->report);
    if (console.json() || !console.terminal()) return status;
    constexpr std::size_t kPlots = 3;  // more do not fit on a screen
    for (std::size_t i = 0; i < std::min(kPlots, answer->plots.size()); ++i) {
      console.print(render_plot(
          answer->plots[i],
          {.width = console.width(), .height = kPlotLines, .unicode = console.unicode()}));
    }
    return status;
  }

 private:
  static ExitStatus refuse(Console& console, const Error& error) {
    console.complain(error.context);
    return ExitStatus::usage;
  }

  Result<shape::ModelSize> model_size() const {
    if (params_.empty() || gpu_.empty()) {
      return make_error(Errc::invalid_input, "MFU needs both --params and --gpu");
    }
    const auto parameters = shape::parse_parameters(params_);
    if (!parameters) return parameters.error();
    const GpuPeak* peak = find_gpu_peak(gpu_);
    if (peak == nullptr) {
      std::string names;
      for (const GpuPeak& one : gpu_peak_table()) {
        names += (names.empty() ? "" : ", ") + std::string(one.name);
      }
      return make_error(Errc::invalid_input, "--gpu: no peak is known of it; known are " + names);
    }
    if (gpus_ < 1 || gpus_ > 10'000'000) {
      return make_error(Errc::invalid_input, "--gpus is a number from 1 on");
    }
    return shape::ModelSize{*parameters, peak, static_cast<double>(gpus_)};
  }

  ShapeRequest request_;
  std::string expect_, columns_, pattern_, svg_, params_, gpu_;
  std::int64_t gpus_ = 1;
};

}  // namespace

std::unique_ptr<Verb> make_shape_verb() {
  return std::make_unique<ShapeVerb>();
}

}  // namespace muster
