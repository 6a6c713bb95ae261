#include "train/run/train_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster::train {
namespace {

using O = TrainOptions;
using Target = std::variant<bool O::*, std::string O::*, std::uint64_t O::*, double O::*>;

struct Row {
  std::string_view name;   // "--data"
  std::string_view value;  // "DIR"; empty: a flag
  std::string_view help;
  Target target;
  double least = 0, most = 0;  // of numbers
};

constexpr double kMany = 1e9;
constexpr std::size_t kSampleBytes = 4096;  // each new token computes all of it anew
constexpr Row kRows[] = {
    {"--model", "DIR", "a Hugging Face folder of a dense Qwen3 model", &O::model},
    {"--data", "DIR", "a pack of muster pack; or a folder with one .i32 file for each rank",
     &O::data},
    {"--out", "DIR", "checkpoints, metrics, TensorBoard, signs of life", &O::out},
    {"--local", "N", "start N ranks on this host", &O::local, 1, 1024},
    {"--from-scratch", "", "random weights; --model may then be a config.json alone",
     &O::from_scratch},
    {"--resume", "", "go on with the newest complete checkpoint in --out, where there is one",
     &O::resume},
    {"--epochs", "N", "times through the data (1)", &O::epochs, 1, kMany},
    {"--steps", "N", "end after so many steps in all", &O::steps, 1, kMany},
    {"--micro", "N", "sequences that a rank computes at once (1)", &O::micro_batch, 1, 65536},
    {"--accumulate", "N", "micro batches of a step (8)", &O::accumulation, 1, 65536},
    {"--sequence", "TOKENS", "of a block of .i32 files (2048); a pack says its own", &O::sequence,
     8, static_cast<double>(limits::kPackBlockTokens)},
    {"--lr", "RATE", "at the top of the cosine (1e-5)", &O::learning_rate, 0, 1},
    {"--warmup", "PART", "of all steps (0.03)", &O::warmup, 0, 1},
    {"--weight-decay", "X", "not of norms (0)", &O::weight_decay, 0, 1},
    {"--clip", "NORM", "of the whole gradient; 0: none (1)", &O::clip, 0, kMany},
    {"--seed", "N", "of the order of blocks, and of random weights (42)", &O::seed, 0, 9e15},
    {"--dtype", "WORD", "bf16, f32 or f64; master weights are f32 or better (bf16)",
     &O::dtype_name},
    {"--checkpointing", "", "compute activations anew in backward: less memory, slower",
     &O::checkpointing},
    {"--shard-in-node", "", "shard weights over the ranks of a host, replicate across hosts (HSDP)",
     &O::shard_in_node},
    {"--prefetch", "N", "units gathered ahead: 0, 1 or 2 (1)", &O::prefetch, 0, 2},
    {"--save-every", "STEPS", "a checkpoint; one more at each epoch's end (500); 0: only there",
     &O::save_every, 0, kMany},
    {"--keep", "N", "newest checkpoints to keep; 0: all (0)", &O::keep, 0, kMany},
    {"--weights-only", "", "checkpoints without the exact state of the optimizer", &O::no_exact},
    {"--deadline", "SECONDS", "of every collective, then all ranks say who did not come (600)",
     &O::deadline_s, 1, kMany},
    {"--most-skips", "N", "steps in a row without a finite gradient, then the run ends (5)",
     &O::most_skips, 1, kMany},
    {"--peak", "TFLOPS", "of one rank, to print MFU", &O::peak_tflops, 0, 1e6},
    {"--sample", "TEXT", "what the trained model continues at the end", &O::sample},
    {"--tokenizer", "FILE", "for --sample, where it is not in the model's folder", &O::tokenizer},
    {"--run", "DIR", "the folder of the run ($MUSTER_RUN, else --out)", &O::run},
    {"--no-even-steps", "", "each rank makes as many steps as it has data for: a fault to try",
     &O::no_even_steps},
    {"--silent-hang", "", "no call is compared, none has a deadline: such a fault hangs",
     &O::silent_hang},
};

constexpr std::string_view kDtypes[] = {"f64", "f32", "bf16"};  // in the order of Dtype

Error refuse(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

Status set(const Row& row, std::string_view text, TrainOptions& options) {
  if (const auto* to = std::get_if<std::string O::*>(&row.target)) {
    if (text.empty()) return refuse(fmt::format("{} needs {}", row.name, row.value));
    options.*(*to) = std::string(text);
    return {};
  }
  const auto wrong = [&row, text] {
    return Status(refuse(fmt::format("{}: '{}' is no number from {:g} to {:g}", row.name,
                                     escape_controls(text, 40), row.least, row.most)));
  };
  if (const auto* to = std::get_if<std::uint64_t O::*>(&row.target)) {
    const auto value = parse_uint(text);
    if (!value || static_cast<double>(*value) < row.least ||
        static_cast<double>(*value) > row.most) {
      return wrong();
    }
    options.*(*to) = *value;
    return {};
  }
  const auto value = parse_double(text);
  if (!value || !(*value >= row.least) || *value > row.most) return wrong();
  options.*std::get<double O::*>(row.target) = *value;
  return {};
}

Status check(const TrainOptions& o) {
  if (o.model.empty()) return refuse("which --model? A Hugging Face folder of Qwen3");
  if (o.data.empty()) return refuse("which --data? A folder that muster pack made");
  if (o.out.empty()) return refuse("where to? Name a folder with --out");
  if (std::find(std::begin(kDtypes), std::end(kDtypes), o.dtype_name) == std::end(kDtypes)) {
    return refuse(
        fmt::format("--dtype: '{}' is none of bf16, f32, f64", escape_controls(o.dtype_name, 40)));
  }
  if (o.sample.size() > kSampleBytes) {
    return refuse(fmt::format("--sample: at most {} bytes", kSampleBytes));
  }
  if (o.sequence % 8 != 0) return refuse("--sequence is a multiple of 8");
  return {};
}

}  // namespace

Dtype TrainOptions::dtype() const {
  const auto at = std::find(std::begin(kDtypes), std::end(kDtypes), dtype_name);
  MUSTER_CHECK(at != std::end(kDtypes), "parse_train_options() looked at the word");
  return static_cast<Dtype>(at - std::begin(kDtypes));
}

Result<ParsedOptions> parse_train_options(std::span<const std::string> words) {
  ParsedOptions parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h") {
      parsed.help = true;
      return parsed;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [name](const Row& one) { return one.name == name; });
    if (row == std::end(kRows)) {
      return refuse(fmt::format("train has no {} '{}' (muster train --help)",
                                word.starts_with('-') ? "option" : "word",
                                escape_controls(name, 80)));
    }
    if (const auto* flag = std::get_if<bool O::*>(&row->target)) {
      if (equals != std::string_view::npos) return refuse(fmt::format("{} takes no value", name));
      parsed.options.*(*flag) = true;
      continue;
    }
    std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    if (equals == std::string_view::npos) {
      if (i + 1 >= words.size()) return refuse(fmt::format("{} needs {}", name, row->value));
      value = words[++i];
    }
    if (const Status fine = set(*row, value, parsed.options); !fine) return fine.error();
  }
  if (const Status fine = check(parsed.options); !fine) return fine.error();
  return parsed;
}

