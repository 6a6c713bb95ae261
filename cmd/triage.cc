#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "app/triage_run.h"
#include "base/text.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "edge/config/calibration_file.h"

namespace muster {
namespace {

// One line to paste on a host that has nothing but the driver.
constexpr std::string_view kSampler =
    "nvidia-smi --query-gpu=timestamp,index,uuid,pci.bus_id,name,power.draw,power.limit,"
    "utilization.gpu,utilization.memory,clocks.sm,temperature.gpu,memory.used,"
    "clocks_throttle_reasons.active,pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max --format=csv -lms 1000 > \"$(hostname).csv\"\n";

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster triage n1.csv n2.csv                 two hosts, one run\n"
    "  muster triage n1=a.csv n2=b.csv --steps train.log\n"
    "  nvidia-smi --query-gpu=... --format=csv | muster triage -\n"
    "  muster triage power.csv --columns time=time_ms,host=node,node_power_w=power_w\n"
    "  muster triage run.csv --calibration good.toml --json\n"
    "\n"
    "A hang is the power floor without one busy sample for max(120 s, 1.5 x the longest healthy\n"
    "wait + 30 s). --rule two-samples calls it after two samples in the shape of a hang; on six\n"
    "healthy runs of ten minutes that rule gave 0 to 3.1 false alarms a run at 30 s a sample and\n"
    "2.0 to 16.6 at 5 s, where saves are frequent.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class TriageVerb final : public Verb {
 public:
  std::string_view name() const override { return "triage"; }
  std::string_view summary() const override {
    return "from power and utilization: which phase is this run in, who is odd?";
  }

  void declare(VerbOptions& options) override {
    telemetry_.declare(options);
    options.text("--calibration", &calibration_, "FILE",
                 "bands and waits of a known-good run (muster calibrate)");
    options.choice("--rule", &rule_, {"continuous", "two-samples"}, "when a wait is a hang");
    options.flag("--print-sampler", &print_sampler_,
                 "print the one-line nvidia-smi sampler for a host that has nothing else");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (print_sampler_) {
      console.print(kSampler);
      return ExitStatus::ok;
    }
    auto request = telemetry_.request();
    if (!request) {
      console.complain(request.error().context);
      return ExitStatus::usage;
    }
    if (rule_ == "two-samples") request->triage_options.rule = HangRule::two_samples;
    if (!calibration_.empty()) {
      auto calibration = read_calibration(real_files(), calibration_);
      if (!calibration) return console.fail(calibration.error());
      request->triage_options.calibration = std::move(*calibration);
    }
    const auto answer = triage_once(*request, real_files(), system_clock());
    if (!answer) return console.fail(answer.error());
    return console.answer(answer->report);
  }

 private:
  TelemetryOptions telemetry_;
  std::string calibration_, rule_ = "continuous";
  bool print_sampler_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_triage_verb() { return std::make_unique<TriageVerb>(); }

}  // namespace muster
