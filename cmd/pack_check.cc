#include <memory>
#include <string>
#include <vector>

#include "app/pack_check.h"
#include "base/limits.h"
#include "cmd/verbs.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster pack check cache/*.i32 --micro 1 --accumulate 8\n"
    "  muster pack check n1/cache n2/cache --micro 2 --accumulate 4 --block 4096 --json\n"
    "\n"
    "Files of ids that an older packer wrote, one for each rank: little-endian int32 without a\n"
    "header; the rank is in the name (rank03.i32). Only their sizes are read. A pack has one list\n"
    "of blocks for all ranks and cannot be uneven: muster pack convert makes one of these.\n"
    "\n"
    "Exit status: 0 all ranks make the same steps, 1 they do not, 2 no step at all, 3 cannot "
    "tell,\n"
    "64 usage, 65 no such file.";

class PackCheckVerb final : public Verb {
 public:
  std::string_view name() const override { return "pack check"; }
  std::string_view summary() const override {
    return "per-rank files of ids: at which step would this run hang?";
  }
  void declare(VerbOptions& options) override {
    options.positionals("PATH", &request_.paths, "files of ids, or folders of them");
    options.integer("--micro", &micro_, "BLOCKS", "blocks that a rank takes at once (1)");
    options.integer("--accumulate", &accumulate_, "N", "micro batches to a step (1)");
    options.integer("--block", &block_, "TOKENS", "tokens of a block (2048)");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (request_.paths.empty()) {
      console.complain("name the files of ids: muster pack check cache/*.i32 --micro 1");
      return ExitStatus::usage;
    }
    const auto fits = [](std::int64_t value) {
      return value >= 1 && value <= std::int64_t{limits::kPackBlockTokens};
    };
    if (!fits(micro_) || !fits(accumulate_) || !fits(block_)) {
      console.complain("--micro, --accumulate and --block are numbers from 1 to 1048576");
      return ExitStatus::usage;
    }
    request_.micro_batch = static_cast<std::uint64_t>(micro_);
    request_.accumulation = static_cast<std::uint64_t>(accumulate_);
    request_.block_tokens = static_cast<std::uint64_t>(block_);
    const auto check = check_rank_files(request_, real_files());
    if (!check) return console.fail(check.error());
    return console.answer(check->report);
  }

 private:
  PackCheckRequest request_;
  std::int64_t micro_ = 1, accumulate_ = 1, block_ = 2048;
};

}  // namespace

std::unique_ptr<Verb> make_pack_check_verb() {
  return std::make_unique<PackCheckVerb>();
}

}  // namespace muster