std::vector<std::pair<std::string, std::string>> voted_options(const TrainOptions& options) {
  // Where things lie may differ from host to host; what lies there is compared by its content, and
  // the sample by its tokens.
  static constexpr std::string_view kOwn[] = {"--model", "--data",      "--out",      "--local",
                                              "--run",   "--tokenizer", "--deadline", "--sample"};
  std::vector<std::pair<std::string, std::string>> values;
  for (const Row& row : kRows) {
    if (std::find(std::begin(kOwn), std::end(kOwn), row.name) != std::end(kOwn)) continue;
    const std::string value = std::visit(
        [&options](auto member) {
          if constexpr (std::is_same_v<decltype(member), std::string O::*>) {
            return options.*member;
          } else {
            return fmt::format("{}", options.*member);
          }
        },
        row.target);
    values.emplace_back(row.name, value);
  }
  return values;
}

std::string train_help() {
  std::string text =
      "Full fine-tuning of a dense Qwen3 model with weights sharded over all ranks.\n"
      "Usage: muster train --model DIR --data DIR --out DIR [OPTIONS]\n\n"
      "Options:\n";
  for (const Row& row : kRows) {
    text += fmt::format("  {:<24}{}\n", fmt::format("{} {}", row.name, row.value), row.help);
  }
  return text +
         "\nExamples:\n"
         "  muster pack data.jsonl --out packed --tokenizer qwen3-0.6b\n"
         "  muster plan qwen3-0.6b --gpu H100 --gpus 8     does it fit?\n"
         "  muster train --model qwen3-0.6b --data packed --out run1 --local 2\n"
         "  muster train --model qwen3-0.6b --data packed --out run1 --local 2 --resume\n"
         "  srun --ntasks-per-node 8 muster train --model /m/qwen3 --data /d/packed --out /d/run1\n"
         "  torchrun --no-python --nproc-per-node 8 muster train --model m --data d --out o\n"
         "  muster shape run1/metrics.jsonl                what slows it?\n"
         "  muster trace run1/attempts/1/flight            who hung it?\n"
         "\n"
         "Before the first step all ranks compare model, tokenizer, data, code and options; the\n"
         "rank that differs is named. They make equally many steps, whatever data each has.\n"
         "SIGTERM or SIGUSR1: a checkpoint at the end of the step, then status 75.\n"
         "\n"
         "Exit status: 0 done, 74 storage, 75 saved and left (start again with --resume),\n"
         "76 ranks out of step, 78 refused configuration, 93 no finite gradients (do not\n"
         "restart), 64 usage, 65 no input.\n";
}

}  // namespace muster::train
