#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "app/record_run.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster record n1.csv n2.csv -o run.zst      many files as one, on one time line\n"
    "  nvidia-smi --query-gpu=... --format=csv -lms 1000 | muster record - -o run.zst\n"
    "  muster triage run.zst                       reads it like any other source\n"
    "\n"
    "The file is zstd-compressed lines of JSON, muster.recording/1; what is written is safe once "
    "a\n"
    "second. Exit status: 0 done, 1 some sources could not be read, 64 usage, 65 no input.";

class RecordVerb final : public Verb {
 public:
  std::string_view name() const override { return "record"; }
  std::string_view summary() const override {
    return "keep what the sources said, compressed, to be read again";
  }

  void declare(VerbOptions& options) override {
    telemetry_.declare(options);
    options.text("-o,--output", &output_, "FILE", "the recording to write");
    options.flag("--force", &force_, "overwrite a file that is there");
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
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const auto answer = record_sources(*request, output_, force_, real_files(), system_clock(),
                                       [terminal](const RecordProgress& p) {
                                         if (terminal) show(p);
                                       });
    if (terminal) std::fputs("\n", stderr);
    if (!answer) return console.fail(answer.error());
    for (const Blind& blind : answer->summary.blind) {
      console.complain("not read: " + blind.source + ": " + blind.reason);
    }
    console.complain(
        fmt::format("{} rows, {} bytes in {}", answer->total.rows, answer->total.bytes, output_));
    return answer->summary.blind.empty() ? ExitStatus::ok : ExitStatus::warning;
  }

 private:
  static void show(const RecordProgress& p) {
    fmt::print(stderr, "\r{:>12} rows {:>12} bytes", p.rows, p.bytes);
  }

  TelemetryOptions telemetry_;
  std::string output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_record_verb() {
  return std::make_unique<RecordVerb>();
}

}  // namespace muster
