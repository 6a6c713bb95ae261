#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "tests/support/shell.h"

// What the tests of `muster train` share: a tiny random model, a pack of this tree's own documents.

namespace muster {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

inline const std::string kSource = MUSTER_SOURCE_DIR;
inline const std::string kMuster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");

// 2,006 tokens of vocabulary: testdata/tokenizers/qwen2.json.
inline constexpr const char* kConfig =
    R"({"model_type":"qwen3","vocab_size":2048,"hidden_size":32,"intermediate_size":64,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,)"
    R"("rms_norm_eps":1e-6,"rope_theta":10000,"max_position_embeddings":512,"hidden_act":"silu",)"
    R"("tie_word_embeddings":true})";

class Train : public testing::Test {
 protected:
  Train() { folder_.write("config.json", kConfig); }

  // Made once for all tests.
  static const std::string& packed() {
    static const TemporaryFolder folder;
    static const std::string kPath = [] {
      const std::string path = folder.path() + "/packed";
      const ShellRun made =
          run_shell(kMuster + " pack " + shell_word(kSource + "/README.md") + " " +
                    shell_word(kSource + "/CONTRIBUTING.md") + " --out " + shell_word(path) +
                    " --block 32 --split '\\n\\n' --eos none --tokenizer " +
                    shell_word(kSource + "/testdata/tokenizers/qwen2.json"));
      EXPECT_EQ(made.status, 0) << made.output;
      return path;
    }();
    return kPath;
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  // In the folder, with `environment` ("RANK=0 ...") in front.
  ShellRun run(const std::string& words, const std::string& environment = "") const {
    return run_shell("cd " + shell_word(folder_.path()) + " && " + environment + " " + kMuster +
                     " " + words);
  }
  static std::string usual(const std::string& out) {
    return "train --model config.json --from-scratch --dtype f32 --lr 5e-3 --accumulate 4 --data " +
           shell_word(packed()) + " --out " + out + " ";
  }
  std::vector<std::string> steps_of(const std::string& output) const {
    std::vector<std::string> lines;
    for (const std::string_view line : split(output, '\n')) {
      if (line.find(" | loss ") != std::string_view::npos) lines.emplace_back(line);
    }
    return lines;
  }
  static double loss_of(const std::string& line) {
    const std::size_t at = line.find("loss ") + 5;
    return parse_double(line.substr(at, line.find(' ', at) - at)).value_or(-1);
  }
  // Files of one rank each, with so many blocks of 8 tokens.
  void write_rank_files(const std::vector<std::size_t>& blocks) {
    std::filesystem::create_directory(path("cache"));
    for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
      std::string bytes;
      for (std::size_t i = 0; i < blocks[rank] * 8; ++i) {
        bytes += static_cast<char>(i * 7 % 200);
        bytes += std::string(3, '\0');
      }
      folder_.write("cache/rank0" + std::to_string(rank) + ".i32", bytes);
    }
  }

  TemporaryFolder folder_;
};

// The bytes of all files of a checkpoint, by name.
inline std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().filename()] = file_text(entry.path());
  }
  return files;
}

// Three ranks as a launcher starts them, one with other words; `words[r]` of rank r.
inline std::string three_ranks(const std::vector<std::string>& words) {
  std::string script =
      "export WORLD_SIZE=3 LOCAL_WORLD_SIZE=3 MASTER_ADDR=localhost "
      "MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$$\n";
  for (int rank = 0; rank < 3; ++rank) {
    const std::string number = std::to_string(rank);
    script += "RANK=" + number + " LOCAL_RANK=" + number + " " + kMuster + " " +
              words[static_cast<std::size_t>(rank)] + " &\np" + number + "=$!\n";
  }
  return script;
}

}  // namespace muster
