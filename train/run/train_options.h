#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "train/model/dtype.h"

namespace muster::train {

// What a run is asked for. The defaults are those of a published full fine-tuning of Qwen3-32B:
// on 16 ranks 262,144 tokens a step.
struct TrainOptions {
  std::string model;      // a Hugging Face folder, or with from_scratch its config.json alone
  std::string data;       // a pack, or a folder with one .i32 file for each rank
  std::string out;        // where checkpoints, metrics and signs of life go
  std::string run;        // the folder of the run; empty: $MUSTER_RUN, else `out`
  std::string tokenizer;  // tokenizer.json or its folder, for the sample; empty: of the model
  std::string sample;     // what the trained model continues at the end; empty: nothing
  bool from_scratch = false;
  std::uint64_t local = 0;        // ranks to start on this host; 0: as the environment says
  std::uint64_t sequence = 2048;  // tokens of a block of .i32 files; a pack says its own
  std::uint64_t micro_batch = 1, accumulation = 8;
  std::uint64_t epochs = 1, steps = 0;  // of the whole run; 0: all of the epochs
  std::uint64_t seed = 42;              // of the order of blocks, and of weights from scratch
  double learning_rate = 1e-5, warmup = 0.03;  // part of all steps
  double weight_decay = 0, clip = 1;           // clip 0: not clipped
  std::string dtype_name = "bf16";
  bool checkpointing = false, shard_in_node = false;
  std::uint64_t prefetch = 1;
  std::uint64_t save_every = 500, keep = 0;
  bool no_exact = false;  // weights alone
  bool resume = false;
  std::uint64_t deadline_s = 600;
  std::uint64_t most_skips = 5;  // steps in a row whose gradient is not finite
  bool no_even_steps = false, silent_hang = false;
  double peak_tflops = 0;  // of one rank, for MFU; 0: not told

  Dtype dtype() const;
};

struct ParsedOptions {
  TrainOptions options;
  bool help = false;  // the rest means nothing
};

// `words` behind the name of the program. Errc::invalid_input: in one sentence, what to do.
Result<ParsedOptions> parse_train_options(std::span<const std::string> words);

// Options that must be the same on all ranks, with their values as text.
std::vector<std::pair<std::string, std::string>> voted_options(const TrainOptions& options);

std::string train_help();

}  // namespace muster::train
