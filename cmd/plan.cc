#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cmd/plan_screen.h"
#include "cmd/verbs.h"
#include "core/cost/node_model.h"
#include "core/model/gpu_peak.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster plan qwen3-32b --gpu B300 --gpus 16         does it fit, how fast, which wall?\n"
    "  muster plan models/mine/config.json --gpu H100 --gpus 8\n"
    "  muster plan qwen3-32b --gpu H100 --gpus 64 --micro 2 --accumulate 4\n"
    "  muster plan qwen3-8b --gpu H200 --gpus 16 --mfu 0.35 --network 200   a slower network\n"
    "  muster plan qwen3-14b --gpu A100 --gpus 16 --json | jq '.rows[.best]'\n"
    "\n"
    "MODEL is qwen3-0.6b, -1.7b, -4b, -8b, -14b, -32b, or the config.json of a Hugging Face\n"
    "folder (qwen3, qwen2, llama, mistral). Rows: `full` gathers weights for forward and\n"
    "backward of each micro batch, `keep-weights` once a micro batch, `gather-once` once a step,\n"
    "`in-node` shards over one node (HSDP). The star is the fastest that fits.\n"
    "\n"
    "Exit status: 0 what was asked for fits, 2 it does not, 64 usage, 65 no input.";

class PlanVerb final : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "memory and network of a training run: does it fit, and which wall is it at?";
  }

  void declare(VerbOptions& options) override {
    options.positionals("MODEL", &models_, "a size by its name, or a config.json");
    options.text("--gpu", &gpu_, "MODEL", "A100, H100, H200, B200 or B300 (H100)");
    options.integer("--gpus", &gpus_, "N", "of all nodes (8)");
    options.integer("--sequence", &sequence_, "TOKENS", "of one sequence (2048)");
    options.integer("--micro", &micro_, "N", "sequences that a GPU takes at once (1)");
    options.integer("--accumulate", &accumulation_, "N", "micro batches of a step (8)");
    options.flag("--checkpointing", &request_.checkpointing,
                 "activations are computed anew in backward");
    options.choice("--gradients", &gradients_, {"bf16", "f32"},
                   "what they are summed in: f32 is what muster train does (bf16)");
    options.number("--mfu", &request_.mfu, "PART",
                   "of the peak that kernels reach where nothing waits (0.4)");
    options.integer("--node", &node_, "N", "GPUs of a node (8)");
    options.number("--memory", &memory_, "GB", "of one GPU, 10^9 bytes (of the model)");
    options.number("--network", &network_, "GBIT/S", "of one GPU to other nodes (of the model)");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (models_.size() != 1) {
      console.complain("name one model, such as qwen3-32b, or a config.json (muster plan --help)");
      return ExitStatus::usage;
    }
    if (const cost::ModelShape* model = cost::find_model(models_.front())) {
      request_.model = *model;
    } else {
      const auto bytes = read_whole(real_files(), models_.front(), limits::kConfigBytes);
      if (!bytes && bytes.error().code == Errc::not_found) {
        console.complain(models_.front() + ": no size of that name, and no such file; sizes are " +
                         names_of_models());
        return ExitStatus::no_input;
      }
      if (!bytes) return console.fail(bytes.error());
      const auto shape = cost::read_model_shape(*bytes);
      if (!shape) return console.fail(within(models_.front(), shape.error()));
      request_.model = *shape;
    }
    if (const Status understood = understand(); !understood) return refuse(console, understood);
    const auto plan = cost::plan_training(request_);
    if (!plan) return refuse(console, Status(plan.error()));
    console.print(console.json() ? cost::encode_train_plan(*plan) + "\n" : plan_screen(*plan));
    return plan->rows.front().fits ? ExitStatus::ok : ExitStatus::critical;
  }

 private:
  static ExitStatus refuse(Console& console, const Status& status) {
    console.complain(status.error().context);
    return ExitStatus::usage;
  }

  static std::string names_of_models() {
    std::string names;
    for (const cost::ModelShape& model : cost::known_models()) {
      names += (names.empty() ? "" : ", ") + model.name;
    }
    return names;
  }

  Status understand() {
    const cost::NodeModel* node = cost::find_node_model(gpu_);
    if (node == nullptr) {
      std::string names;
      for (const cost::NodeModel& one : cost::node_models()) {
        names += (names.empty() ? "" : ", ") + std::string(one.gpu);
      }
      return make_error(Errc::invalid_input, "--gpu: known are " + names);
    }
    request_.gpu = std::string(node->gpu);
    request_.peak_tflops = find_gpu_peak(node->gpu)->tflops;
    request_.memory_gb = memory_ != 0 ? memory_ : node->memory_gb;
    request_.link_gb_s = node->link_gb_s;
    request_.network_gb_s = network_ != 0 ? network_ / 8 : node->network_gb_s;
    const auto count = [](std::int64_t value) {
      return value > 0 ? static_cast<std::uint64_t>(value) : 0;
    };
    request_.node_gpus = node_ != 0 ? count(node_) : node->gpus;
    request_.gpus = count(gpus_);
    request_.sequence = count(sequence_);
    request_.micro_batch = count(micro_);
    request_.accumulation = count(accumulation_);
    request_.gradient_bytes = gradients_ == "f32" ? 4 : 2;
    return {};
  }

  cost::PlanRequest request_;
  std::vector<std::string> models_;
  std::string gpu_ = "H100", gradients_ = "bf16";
  std::int64_t gpus_ = 8, sequence_ = 2048, micro_ = 1, accumulation_ = 8, node_ = 0;
  double memory_ = 0, network_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_plan_verb() {
  return std::make_unique<PlanVerb>();
}

}  // namespace muster
