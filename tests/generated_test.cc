#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"
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

// The screens of README.md: each block that begins with "$ command".
TEST(Generated, ScreensOfTheReadme) {
  const std::string readme = file_text(kSource + "/README.md");
  const std::string opening = "```console\n$ ";
  int screens = 0;
  for (std::size_t at = readme.find(opening); at != std::string::npos;
       at = readme.find(opening, at + 1)) {
    const std::size_t command_at = at + opening.size();
    const std::size_t output_at = readme.find('\n', command_at) + 1;
    const std::string command = readme.substr(command_at, output_at - 1 - command_at);
    const std::string output = readme.substr(output_at, readme.find("```", output_at) - output_at);
    const auto run =
        run_shell("cd " + shell_word(kSource) + " && export TZ=UTC && PATH=" +
                  shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd") + ":\"$PATH\" && " + command);
    EXPECT_EQ(output, run.output) << command;
    ++screens;
  }
  EXPECT_EQ(screens, 6);
}

// The table of verbs in README.md names the verbs of the program, all of them and no others.
TEST(Generated, VerbsOfTheReadme) {
  const std::string readme = file_text(kSource + "/README.md");
  const auto run = run_shell(shell_word(kMuster) +
                             " --help | sed -n '/^Subcommands:/,/^$/s/^  \\([a-z]*\\) .*/\\1/p'");
  ASSERT_EQ(run.status, 0) << run.output;
  std::set<std::string> known;
  for (const auto verb : split(trim(run.output), '\n')) known.emplace(trim(verb));
  EXPECT_TRUE(known.contains("triage")) << run.output;
  std::set<std::string> written;
  const std::string row = "\n| `muster ";
  for (std::size_t at = readme.find(row); at != std::string::npos; at = readme.find(row, at + 1)) {
    const std::size_t begin = at + row.size();
    written.insert(readme.substr(begin, readme.find_first_of(" `", begin) - begin));
  }
  EXPECT_EQ(written, known);
}

}  // namespace
}  // namespace muster
