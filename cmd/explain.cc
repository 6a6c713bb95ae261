#include <memory>
#include <string>
#include <vector>

#include "app/explain_run.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster explain logs/                          every log in the folder, all hosts and ranks\n"
    "  muster explain train.log dmesg.txt            one run, one host\n"
    "  muster explain node1.tar.gz node2.tar.gz --tz node2=Asia/Seoul\n"
    "  kubectl logs job/train | muster explain -\n"
    "\n"
    "Files are known by their content: logs of ranks, kernels, Slurm, Kubernetes and launchers, in\n"
    "any mixture, packed or rotated. The earliest failure that others follow from is the answer;\n"
    "the chain from it to the last shout stands below.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class ExplainVerb final : public Verb {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view summary() const override {
    return "any pile of logs: the first cause, and what only followed from it";
  }

  void declare(VerbOptions& options) override {
    options.positionals("PATH", &paths_, "logs, folders, archives, - for standard input");
    options.list("--tz", &zones_, "[HOST=]ZONE",
                 "zone of times that carry none: Asia/Seoul, +09:00; default: this machine's");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (paths_.empty()) {
      console.complain("name the logs: a folder, files, archives or - (muster explain --help)");
      return ExitStatus::usage;
    }
    ExplainRequest request;
    request.paths = paths_;
    for (const std::string& text : zones_) {
      auto zone = parse_zone(text);
      if (!zone) return console.fail(zone.error());
      request.zones.insert_or_assign(std::move(zone->first), std::move(zone->second));
    }
    if (!request.zones.contains("")) {
      auto own = TimeZone::make("");
      if (!own) return console.fail(own.error());
      request.zones.emplace("", std::move(*own));
    }
    const auto report = explain_once(request, real_files());
    if (!report) return console.fail(report.error());
    return console.answer(*report);
  }

 private:
  std::vector<std::string> paths_, zones_;
};

}  // namespace

std::unique_ptr<Verb> make_explain_verb() {
  return std::make_unique<ExplainVerb>();
}

}  // namespace muster
