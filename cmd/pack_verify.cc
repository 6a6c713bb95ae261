#include <memory>
#include <string>
#include <vector>

#include "app/pack_verify.h"
#include "base/limits.h"
#include "cmd/token_progress.h"
#include "cmd/verbs.h"
#include "edge/os/clock.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster pack verify /data/pack --global-batch 128          proves all, prints one line\n"
    "  muster pack verify /data/pack --global-batch 128 --micro 2 --seed 7 --epoch 1\n"
    "  muster pack verify /data/pack --tokenizer qwen3            and the texts, read again\n"
    "  muster pack verify /data/pack --quick    on every host, before a start: well below a "
    "second\n"
    "\n"
    "It reads every byte: hashes, sizes, ids, document ends, loss bits and the account of tokens.\n"
    "Then it asks for the blocks of every step as each rank of every world size would that "
    "divides\n"
    "the global batch: as many steps for all, no block twice, one order, the same after a "
    "restart.\n"
    "With --tokenizer it reads the inputs again as well, and encodes 256 documents anew: ids, EOS\n"
    "and loss bits are those of the pack. An input that is gone or has changed is named, and the\n"
    "answer is then that nobody can tell.\n"
    "--quick reads the manifest and 64 random blocks. The line is the same on every host that "
    "sees\n"
    "the same data: compare them.\n"
    "\n"
    "Exit status: 0 sound, 2 damaged, 3 an input is not at hand, 64 usage (the step does not "
    "fit),\n"
    "65 no pack, 130 interrupted.";

class PackVerifyVerb final : public Verb {
 public:
  std::string_view name() const override { return "pack verify"; }
  std::string_view summary() const override {
    return "is this pack whole, and has every rank the same steps of it?";
  }
  void declare(VerbOptions& options) override {
    options.positionals("DIR", &folders_, "the folder of the pack");
    options.integer("--global-batch", &global_batch_, "BLOCKS",
                    "blocks of one step, over all ranks; what the manifest says where not given");
    options.choice("--remainder", &remainder_, {"drop", "fill"},
                   "blocks of less than a step at the end of an epoch: dropped, or the last step "
                   "filled from the next epoch; what the manifest says where not given");
    options.integer("--micro", &micro_, "BLOCKS", "blocks that a rank takes at once (1)");
    options.text("--tokenizer", &request_.tokenizer, "FILE",
                 "that of the pack: compare 256 documents with the inputs, encoded again");
    options.integer("--seed", &seed_, "N", "of the order of the blocks, and of documents (0)");
    options.integer("--epoch", &epoch_, "N", "whose order is proved (0)");
    options.flag("--quick", &request_.quick, "the manifest and 64 random blocks");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (folders_.size() != 1) {
      console.complain("name one pack: muster pack verify DIR");
      return ExitStatus::usage;
    }
    constexpr auto kMostBatch = static_cast<std::int64_t>(limits::kPackGlobalBatch);
    if (global_batch_ < 0 || global_batch_ > kMostBatch || micro_ < 1 || seed_ < 0 || epoch_ < 0) {
      console.complain(
          "--global-batch and --micro are numbers from 1 on, --seed and --epoch from 0");
      return ExitStatus::usage;
    }
    if (request_.quick && !request_.tokenizer.empty()) {
      console.complain("--quick reads no inputs: leave --tokenizer or --quick away");
      return ExitStatus::usage;
    }
    request_.folder = folders_[0];
    if (!remainder_.empty()) {
      request_.remainder = remainder_ == "fill" ? blocks::Remainder::fill : blocks::Remainder::drop;
    }
    if (global_batch_ > 0) request_.global_batch = static_cast<std::uint64_t>(global_batch_);
    request_.micro_batch = static_cast<std::uint64_t>(micro_);
    request_.seed = static_cast<std::uint64_t>(seed_);
    request_.epoch = static_cast<std::uint64_t>(epoch_);
    request_.sample = static_cast<std::uint64_t>(wall_to_ns(system_clock().wall()));
    const StopOnSignal signals;
    const auto verdict = [&] {
      TokenProgressLine line;
      request_.progress = [&](std::uint64_t done, std::uint64_t all) {
        line.show(done, all);
        return !signals.token().stop_requested();
      };
      return verify_pack(request_);
    }();
    if (!verdict && signals.token().stop_requested()) return ExitStatus::interrupted;
    if (!verdict && verdict.error().code == Errc::invalid_input) {
      console.complain(verdict.error().context);
      return ExitStatus::usage;
    }
    if (!verdict) return console.fail(verdict.error());
    if (console.json() || verdict->line.empty()) return console.answer(verdict->report);
    console.print(verdict->line + "\n");
    return ExitStatus::ok;
  }

 private:
  PackVerifyRequest request_;
  std::vector<std::string> folders_;
  std::string remainder_;
  std::int64_t global_batch_ = 0, micro_ = 1, seed_ = 0, epoch_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_pack_verify_verb() {
  return std::make_unique<PackVerifyVerb>();
}

}  // namespace muster
