#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "app/live_run.h"
#include "app/live_set.h"
#include "base/text.h"
#include "cmd/named_paths.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "core/render/phase_text.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

// One line to paste on a host that has nothing but the driver.
constexpr std::string_view kSampler =
    "nvidia-smi --query-gpu=timestamp,index,uuid,pci.bus_id,name,power.draw,power.limit,"
    "utilization.gpu,utilization.memory,clocks.sm,temperature.gpu,memory.used,"
    "clocks_throttle_reasons.active,pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max --format=csv -lms 1000 > \"$(hostname).csv\"\n";

constexpr Duration kGlance = std::chrono::seconds(5);  // at live sources

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster triage n1.csv n2.csv                 two hosts, one run\n"
    "  muster triage n1=a.csv n2=b.csv --steps train.log\n"
    "  nvidia-smi --query-gpu=... --format=csv | muster triage -\n"
    "  muster triage power.csv --columns time=time_ms,host=node,node_power_w=power_w\n"
    "  muster triage run.csv --calibration good.toml --json\n"
    "  muster triage nvml                          the GPUs of this host, looked at for 5 s\n"
    "  muster triage --follow n1=http://n1:9400/metrics n2=http://n2:9400/metrics\n"
    "  muster triage --follow \"$(hostname).csv\" --steps train.log\n"
    "\n"
    "A hang is the power floor without one busy sample for max(120 s, 1.5 x the longest healthy\n"
    "wait + 30 s). It is 10 minutes where rank 0 alone is at 0 % (the shape of a save) and no\n"
    "healthy wait is known, where the step log has an open save or evaluation, and before work is\n"
    "seen; 30 minutes where the step log shows a start. --rule two-samples calls it after two\n"
    "samples in the shape of a hang; on six healthy runs of ten minutes that rule gave 0 to 3.1\n"
    "false alarms a run at 30 s a sample and 2.0 to 16.6 at 5 s, where saves are frequent.\n"
    "\n"
    "MUSTER_NVML names another NVML library than the driver's, for the source nvml.\n"
    "\n"
    "A step log alone tells no hang: the answer is then that nobody can tell.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class TriageVerb final : public Verb {
 public:
  std::string_view name() const override { return "triage"; }
  std::string_view summary() const override {
    return "from power and utilization: which phase is this run in, who is odd?";
  }

  void declare(VerbOptions& options) override {
    telemetry_.declare_judging(options);
    options.choice("--rule", &rule_, {"continuous", "two-samples"}, "when a wait is a hang",
                   "triage.rule");
    options.flag("-f,--follow", &follow_,
                 "go on: files as they grow, live sources once an interval; a new answer whenever "
                 "it changes");
    options.number("--interval", &interval_s_, "SECONDS", "between two looks at live sources",
                   "triage.interval_s");
    options.number("--for", &for_s_, "SECONDS",
                   "end after this; by default live sources are looked at for 5, files are read "
                   "to their end, and --follow has none");
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
    if (const Status read = telemetry_.add_calibration(*request); !read) {
      return console.fail(read.error());
    }
    // In this sense: not a number is refused as well.
    if (!(for_s_ >= 0 && for_s_ <= 1e6)) {
      console.complain("--for must be more than 0 seconds");
      return ExitStatus::usage;
    }
    tell_of_terminal(request->sources, console);
    const StopOnSignal signals;
    if (for_s_ > 0) {
      request->source_options.end = system_clock().mono() + seconds_to_duration(for_s_);
    }
    request->source_options.stop = signals.token();
    if (follow_ || has_live_source(request->sources, real_files())) return live(*request, console);
    const auto answer = triage_once(*request, real_files(), system_clock());
    const bool cut = signals.token().stop_requested();
    if (answer) complain_of_missing("--steps", telemetry_.steps(), real_files(), console);
    const ExitStatus status = answer ? say(*answer, console) : console.fail(answer.error());
    return cut ? ExitStatus::interrupted : status;
  }

 private:
  static ExitStatus say(const TriageAnswer& answer, Console& console) {
    const ExitStatus status = console.answer(answer.report);
    if (!console.json()) console.print(render_phase_text(answer.view, console.width()));
    return status;
  }

  ExitStatus live(const TriageRequest& request, Console& console) const {
    complain_of_missing("--steps", telemetry_.steps(), real_files(), console);
    LiveOptions options;
    options.interval = seconds_to_duration(interval_s_);
    options.follow = follow_;
    if (!follow_ && for_s_ == 0) options.length = kGlance;
    const std::stop_token stop = request.source_options.stop;
    std::string said;
    const auto each = [&](const TriageAnswer& answer) {
      const std::string digest = answer_digest(answer, !console.json());
      if (follow_ && digest != said) say(answer, console);
      said = digest;
      return true;
    };
    const auto last = triage_live(request, options, real_files(), system_clock(), stop, each);
    if (!last) return console.fail(last.error());
    if (!follow_) return say(*last, console);
    return stop.stop_requested() ? ExitStatus::interrupted : exit_status_of(last->report);
  }

  TelemetryOptions telemetry_;
  std::string rule_;
  bool print_sampler_ = false, follow_ = false;
  double interval_s_ = 0, for_s_ = 0;  // 0: not given
};

}  // namespace

std::unique_ptr<Verb> make_triage_verb() {
  return std::make_unique<TriageVerb>();
}

}  // namespace muster
