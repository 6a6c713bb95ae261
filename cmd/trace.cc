#include <memory>
#include <string>
#include <vector>

#include "app/trace_run.h"
#include "cmd/named_paths.h"
#include "cmd/verbs.h"
#include "core/render/grid_text.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster trace /shared/flight                   every dump in the folder\n"
    "  muster trace n1.tar.gz n2.tar.gz --hosts rank_hosts.txt\n"
    "  muster trace flight/ logs/                    logs of the ranks as second witnesses\n"
    "  muster trace flight/ --ras ras.json --timeline\n"
    "  muster trace flight/ --json | jq .findings[0]\n"
    "\n"
    "Dumps are read without running anything that they hold; pickle and JSON, of PyTorch 2.2 and\n"
    "later, NCCL and Gloo, cut ones too. The rank is the last number in the file's name. Files in\n"
    "folders and archives are known by their content.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class TraceVerb final : public Verb {
 public:
  std::string_view name() const override { return "trace"; }
  std::string_view summary() const override {
    return "flight-recorder dumps: which rank, which collective, why";
  }

  void declare(VerbOptions& options) override {
    options.positionals("PATH", &request_.paths, "dumps, folders, archives, logs; in any mixture");
    options.list("--logs", &request_.input.logs, "PATH",
                 "read as logs of ranks, whatever they look like");
    options.list("--ras", &request_.input.ras, "FILE", "an answer of NCCL RAS, JSON or text");
    options.text("--hosts", &hosts_, "FILE", "which rank ran where: \"3 n01\" or \"n01: 0-7\"");
    options.flag("--timeline", &request_.timeline, "draw who was where around the collective");
    options.text("--torch", &request_.torch_version, "VERSION",
                 "for the settings that are advised where no dump is found");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (!hosts_.empty()) request_.input.hosts = hosts_;
    const bool nothing = request_.paths.empty() && request_.input.logs.empty();
    if (nothing && (!request_.input.ras.empty() || !hosts_.empty())) {
      console.complain(
          "--ras and --hosts stand beside dumps: name those too (muster trace --help)");
      return ExitStatus::usage;
    }
    if (nothing) {
      console.complain("name the dumps: a folder, files or archives (muster trace --help)");
      return ExitStatus::usage;
    }
    tell_of_terminal(request_.paths, console);
    const auto answer = trace_once(request_, real_files());
    if (!answer) return console.fail(answer.error());
    complain_of_missing("--logs", request_.input.logs, real_files(), console);
    complain_of_missing("--ras", request_.input.ras, real_files(), console);
    if (!hosts_.empty()) complain_of_missing("--hosts", {hosts_}, real_files(), console);
    const ExitStatus status = console.answer(answer->report);
    if (console.json()) return status;
    if (!answer->timeline.rows.empty()) {
      console.print(render_grid(answer->timeline, console.width()));
    }
    return status;
  }

 private:
  TraceRequest request_;
  std::string hosts_;
};

}  // namespace

std::unique_ptr<Verb> make_trace_verb() {
  return std::make_unique<TraceVerb>();
}

}  // namespace muster
