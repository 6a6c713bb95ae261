#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/bench_data.h"
#include "app/pack_vocabulary.h"
#include "cmd/read_progress.h"
#include "cmd/verbs.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster pack data.jsonl --out packed --tokenizer qwen3      first, then:\n"
    "  muster bench data data.jsonl --pack packed --tokenizer qwen3 --step 5\n"
    "  muster bench data data.jsonl --pack packed --tokenizer qwen3 --step 5 --threads 1\n"
    "\n"
    "Is it worth packing? Tokens of a step by reading and tokenizing the FILEs against reading\n"
    "the blocks of the pack in their shuffled order, each cold (dropped from the page cache,\n"
    "proven by mincore) and warm. With --step SECONDS the verdict: which of storage and tokenizer\n"
    "lets such steps wait, and from which size of the files on every epoch waits for storage.\n"
    "Files are read only.\n"
    "\n"
    "Exit status: 0 measured, and both ways feed such steps, 1 one of them does not, 3 cannot\n"
    "tell, 64 usage, 65 nothing could be read, 130 interrupted.";

constexpr std::int64_t kMostThreads = 256;
constexpr double kMostSeconds = 3600;

class BenchDataVerb final : public Verb {
 public:
  std::string_view name() const override { return "bench data"; }
  std::string_view summary() const override {
    return "does tokenizing or storage let a step wait, and would a pack help?";
  }

  void declare(VerbOptions& options) override {
    options.positionals("FILE", &request_.text.paths, "the text, as muster pack reads it");
    options.text("--pack", &request_.pack, "DIR", "a pack of it (muster pack)");
    options.text("--tokenizer", &choice_.tokenizer, "FILE",
                 "a Hugging Face tokenizer.json, or its folder");
    options.text("--field", &request_.text.field, "NAME",
                 "the field of JSON lines that holds a text or messages (messages, else text)");
    options.text("--split", &split_, "HOW",
                 "the FILEs are plain text: one document a file, a line, or between any other "
                 "words");
    options.number("--step", &step_s_, "SECONDS", "step time of a run to judge");
    options.integer("--global-batch", &batch_, "BLOCKS",
                    "blocks of one step (what the pack says, else 128)");
    options.integer("--threads", &threads_, "N", "that tokenize (one for each CPU)");
    options.number("--seconds", &seconds_, "SECONDS", "each of the four at most (5)");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (const Status understood = understand(); !understood) {
      console.complain(understood.error().context);
      return ExitStatus::usage;
    }
    const auto loaded = load_pack_vocabulary(choice_, real_files());
    if (!loaded) return console.fail(loaded.error());
    const StopOnSignal signals;
    ReadProgressLine line;
    request_.stop = signals.token();
    request_.progress = [&line](const std::string& what, std::uint64_t parts) {
      line.show(fmt::format("{}: {} parts read", what, parts));
    };
    const auto answer = bench_data(request_, loaded->vocabulary, real_files(), storage::real_disk(),
                                   system_clock());
    line.clear();
    if (signals.token().stop_requested()) {
      console.complain("stopped: nothing is told of a half measurement");
      return ExitStatus::interrupted;
    }
    if (!answer) return fail(answer.error(), console);
    console.print(console.json() ? storage::data_json(*answer) + "\n"
                                 : storage::data_text(*answer));
    return storage::exit_status_of(*answer);
  }

 private:
  static ExitStatus fail(const Error& error, Console& console) {
    if (error.code != Errc::timeout && error.code != Errc::invalid_input) {
      return console.fail(error);
    }
    console.complain(error.context);
    return error.code == Errc::timeout ? ExitStatus::cannot_tell : ExitStatus::usage;
  }

  Status understand() {
    const auto refuse = [](std::string text) {
      return Status(make_error(Errc::invalid_input, std::move(text)));
    };
    if (request_.text.paths.empty()) return refuse("name the text (muster bench data --help)");
    if (request_.pack.empty()) return refuse("against which --pack? muster pack makes one");
    if (choice_.tokenizer.empty()) return refuse("with which --tokenizer? Give a tokenizer.json");
    if (!split_.empty()) {
      auto split = records::TextSplit::parse(split_);
      if (!split) return within("--split", split.error());
      request_.text.split = std::move(*split);
    }
    if (!std::isnan(step_s_)) {
      if (!(step_s_ > 0 && step_s_ < 1e6)) return refuse("--step: seconds, more than 0");
      request_.step_seconds = step_s_;
    }
    if (batch_ < 0 || batch_ > 1'000'000'000) return refuse("--global-batch: a number of blocks");
    if (batch_ > 0) request_.global_batch = static_cast<std::uint64_t>(batch_);
    if (threads_ < 0 || threads_ > kMostThreads) {
      return refuse(fmt::format("--threads: up to {}", kMostThreads));
    }
    const std::int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
    request_.text.threads =
        static_cast<std::size_t>(threads_ > 0 ? threads_ : std::min(cpus, kMostThreads));
    if (!(seconds_ >= 0.01 && seconds_ <= kMostSeconds)) {
      return refuse(fmt::format("--seconds: 0.01 to {}", kMostSeconds));
    }
    request_.length = seconds_to_duration(seconds_);
    return {};
  }

  BenchDataRequest request_;
  VocabularyChoice choice_;
  std::string split_;
  double step_s_ = std::nan(""), seconds_ = 5;
  std::int64_t batch_ = 0, threads_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_bench_data_verb() {
  return std::make_unique<BenchDataVerb>();
}

}  // namespace muster
