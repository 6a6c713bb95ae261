#include <string>

#include "cmd/completion_script.h"
#include "cmd/verbs.h"

namespace muster {
namespace {

std::vector<VerbForm> forms_of_all_verbs() {
  std::vector<VerbForm> forms;
  for (const auto& verb : make_verbs()) {
    VerbOptions options;
    verb->declare(options);
    forms.push_back({std::string(verb->name()), std::string(verb->summary()), options.rows()});
  }
  return forms;
}

class CompletionVerb final : public Verb {
 public:
  std::string_view name() const override { return "completion"; }
  std::string_view summary() const override {
    return "the script that completes muster in a shell";
  }
  void declare(VerbOptions& options) override {
    options.choice("SHELL", &shell_, {"bash", "zsh", "fish"}, "bash, zsh or fish");
    options.epilog(
        "Examples:\n"
        "  source <(muster completion bash)\n"
        "  muster completion zsh > \"${fpath[1]}/_muster\"\n"
        "  muster completion fish > ~/.config/fish/completions/muster.fish");
  }
  ExitStatus run(Console& console) override {
    const auto shell = shell_from_name(shell_);
    if (!shell) {
      console.complain("completion: name a shell: bash, zsh or fish");
      return ExitStatus::usage;
    }
    console.print(completion_script(*shell, forms_of_all_verbs()));
    return ExitStatus::ok;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Verb> make_completion_verb() {
  return std::make_unique<CompletionVerb>();
}

}  // namespace muster
