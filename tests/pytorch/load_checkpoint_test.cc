#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/shell.h"
#include "train/ckpt/ckpt_test_kit.h"

// What the trainer saves is what Hugging Face's libraries load: transformers with MUSTER_PYTORCH.

namespace muster::train {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

constexpr const char* kConfig =
    R"({"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","vocab_size":96,)"
    R"("hidden_size":32,"intermediate_size":48,"num_hidden_layers":2,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"head_dim":8,"max_position_embeddings":64,"rms_norm_eps":1e-6,)"
    R"("rope_theta":1000000.0,"hidden_act":"silu","attention_bias":false,)"
    R"("use_sliding_window":false,"torch_dtype":"bfloat16","tie_word_embeddings":)";

TEST(LoadCheckpoint, TransformersLoadsWhatWeSave) {
  const char* const python = std::getenv("MUSTER_PYTORCH");
  if (python == nullptr) GTEST_SKIP() << "MUSTER_PYTORCH is not set: a Python with transformers";
  const auto there = run_shell(shell_word(python) + " -c 'import transformers, safetensors'");
  if (there.status != 0) GTEST_SKIP() << "MUSTER_PYTORCH has no transformers";
  for (const bool tied : {false, true}) {
    const UnitPlan plan(small_config(tied));
    const TemporaryFolder place;
    CheckpointOptions options;
    options.folder = place.path() + "/run";
    options.file_bytes = 20'000;
    options.config_json = std::string(kConfig) + (tied ? "true}" : "false}");
    save_step(3, plan, Dtype::f32, options, real_save_disk(), 5, 1);
    const auto run =
        run_shell("PYTHONDONTWRITEBYTECODE=1 " + shell_word(python) + " " +
                  shell_word(MUSTER_SOURCE_DIR "/tests/pytorch/load_checkpoint.py") + " " +
                  shell_word(options.folder + "/step-5") + (tied ? " tied" : " untied"));
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_NE(run.output.find("right"), std::string::npos) << run.output;
  }
}

}  // namespace
}  // namespace muster::train
