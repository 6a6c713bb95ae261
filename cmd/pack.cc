#include <memory>
#include <string>
#include <vector>

#include "app/pack_plan.h"
#include "cmd/named_paths.h"
#include "cmd/pack_build.h"
#include "cmd/verbs.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples, to judge one:\n"
    "  muster pack config.txt manifest.tsv           do all ranks make the same steps?\n"
    "  muster pack plan.txt                          does the run make any step at all?\n"
    "  muster pack train.json cache/ --json | jq .findings[0]\n"
    "\n"
    "Files are known by their content: settings (name=value, name: value, JSON), tables of the\n"
    "ranks (rank and bytes, samples, blocks, tokens, batches or steps), per-rank files of ids\n"
    "(*.i32). muster pack verify proves it of a pack, muster pack check of per-rank files.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class PackVerb final : public Verb {
 public:
  std::string_view name() const override { return "pack"; }
  std::string_view summary() const override {
    return "texts to blocks of tokens; of plans and files: do all ranks make the same steps, and "
           "any?";
  }
  void declare(VerbOptions& options) override {
    options.positionals("FILE", &paths_,
                        "settings, tables of ranks, files of ids; with --out, the texts to pack");
    build_.declare(options);
    options.epilog("Examples, to make a pack:\n" + std::string(PackBuildCommand::examples()) +
                   std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (paths_.empty()) {
      console.complain("name the settings and tables of the run, or - (muster pack --help)");
      return ExitStatus::usage;
    }
    if (build_.asked()) return build_.run(paths_, console);
    tell_of_terminal(paths_, console);
    const auto report = judge_pack_inputs(paths_, real_files());
    if (!report) return console.fail(report.error());
    return console.answer(*report);
  }

 private:
  std::vector<std::string> paths_;
  PackBuildCommand build_;
};

}  // namespace

std::unique_ptr<Verb> make_pack_verb() {
  return std::make_unique<PackVerb>();
}

}  // namespace muster
