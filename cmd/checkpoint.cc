#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "app/checkpoint_run.h"
#include "base/text.h"
#include "cmd/named_paths.h"
#include "cmd/verbs.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster checkpoint /ckpt/run7                  all of a run: which one to resume from\n"
    "  muster checkpoint /ckpt/run7/step-500         this one alone\n"
    "  muster checkpoint listing.txt train.log       from far: ls -lR of the folder, and a log\n"
    "  muster checkpoint /ckpt/run7 --suspect 2000   the run dies when it loads step 2000\n"
    "  muster checkpoint /ckpt/run7 --json | jq -r .resume_from\n"
    "\n"
    "Known: Hugging Face Trainer and exports, safetensors, torch.distributed.checkpoint (also of\n"
    "FSDP), DeepSpeed, Megatron, Lightning, Composer, and those of muster train. Sizes, headers\n"
    "and ends of files are compared with what they say of themselves, and checkpoints with each\n"
    "other; no pickle is opened, nothing is changed.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell (somebody may still write),\n"
    "64 usage, 65 no input.";

class CheckpointVerb final : public Verb {
 public:
  std::string_view name() const override { return "checkpoint"; }
  std::string_view summary() const override {
    return "which checkpoints are complete, and from which one a run may resume";
  }

  void declare(VerbOptions& options) override {
    options.positionals("PATH", &request_.paths,
                        "folders of checkpoints, single ones, listings, logs; in any mixture");
    options.list("--suspect", &request_.suspects, "STEP",
                 "pass over this one, a step, a name or a path: loading it failed");
    options.flag("--deep", &request_.deep,
                 "read all bytes of checkpoints of muster train, against their hashes");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (request_.paths.empty()) {
      console.complain("name the folder of the checkpoints (muster checkpoint --help)");
      return ExitStatus::usage;
    }
    tell_of_terminal(request_.paths, console);
    request_.now = system_clock().wall();
    const auto answer = check_checkpoints(request_, real_files());
    if (!answer) return console.fail(answer.error());
    if (console.json()) {
      console.print(checkpoint::encode_answer(*answer) + "\n");
      return exit_status_of(answer->report);
    }
    const ExitStatus status = console.answer(answer->report);
    console.print(fmt::format("  resume  {}\n", answer->resume_from
                                                    ? escape_controls(*answer->resume_from)
                                                    : std::string("from none of these")));
    return status;
  }

 private:
  CheckpointRequest request_;
};

}  // namespace

std::unique_ptr<Verb> make_checkpoint_verb() {
  return std::make_unique<CheckpointVerb>();
}

}  // namespace muster
