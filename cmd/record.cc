#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "app/live_set.h"
#include "app/record_run.h"
#include "base/text.h"
#include "cmd/named_paths.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster record n1.csv n2.csv train.log -o run.zst     many files as one, on one time line\n"
    "  muster record nvml -o run.zst                        the GPUs of this host, until Ctrl-C\n"
    "  muster record n1=http://n1:9400/metrics n2=http://n2:9400/metrics --for 600 -o run.zst\n"
    "  nvidia-smi --query-gpu=... --format=csv -lms 1000 | muster record - -o run.zst\n"
    "  muster triage run.zst                                finds what it finds in the sources\n"
    "\n"
    "Beside a live source, and with --follow, files are read as they grow. Step logs are kept as\n"
    "steps. The file is zstd-compressed lines of JSON, muster.recording/1; what is written is "
    "safe\n"
    "once a second, and a recording that was killed reads up to there. With --force the new one\n"
    "grows as FILE.part and takes the place of the old one at its end.\n"
    "\n"
    "Exit status: 0 done, 1 some sources could not be read, 64 usage, 65 no row and no step came,\n"
    "74 the recording could not be written, 130 stopped while files were read (what came before is "
    "kept).";

class RecordVerb final : public Verb {
 public:
  std::string_view name() const override { return "record"; }
  std::string_view summary() const override {
    return "keep what the sources said, compressed, to be read again";
  }

  void declare(VerbOptions& options) override {
    telemetry_.declare(options);
    options.text("-o,--output", &output_, "FILE", "the recording to write");
    options.flag("--force", &force_, "replace a file that is there");
    options.flag("-f,--follow", &follow_, "go on: files as they grow, until Ctrl-C or --for");
    options.number("--interval", &interval_s_, "SECONDS", "between two looks at live sources");
    options.number("--for", &for_s_, "SECONDS", "end after this");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    auto request = telemetry_.request();
    if (request && output_.empty()) {
      request = make_error(Errc::invalid_input, "where to? Give -o FILE");
    }
    if (!request) {
      console.complain(request.error().context);
      return ExitStatus::usage;
    }
    // In this sense: not a number is refused as well.
    if (!(interval_s_ >= 0.1 && interval_s_ <= 3600 && for_s_ >= 0 && for_s_ <= 1e8)) {
      console.complain("--interval must be 0.1 to 3600 seconds, --for more than 0");
      return ExitStatus::usage;
    }
    tell_of_terminal(request->sources, console);
    const StopOnSignal signals;
    RecordOptions options;
    options.path = output_;
    options.force = force_;
    options.live = follow_ || has_live_source(request->sources, real_files());
    options.interval = seconds_to_duration(interval_s_);
    if (for_s_ > 0) options.length = seconds_to_duration(for_s_);
    options.stop = signals.token();
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (terminal) options.progress = [this](const RecordProgress& p) { show(p); };
    options.report = [&](std::string_view text) {
      clear();
      console.complain(text);
    };
    bool unwritten = false;
    options.unwritten = [&unwritten] { unwritten = true; };
    const auto answer = record_sources(*request, options, real_files(), system_clock());
    clear();
    const bool cut = !options.live && options.stop.stop_requested();
    ExitStatus status = answer ? say(*answer, cut, options, console) : console.fail(answer.error());
    if (unwritten) status = ExitStatus::storage;
    return cut ? ExitStatus::interrupted : status;
  }

 private:
  ExitStatus say(const RecordAnswer& answer, bool cut, const RecordOptions& options,
                 Console& console) const {
    // Of live sources the report has told while it was so.
    for (std::size_t i = 0; !options.live && i < answer.summary.blind.size(); ++i) {
      const Blind& blind = answer.summary.blind[i];
      console.complain("not read: " + blind.source + ": " + blind.reason);
    }
    const RecordProgress& total = answer.total;
    const char* stopped = cut ? "stopped: " : "";
    if (total.rows == 0 && total.steps == 0) {
      console.complain(fmt::format("{}no row and no step was recorded; {} holds {} remark{} alone",
                                   stopped, output_, total.remarks, total.remarks == 1 ? "" : "s"));
      return ExitStatus::no_input;
    }
    const std::string steps =
        total.steps > 0 ? fmt::format(" and {} step{}", total.steps, total.steps == 1 ? "" : "s")
                        : "";
    console.complain(fmt::format("{}{} rows{}, {} bytes in {}", stopped, total.rows, steps,
                                 total.bytes, output_));
    return answer.summary.blind.empty() ? ExitStatus::ok : ExitStatus::warning;
  }

  void show(const RecordProgress& p) {
    const std::string blind = p.blind > 0 ? fmt::format("  {} blind", p.blind) : "";
    std::fputs(fmt::format("\r{:>12} rows {:>12} bytes{}\x1b[K", p.rows, p.bytes, blind).c_str(),
               stderr);
    shown_ = true;
  }
  // A sentence does not follow the progress on its line.
  void clear() {
    if (shown_) std::fputs("\n", stderr);
    shown_ = false;
  }

  TelemetryOptions telemetry_;
  std::string output_;
  bool force_ = false, follow_ = false, shown_ = false;
  double interval_s_ = 1, for_s_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_record_verb() {
  return std::make_unique<RecordVerb>();
}

}  // namespace muster
