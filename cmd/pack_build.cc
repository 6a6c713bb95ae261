#include "cmd/pack_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "app/part_folder.h"
#include "base/limits.h"
#include "cmd/named_paths.h"
#include "cmd/pack_screen.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

// More threads than this wait for the one that reads.
constexpr std::int64_t kMostThreads = 256;

}  // namespace

void PackBuildCommand::declare(VerbOptions& options) {
  options.text("--out", &request_.out, "DIR", "make a pack of the FILEs: a new folder");
  options.text("--tokenizer", &choice_.tokenizer, "FILE",
               "a Hugging Face tokenizer.json, or its folder");
  options.text("--field", &request_.field, "NAME",
               "the field of JSON lines that holds a text or messages (messages, else text)");
  options.text(
      "--split", &split_, "HOW",
      "the inputs are plain text: one document a file, a line, or between any other words");
  options.integer("--block", &block_, "TOKENS", "tokens of a block, a multiple of 8 (2048)");
  options.choice("--packing", &packing_, {"concat", "bfd", "bfd-split"},
                 "documents back to back; or whole ones, best fit decreasing, longer ones cut or "
                 "split");
  options.text("--eos", &choice_.eos, "TOKEN",
               "id or text of the token behind each document, or none (<|endoftext|>)");
  options.choice("--specials", &specials_, {"usual", "text", "ids"},
                 "control tokens in texts, not in conversations; nowhere; or everywhere");
  options.integer("--global-batch", &global_batch_, "BLOCKS",
                  "blocks of one step, for the account");
  options.choice("--remainder", &remainder_, {"drop", "fill"},
                 "blocks of less than a step at the end of an epoch: dropped (usual), or the last "
                 "step filled with the first blocks of the next epoch");
  options.integer("--threads", &threads_, "N", "that tokenize (one for each CPU)");
  options.flag("--resume", &request_.resume, "go on with DIR.part, which a broken build left");
}

std::string_view PackBuildCommand::examples() {
  return "  muster pack data.jsonl --out packed --tokenizer qwen3     then prove it, texts and "
         "all:\n"
         "  muster pack verify packed --tokenizer qwen3 --global-batch 128\n"
         "  muster pack a.jsonl.gz b.jsonl.zst more/ --out packed --tokenizer qwen3\n"
         "  muster pack chats.jsonl --out sft --tokenizer qwen3 --packing bfd --global-batch 128\n"
         "  muster pack book.txt --split '\\n\\n' --out book --tokenizer qwen3 --block 4096\n"
         "  zcat *.gz | muster pack - --out packed --tokenizer qwen3\n"
         "\n"
         "qwen3 is a folder with tokenizer.json, as models of Hugging Face bring it. A record is "
         "a\n"
         "line {\"text\": \"...\"} or {\"messages\": [...]}; tokens are put back to back and cut "
         "into\n"
         "blocks of 2048. The answer tells which records are no document (each one in\n"
         "DIR/errors.jsonl), what is left out, and how many steps every rank makes: as many as\n"
         "there are whole global batches of blocks. Ctrl-C or a crash leaves DIR.part: the same\n"
         "command with --resume goes on. Exit status: 0 packed, 1 packed but records are lost, 64\n"
         "usage, 65 no input, or nothing in it to pack, 74 the disk is full, 130 interrupted.\n"
         "\n";
}

Status PackBuildCommand::understand() {
  const auto refuse = [](std::string text) {
    return Status(make_error(Errc::invalid_input, std::move(text)));
  };
  request_.out = folder_name(std::move(request_.out));
  if (request_.out.empty() || request_.out == "-") {
    return refuse("where to? --out DIR names the new folder");
  }
  if (choice_.tokenizer.empty()) return refuse("with which --tokenizer? Give a tokenizer.json");
  if (block_ < 8 || block_ > std::int64_t{limits::kPackBlockTokens} || block_ % 8 != 0) {
    return refuse(fmt::format("--block is a multiple of 8 up to {}", limits::kPackBlockTokens));
  }
  request_.block_tokens = static_cast<std::uint32_t>(block_);
  if (packing_ == "bfd") request_.mode = blocks::PackMode::best_fit;
  if (packing_ == "bfd-split") request_.mode = blocks::PackMode::best_fit_split;
  if (specials_ == "text") request_.specials = PackSpecials::text;
  if (specials_ == "ids") request_.specials = PackSpecials::ids;
  if (remainder_ == "fill") request_.remainder = blocks::Remainder::fill;
  if (!split_.empty()) {
    auto split = records::TextSplit::parse(split_);
    if (!split) return within("--split", split.error());
    request_.split = std::move(*split);
    if (!request_.field.empty()) return refuse("--split is for plain text, --field for JSON lines");
  }
  if (global_batch_ < 0 || static_cast<std::uint64_t>(global_batch_) > limits::kPackGlobalBatch) {
    return refuse(fmt::format("--global-batch is a number up to {}", limits::kPackGlobalBatch));
  }
  if (global_batch_ > 0) request_.global_batch = static_cast<std::uint64_t>(global_batch_);
  if (threads_ < 0 || threads_ > kMostThreads) {
    return refuse(fmt::format("--threads is a number up to {}", kMostThreads));
  }
  const std::int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
  request_.threads =
      static_cast<std::size_t>(threads_ > 0 ? threads_ : std::min(cpus, kMostThreads));
  return {};
}

ExitStatus PackBuildCommand::run(std::vector<std::string> paths, Console& console) {
  if (const Status understood = understand(); !understood) {
    console.complain(understood.error().context);
    return ExitStatus::usage;
  }
  request_.paths = std::move(paths);
  tell_of_terminal(request_.paths, console);
  const auto loaded = load_pack_vocabulary(choice_, real_files());
  if (!loaded && loaded.error().code == Errc::exhausted) return console.fail(loaded.error());
  if (!loaded) return console.fail_to_write(loaded.error());
  const StopOnSignal signals;
  PackProgressLine line;
  const auto result = build_pack(
      request_, loaded->vocabulary, real_files(), real_work_folders(),
      [&line](const PackProgress& progress) { line.show(progress); }, signals.token());
  line.clear();
  if (!result && signals.token().stop_requested()) {
    console.complain(fmt::format("interrupted; the same command with --resume goes on with {}.part",
                                 request_.out));
    return ExitStatus::interrupted;
  }
  if (!result) return console.fail_to_write(result.error());
  console.print(console.json()
                    ? blocks::encode_manifest(result->manifest) + "\n"
                    : pack_screen(*result, request_.out, choice_.tokenizer, loaded->eos_text));
  for (std::size_t i = 0; i < records::kFaultCount; ++i) {
    const bool lost = records::loses_record(static_cast<records::Fault>(i));
    if (lost && result->count.faults[i] > 0) return ExitStatus::warning;
  }
  return ExitStatus::ok;
}

}  // namespace muster
