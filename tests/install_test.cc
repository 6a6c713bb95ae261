#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// What `cmake --install` puts in place, tried in a temporary folder.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

TEST(Install, ProgramAndCompletion) {
  const TemporaryFolder folder;
  const std::string prefix = folder.path() + "/a prefix";
  const auto installed = run_shell("cmake --install " + shell_word(MUSTER_BINARY_DIR) +
                                   " --component muster --prefix " + shell_word(prefix));
  ASSERT_EQ(installed.status, 0) << installed.output;
  const auto version = run_shell(shell_word(prefix + "/bin/muster") + " --version");
  EXPECT_EQ(version.status, 0) << version.output;
  EXPECT_TRUE(version.output.starts_with("muster ")) << version.output;
  const auto trainer = run_shell(shell_word(prefix + "/bin/muster") + " train --help");
  EXPECT_EQ(trainer.status, 0) << trainer.output;
  EXPECT_NE(trainer.output.find("Usage: muster train"), std::string::npos) << trainer.output;
  for (const char* name :
       {"/share/bash-completion/completions/muster", "/share/zsh/site-functions/_muster",
        "/share/fish/vendor_completions.d/muster.fish"}) {
    EXPECT_NE(file_text(prefix + name).find("triage"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace muster
