// The mathematics of the trainer against Hugging Face's Qwen3 in real PyTorch: logits, loss and
// every gradient, from the same random weights. docs/PERFORMANCE.md has what was found.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "tests/support/plain_trainer.h"
#include "tests/support/shell.h"
#include "train/math/cpu_math.h"

namespace muster::train {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

template <typename T>
std::vector<T> numbers_of(const std::string& path) {
  const std::string bytes = file_text(path);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

double largest_difference(const std::vector<double>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : std::nan("");
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double apart = std::abs(a[i] - static_cast<double>(b[i]));
    if (!(apart <= most)) most = apart;
  }
  return most;
}

// One tiny model, tied or not.
class Qwen3Parity : public ::testing::TestWithParam<bool> {
 protected:
  static std::string config_json(bool tied) {
    return fmt::format(
        R"({{"model_type": "qwen3", "vocab_size": 331, "hidden_size": 64, "intermediate_size": 112,
             "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2,
             "head_dim": 16, "max_position_embeddings": 256, "rms_norm_eps": 1e-6,
             "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": {}}})",
        tied);
  }

  // Python starts slowly: once for both.
  static void SetUpTestSuite() {
    const char* python = std::getenv("MUSTER_PYTORCH");
    if (python == nullptr) return;
    std::string command = "PYTHONDONTWRITEBYTECODE=1 " + shell_word(python) + " " +
                          shell_word(MUSTER_SOURCE_DIR "/tests/pytorch/qwen3_reference.py");
    for (const bool tied : {false, true}) {
      const TemporaryFolder& folder = folders_.emplace_back();
      folder.write("config.json", config_json(tied));
      const UnitPlan plan(read_qwen3_config(config_json(tied)).value());
      std::string text;
      for (const Unit& unit : plan.units()) {
        for (const TensorSpec& tensor : unit.tensors) {
          text += unit.name + ' ' + tensor.name;
          for (const std::uint64_t side : tensor.shape) text += fmt::format(" {}", side);
          text += '\n';
        }
      }
      folder.write("plan.txt", text);
      command += " " + shell_word(folder.path());
    }
    made_ = run_shell(command);
  }
  static void TearDownTestSuite() { folders_.clear(); }

  void SetUp() override {
    if (folders_.empty() || made_.status == 77) {
      GTEST_SKIP() << "MUSTER_PYTORCH does not name a Python that has torch and transformers";
    }
    ASSERT_EQ(made_.status, 0) << made_.output;
    config_ = read_qwen3_config(config_json(GetParam())).value();
    ids_ = numbers_of<std::int32_t>(folder() + "/ids.i32");
    counted_.assign(ids_.size(), 1);
    batch_ = {2, ids_.size() / 2, ids_, counted_};
  }

  static const std::string& folder() { return folders_[GetParam() ? 1 : 0].path(); }
  std::vector<float> floats(const std::string& name) const {
    return numbers_of<float>(folder() + "/" + name + ".f32");
  }
  void load(PlainTrainer& trainer) const {
    const UnitPlan plan(config_);
    for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
      const std::vector<float> weights = floats("weights." + plan.units()[unit].name);
      ASSERT_EQ(weights.size(), plan.units()[unit].elements);
      trainer.master(unit).assign(weights.begin(), weights.end());
    }
    trainer.round_weights();
  }
  // Of every token.
  std::vector<double> logits(ModelMath& math, const PlainTrainer& trainer) const {
    EXPECT_TRUE(math.begin(batch_, 1));
    const std::vector<Stage>& stages = math.plan().stages();
    for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
      math.forward(stage, trainer.weights(stages[stage].unit));
    }
    std::vector<double> out(ids_.size() * config_.vocabulary);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      math.logits(i, trainer.weights(stages.back().unit),
                  std::span(out).subspan(i * config_.vocabulary, config_.vocabulary));
    }
    return out;
  }

  static inline std::deque<TemporaryFolder> folders_;
  static inline ShellRun made_;
  Qwen3Config config_;
  std::vector<std::int32_t> ids_;
  std::vector<std::uint8_t> counted_;
  MicroBatch batch_;
};

TEST_P(Qwen3Parity, TheSavedConfigurationIsReadBack) {
  const auto config = read_qwen3_config(file_text(folder() + "/hf/config.json"));
  ASSERT_TRUE(config) << config.error().context;
  EXPECT_EQ(*config, config_);
}

TEST_P(Qwen3Parity, LogitsLossAndGradientsInF32) {
  const auto math = make_cpu_math(config_, Dtype::f32, Keep::everything);
  PlainTrainer trainer(*math, 1);
  load(trainer);
  const double apart = largest_difference(logits(*math, trainer), floats("logits"));
  EXPECT_LE(apart, 1e-4);
  const double labels = static_cast<double>(ids_.size() - 2);
  const double loss = trainer.add(batch_, 1 / labels) / labels;
  EXPECT_NEAR(loss, std::stod(file_text(folder() + "/loss.txt")), 2e-6);
  double worst = 0;
  for (std::size_t unit = 0; unit < math->plan().units().size(); ++unit) {
    const Unit& what = math->plan().units()[unit];
    const std::vector<float> wanted = floats("gradients." + what.name);
    for (const TensorSpec& tensor : what.tensors) {
      double off = 0, all = 0;
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i) {
        off += std::pow(trainer.gradient(unit, i) - static_cast<double>(wanted[i]), 2);
        all += std::pow(static_cast<double>(wanted[i]), 2);
      }
      EXPECT_LE(std::sqrt(off / all), 1e-5) << tensor.name;
      worst = std::max(worst, std::sqrt(off / all));
    }
  }
  fmt::print("logits apart by {:.1e} at most, gradients of a tensor by {:.1e} of their length\n",
             apart, worst);
}

// Both round at many places, and not at the same ones: in bf16 each is as far from f32 as from the
// other.
TEST_P(Qwen3Parity, LogitsInBf16AreAsCloseToF32AsTheirs) {
  const auto math = make_cpu_math(config_, Dtype::bf16, Keep::everything);
  PlainTrainer trainer(*math, 1);
  load(trainer);
  const std::vector<float> exact = floats("logits");
  const std::vector<double> ours = logits(*math, trainer);
  const std::vector<float> rounded = floats("logits_bf16");
  const double theirs = largest_difference({rounded.begin(), rounded.end()}, exact);
  EXPECT_LE(largest_difference(ours, exact), 1.5 * theirs);
  fmt::print("bf16: ours within {:.2e} of f32, theirs within {:.2e}\n",
             largest_difference(ours, exact), theirs);
}

INSTANTIATE_TEST_SUITE_P(Models, Qwen3Parity, ::testing::Bool(), [](const auto& model) {
  return std::string(model.param ? "tied" : "untied");
});

}  // namespace
}  // namespace muster::train
