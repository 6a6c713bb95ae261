#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// Files of the tree that a command makes: the committed file is what the command says today.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

const std::string kSource = MUSTER_SOURCE_DIR;
const std::string kMuster = std::string(MUSTER_BINARY_DIR) + "/cmd/muster";

TEST(Generated, FindingsDocument) {
  const auto run = run_shell(shell_word(kMuster) + " findings");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(file_text(kSource + "/docs/FINDINGS.md"), run.output)
      << "run: build/dev/cmd/muster findings > docs/FINDINGS.md";
}

TEST(Generated, DemoRecording) {
  const TemporaryFolder folder;
  const auto run = run_shell("sh " + shell_word(kSource + "/testdata/demo/generate.sh") + " " +
                             shell_word(folder.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  for (const char* name : {"/gpus.csv", "/train.log"}) {
    const std::string committed = file_text(kSource + "/testdata/demo" + name);
    EXPECT_FALSE(committed.empty());
    // Not EXPECT_EQ: it would print all of both.
    EXPECT_TRUE(file_text(folder.path() + name) == committed)
        << name << " differs; run: sh testdata/demo/generate.sh testdata/demo";
  }
}

}  // namespace
}  // namespace muster
