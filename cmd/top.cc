#include <memory>
#include <string>

#include "app/top_loop.h"
#include "cmd/named_paths.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster top                                  the GPUs of this host\n"
    "  muster top n1=http://n1:9400/metrics n2=http://n2:9400/metrics\n"
    "  muster top n1.csv n2.csv --steps train.log  files, as they grow\n"
    "  muster top n1.csv | cat                     one frame as text\n"
    "\n"
    "Keys: q quit, s sort by host, power, utilization or age, arrows and PgUp/PgDn move,\n"
    "p pause, h help. The screen shows; muster triage judges by its exit status. What is old is\n"
    "headed RECORDED, with its date. MUSTER_NVML names another NVML library than the driver's.\n"
    "\n"
    "Exit status: 0 left, 64 usage, 65 no input, 130 stopped by a signal.";

class TopVerb final : public Verb {
 public:
  std::string_view name() const override { return "top"; }
  std::string_view summary() const override {
    return "the same, live, full screen, for all hosts of a run";
  }

  void declare(VerbOptions& options) override {
    telemetry_.declare_judging(options);
    options.number("--interval", &interval_s_, "SECONDS", "between two looks at the sources",
                   "triage.interval_s");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    auto request = telemetry_.request_or("nvml");
    if (!request) {
      console.complain(request.error().context);
      return ExitStatus::usage;
    }
    if (const Status read = telemetry_.add_calibration(*request); !read) {
      return console.fail(read.error());
    }
    complain_of_missing("--steps", telemetry_.steps(), real_files(), console);
    const StopOnSignal signals;
    request->source_options.stop = signals.token();
    if (!console.terminal()) {
      const auto text =
          top_once(*request, console.width(), real_files(), system_clock(), signals.token());
      if (!text) return console.fail(text.error());
      console.print(*text);
      return ExitStatus::ok;
    }
    const TopOptions options{seconds_to_duration(interval_s_), console.colour()};
    const auto last = top_loop(*request, options, real_files(), system_clock(), signals.token());
    if (!last) return console.fail(last.error());
    return signals.token().stop_requested() ? ExitStatus::interrupted : ExitStatus::ok;
  }

 private:
  TelemetryOptions telemetry_;
  double interval_s_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_top_verb() {
  return std::make_unique<TopVerb>();
}

}  // namespace muster
