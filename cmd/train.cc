#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cmd/verbs.h"
#include "edge/os/files.h"

namespace muster {
namespace {

// The trainer is a program of its own, beside this one: it alone links the mathematics.
class TrainVerb final : public Verb {
 public:
  std::string_view name() const override { return "train"; }
  std::string_view summary() const override {
    return "full fine-tuning over several ranks, with equally many steps on each";
  }

  void declare(VerbOptions& options) override { options.everything(&words_); }

  ExitStatus run(Console& console) override {
    std::error_code fault;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", fault);
    if (fault) return console.fail(errno_error("looking for muster-train", fault.value()));
    const std::string program = (self.parent_path() / "muster-train").string();
    std::vector<char*> arguments = {const_cast<char*>("muster-train")};
    for (std::string& word : words_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    return console.fail(errno_error("starting " + program, errno));
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Verb> make_train_verb() {
  return std::make_unique<TrainVerb>();
}

}  // namespace muster
