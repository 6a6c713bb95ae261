#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/pack_convert.h"
#include "base/limits.h"
#include "base/text.h"
#include "cmd/token_progress.h"
#include "cmd/verbs.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster pack convert cache/*.i32 --out pack            one list of an older packer's files\n"
    "  muster pack convert cache/ --out pack --eos 151643    documents end behind this id\n"
    "  muster pack convert train_text_document.idx --out pack\n"
    "  muster pack convert ids.npy --out pack --block 4096\n"
    "  muster pack convert pack --to ranks --out cache --world 16 --global-batch 128\n"
    "  muster pack convert pack --to megatron --out data/train     train.bin and train.idx\n"
    "  muster pack convert pack --to numpy --out blocks.npy\n"
    "\n"
    "Nothing is overwritten; what is written appears whole or not at all.\n"
    "\n"
    "Exit status: 0 written, 64 usage, 65 no such input, or a damaged one, 74 the disk is full,\n"
    "77 not permitted, 130 interrupted.";

constexpr std::string_view kForms[] = {"pack", "ranks", "megatron", "numpy"};

class PackConvertVerb final : public Verb {
 public:
  std::string_view name() const override { return "pack convert"; }
  std::string_view summary() const override {
    return "a pack from or to per-rank files, Megatron's .bin and .idx, numpy's .npy";
  }
  void declare(VerbOptions& options) override {
    options.positionals("PATH", &request_.inputs, "what is to be converted");
    options.text("--out", &request_.out, "PATH", "a folder, a prefix (megatron) or a file (numpy)");
    options.choice("--to", &to_, {std::begin(kForms), std::end(kForms)},
                   "the form that is written (pack)");
    options.integer("--block", &block_, "TOKENS", "to pack: tokens of a block (2048)");
    options.integer("--eos", &eos_, "ID", "to pack: documents end behind this id");
    options.integer("--vocabulary", &vocabulary_, "N", "to pack: refuse ids from N on");
    options.integer("--world", &world_, "N", "to ranks: how many");
    options.integer("--global-batch", &global_batch_, "BLOCKS",
                    "blocks of one step over all ranks; to pack: kept in the manifest");
    options.choice("--remainder", &remainder_, {"drop", "fill"},
                   "what becomes of blocks of less than a step (muster pack verify --help)");
    options.integer("--micro", &micro_, "BLOCKS", "to ranks: blocks that a rank takes at once (1)");
    options.integer("--seed", &seed_, "N", "to ranks: of the order of the blocks (0)");
    options.integer("--epoch", &epoch_, "N", "to ranks: whose order (0)");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    const std::array<std::int64_t, 4> positive = {block_, micro_, world_ + 1, global_batch_ + 1};
    constexpr auto kBeyond = static_cast<std::int64_t>(limits::kPackGlobalBatch) + 1;
    if (std::any_of(positive.begin(), positive.end(),
                    [](std::int64_t n) { return n < 1 || n > kBeyond; }) ||
        eos_ < -1 || eos_ > INT32_MAX || vocabulary_ < -1 || vocabulary_ == 0 || seed_ < 0 ||
        epoch_ < 0) {
      console.complain("a number is out of range (muster pack convert --help)");
      return ExitStatus::usage;
    }
    const auto form = std::find(std::begin(kForms), std::end(kForms), to_);
    request_.to = static_cast<PackForm>(form - std::begin(kForms));
    request_.block_tokens = static_cast<std::uint64_t>(block_);
    request_.micro_batch = static_cast<std::uint64_t>(micro_);
    request_.world_size = static_cast<std::uint64_t>(world_);
    request_.global_batch = static_cast<std::uint64_t>(global_batch_);
    request_.seed = static_cast<std::uint64_t>(seed_);
    request_.epoch = static_cast<std::uint64_t>(epoch_);
    if (!remainder_.empty()) {
      request_.remainder = remainder_ == "fill" ? blocks::Remainder::fill : blocks::Remainder::drop;
    }
    if (eos_ >= 0) request_.eos = static_cast<std::int32_t>(eos_);
    if (vocabulary_ > 0) request_.vocabulary_count = static_cast<std::uint64_t>(vocabulary_);
    const StopOnSignal signals;
    const auto converted = [&] {
      TokenProgressLine line;
      return convert_pack(request_, [&](std::uint64_t done, std::uint64_t all) {
        line.show(done, all);
        return !signals.token().stop_requested();
      });
    }();
    if (!converted && signals.token().stop_requested()) {
      console.complain(converted.error().context);
      return ExitStatus::interrupted;
    }
    if (!converted) return console.fail_to_write(converted.error());
    console.print(escape_controls(converted->summary) + "\n");
    return ExitStatus::ok;
  }

 private:
  PackConvertRequest request_;
  std::string to_ = "pack", remainder_;
  std::int64_t block_ = 2048, eos_ = -1, vocabulary_ = -1, world_ = 0, global_batch_ = 0,
               micro_ = 1, seed_ = 0, epoch_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_pack_convert_verb() {
  return std::make_unique<PackConvertVerb>();
}

}  // namespace muster
