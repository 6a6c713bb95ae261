#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "app/check_run.h"
#include "base/limits.h"
#include "base/text.h"
#include "cmd/verbs.h"
#include "core/health/check.h"
#include "edge/engine/probe_runner.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster check                                  is this host fit?\n"
    "  muster check --list                           all checks and their limits\n"
    "  muster check --limit gpu_count=8 --limit ib_ports=8\n"
    "  muster check --off swap --allow 'fan tray'\n"
    "  muster check --learn golden.json              of a good host; then --golden golden.json\n"
    "  muster check --as prometheus > muster.prom.new; mv muster.prom.new muster.prom\n"
    "  muster check --as ticket                      for the vendor: faults, serials, lines\n"
    "  muster check --slurm-node                     prolog, epilog, HealthCheckProgram\n"
    "\n"
    "Nothing is changed, and nothing needs root: what only root may read is unknown, with the\n"
    "reason. A fault that is sure outweighs what could not be seen; unknown is never fit.\n"
    "\n"
    "Exit status: 0 fit, 1 warning, 2 not fit, 3 cannot tell, 64 usage. With --slurm-node: 2 only\n"
    "where a check failed, else 0; standard output has the reason to drain the node with.";

class CheckVerb final : public Verb {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "is this host fit for a run?"; }

  void declare(VerbOptions& options) override {
    options.list("--limit", &limits_, "NAME=NUMBER", "another limit of a check", "check.limits");
    options.list("--off", &off_, "ID", "leave a check out", "check.off");
    options.list("--allow", &allowed_, "TEXT",
                 "words of lines of the kernel's log that mean nothing here", "check.allow");
    options.text("--golden", &golden_, "FILE", "hold the host against what good ones have",
                 "check.golden");
    options.text("--learn", &learn_, "FILE", "write what the host has, if it is fit");
    options.choice("--as", &form_, {"report", "table", "values", "prometheus", "ticket"},
                   "the form of the answer");
    options.flag("--list", &list_, "the checks and their limits, without a check");
    options.flag("--slurm-node", &slurm_, "for Slurm: fail only where a check fails");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    auto settings = make_settings();
    if (!settings) {
      console.complain(settings.error().context);
      const bool file = settings.error().code != Errc::invalid_input;
      return file ? exit_status_of(settings.error()) : ExitStatus::usage;
    }
    if (list_) {
      console.print(health::check_list(settings->limits));
      return ExitStatus::ok;
    }
    CheckRun checks(std::move(*settings));
    checks.add(probe_this_host());
    if (!learn_.empty()) return learn(checks, console);
    if (slurm_) return answer_slurm(checks, console);
    return answer(checks, console);
  }

 private:
  Result<CheckSettings> make_settings() const {
    const auto wrong = [](std::string text) {
      return make_error(Errc::invalid_input, std::move(text));
    };
    CheckSettings out;
    out.allowed = allowed_;
    for (const std::string& text : limits_) {
      const auto status = out.limits.set_text(text);
      if (!status) return wrong("--limit: " + status.error().context);
    }
    for (const std::string& id : off_) {
      if (health::find_check(id) == nullptr) {
        return wrong(fmt::format("--off: no check is called \"{}\"; muster check --list has them",
                                 escape_controls(id, 80)));
      }
      out.limits.turn_off(id);
    }
    if (golden_.empty()) return out;
    const auto bytes = read_whole(real_files(), golden_, limits::kContractBytes);
    if (!bytes) return bytes.error();
    auto golden = health::decode_golden(*bytes);
    if (!golden) return make_error(Errc::corrupt, golden_ + ": " + golden.error().context);
    out.golden = std::move(*golden);
    return out;
  }

  ExitStatus learn(CheckRun& checks, Console& console) const {
    const health::Golden golden = checks.learn();
    if (golden.hosts == 0) {
      console.complain("nothing is learnt from a host that is not fit, or not known to be");
      console.answer(checks.report());
      return ExitStatus::cannot_tell;
    }
    const auto status = real_files().write_atomic(learn_, health::encode_golden(golden));
    if (!status) return console.fail(status.error());
    console.print(fmt::format("{} facts of {} hosts written\n", golden.facts.size(), golden.hosts));
    return ExitStatus::ok;
  }

  static ExitStatus answer_slurm(CheckRun& checks, Console& console) {
    std::string reasons;
    for (const health::CheckedHost& host : checks.hosts()) reasons += health::drain_reason(host);
    if (reasons.empty()) return ExitStatus::ok;
    console.print(reasons + "\n");
    return ExitStatus::critical;
  }

  ExitStatus answer(CheckRun& checks, Console& console) const {
    const Report report = checks.report();
    if (form_ == "report") return console.answer(report);
    console.print(form_ == "table"        ? health::check_table_text(checks.hosts())
                  : form_ == "values"     ? health::check_json(checks.hosts()) + "\n"
                  : form_ == "prometheus" ? health::check_prometheus(checks.hosts())
                                          : tickets(checks));
    return exit_status_of(report);
  }

  static std::string tickets(CheckRun& checks) {
    std::string out;
    for (const health::CheckedHost& host : checks.hosts()) {
      out += (out.empty() ? "" : "\n") + checks.ticket(host.host);
    }
    return out;
  }

  std::vector<std::string> limits_, off_, allowed_;
  std::string golden_, learn_, form_ = "report";
  bool list_ = false, slurm_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_check_verb() {
  return std::make_unique<CheckVerb>();
}

}  // namespace muster
