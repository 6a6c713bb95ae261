#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "app/live_set.h"
#include "app/triage_run.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cmd/named_paths.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "edge/config/calibration_file.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster calibrate good-run.csv --steps train.log -o good.toml\n"
    "  muster calibrate new.csv --merge good.toml -o good.toml    cover both runs\n"
    "  muster calibrate new.csv --compare good.toml               what changed since?\n"
    "\n"
    "Take a run that is known to be good, in full swing, with at least one save in it. Calibrate\n"
    "per job shape: the same code on more nodes draws less per node. What muster triage would "
    "call\n"
    "a hang in it is told on standard error, and the file is written all the same.";

class CalibrateVerb final : public Verb {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view summary() const override {
    return "learn power bands, waits and step time from a known-good run";
  }
  void declare(VerbOptions& options) override {
    telemetry_.declare(options);
    options.text("-o,--output", &output_, "FILE", "write here; without it, to standard output");
    options.list("--merge", &merge_, "FILE", "cover this calibration too");
    options.text("--compare", &compare_, "FILE", "say what changed since this calibration");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    const auto request = telemetry_.request();
    if (!request) {
      console.complain(request.error().context);
      return ExitStatus::usage;
    }
    for (const std::string& source : request->sources) {
      if (!has_live_source({source}, real_files())) continue;
      console.complain(source +
                       " is a live source; calibrate learns from a recording of it: muster "
                       "record " +
                       source + " --for 3600 -o run.zst, then muster calibrate run.zst");
      return ExitStatus::usage;
    }
    tell_of_terminal(request->sources, console);
    std::string name;
    for (const std::string& source : request->sources) name += (name.empty() ? "" : " ") + source;
    auto read = calibrate_once(*request, name, real_files(), system_clock());
    if (!read) return console.fail(read.error());
    Calibration& learned = read->calibration;
    doubt(read->doubts, console);
    for (const std::string& path : merge_) {
      const auto other = read_calibration(real_files(), path);
      if (!other) return console.fail(other.error());
      learned = merge_calibrations(*other, learned);
    }
    if (!compare_.empty()) return compare(learned, console);
    if (output_.empty()) {
      console.print(encode_calibration(learned));
      return ExitStatus::ok;
    }
    const Status written = real_files().write_atomic(output_, encode_calibration(learned));
    if (written) {
      console.print(summary_of(learned, output_));
      return ExitStatus::ok;
    }
    console.complain(written.error().context);
    return ExitStatus::storage;
  }

 private:
  // "good.toml: bands of H100 (8 series); longest wait 1 min 58 s"
  static std::string summary_of(const Calibration& learned, const std::string& path) {
    std::string models;
    for (const CalibratedBands& bands : learned.bands) {
      models += (models.empty() ? "" : ", ") + bands.model;
    }
    std::string out =
        escape_controls(path) + ": written; power bands of " + escape_controls(models);
    if (learned.series) out += fmt::format(" ({} series)", *learned.series);
    out +=
        learned.longest_wait
            ? "; longest healthy wait " + format_duration(*learned.longest_wait)
            : "; no healthy wait in it, so a long save stays UNSURE: learn from a run with saves";
    if (learned.step_s) out += fmt::format("; {:.2f} s a step", *learned.step_s);
    return out + "\n";
  }

  // The file is written all the same: a run that is known to be good may do what looks like this.
  static void doubt(const std::vector<Finding>& doubts, Console& console) {
    for (const Finding& f : doubts) {
      const std::string since = f.since ? "from " + format_rfc3339(*f.since) + ", " : "";
      std::string where;
      if (!f.evidence.empty() && f.evidence.front().line) {
        where = fmt::format(" ({}:{})", f.evidence.front().source, *f.evidence.front().line);
      }
      const std::string_view sure = f.confidence == Confidence::low ? "UNSURE, " : "";
      console.complain(fmt::format("is this a known-good run? muster triage calls it {}{} {}{}{}",
                                   sure, cause_name(f.cause), since, f.summary, where));
    }
  }

  ExitStatus compare(const Calibration& learned, Console& console) const {
    const auto before = read_calibration(real_files(), compare_);
    if (!before) return console.fail(before.error());
    const auto lines = compare_calibrations(*before, learned);
    if (lines.empty()) console.print("nothing differs by more than 2 %\n");
    for (const std::string& line : lines) console.print(line + "\n");
    return ExitStatus::ok;
  }

  TelemetryOptions telemetry_;
  std::string output_, compare_;
  std::vector<std::string> merge_;
};

}  // namespace

std::unique_ptr<Verb> make_calibrate_verb() {
  return std::make_unique<CalibrateVerb>();
}

}  // namespace muster
