#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cmd/completion_script.h"

namespace muster {
namespace {

OptionRow option(std::string names, std::string value, std::vector<std::string> choices = {}) {
  const auto type = value.empty() ? OptionRow::Type::flag : OptionRow::Type::text;
  return {std::move(names), std::move(value), "it's [a] help: text\\", std::move(choices), type,
          nullptr};
}

std::vector<VerbForm> forms() {
  return {
      {"triage",
       "the phase of a run",
       {option("-f,--follow", ""), option("--rule", "WORD", {"continuous", "two-samples"}),
        option("-o,--output", "FILE"), option("SOURCE", "SOURCE")}},
      {"config check", "explains the configuration", {option("--config", "FILE")}},
      {"config show", "prints it", {}},
      {"completion", "the script", {option("SHELL", "WORD", {"bash", "zsh", "fish"})}},
  };
}

// Writes `text` to a temporary file that lives as long as this.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text) {
    path_ = testing::TempDir() + "muster_completion_XXXXXX";
    const int fd = mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(fd);
  }
  ~ScriptFile() { std::remove(path_.c_str()); }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Ran {
  int status = -1;
  std::string output;  // with standard error
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    ran.output.append(buffer, n);
  }
  ran.status = pclose(pipe);
  return ran;
}

bool have(const std::string& shell) {
  return run("command -v " + shell).status == 0;
}

// A reason to skip, or nothing where the shell is there or is demanded by MUSTER_REQUIRE.
bool skip_without(const std::string& shell) {
  const char* required = std::getenv("MUSTER_REQUIRE");
  const bool must =
      required != nullptr &&
      ("," + std::string(required) + ",").find("," + shell + ",") != std::string::npos;
  return !must && !have(shell);
}

// What bash would offer for `words`, the last of which is being typed, one a line.
std::string offered(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const ScriptFile file(completion_script(Shell::bash, forms()) + "COMP_WORDS=(" + line +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                        "_muster\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  return run("cd / && bash --norc '" + file.path() + "'").output;
}

struct OfferRow {
  const char* name;
  std::vector<std::string> words;
  const char* expected;
};

const OfferRow kOffers[] = {
    {"verbs", {"muster", ""}, "triage\nconfig\ncompletion\n--help\n--version\n"},
    {"verb_begun", {"muster", "co"}, "config\ncompletion\n"},
    {"no_such_verb", {"muster", "zz"}, "\n"},
    {"options",
     {"muster", "triage", "-"},
     "-f\n--follow\n--rule\n-o\n--output\n--json\n-h\n--help\n"},
    {"option_begun", {"muster", "triage", "--f"}, "--follow\n"},
    {"choices_of_an_option", {"muster", "triage", "--rule", ""}, "continuous\ntwo-samples\n"},
    {"choice_begun", {"muster", "triage", "--rule", "t"}, "two-samples\n"},
    {"file_of_an_option", {"muster", "triage", "--output", "us"}, "usr\n"},
    {"file_of_a_short_option", {"muster", "triage", "-o", "us"}, "usr\n"},
    {"source_is_a_file", {"muster", "triage", "--follow", "us"}, "usr\n"},
    {"second_words", {"muster", "config", ""}, "check\nshow\n"},
    {"option_of_two_words", {"muster", "config", "check", "--c"}, "--config\n"},
    {"other_verb_has_not_this_option", {"muster", "config", "show", "--c"}, "\n"},
    {"choices_of_a_positional", {"muster", "completion", "z"}, "zsh\n"},
};

class BashOffers : public testing::TestWithParam<OfferRow> {};

TEST_P(BashOffers, WhatFits) {
  if (skip_without("bash")) GTEST_SKIP() << "bash is not here";
  EXPECT_EQ(offered(GetParam().words), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(Completion, BashOffers, testing::ValuesIn(kOffers),
                         [](const auto& row) { return row.param.name; });

TEST(BashCompletion, IsRegistered) {
  if (skip_without("bash")) GTEST_SKIP() << "bash is not here";
  const ScriptFile file(completion_script(Shell::bash, forms()) + "complete -p muster\n");
  EXPECT_EQ(run("bash --norc '" + file.path() + "'").output, "complete -F _muster muster\n");
}

class Syntax : public testing::TestWithParam<const char*> {};

TEST_P(Syntax, IsAcceptedByTheShell) {
  const std::string shell = GetParam();
  if (skip_without(shell)) GTEST_SKIP() << shell << " is not here";
  const ScriptFile file(completion_script(*shell_from_name(shell), forms()));
  const Ran ran = run(shell + " -n '" + file.path() + "'");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "");
}
INSTANTIATE_TEST_SUITE_P(Completion, Syntax, testing::Values("bash", "zsh", "fish"),
                         [](const auto& row) { return std::string(row.param); });

TEST(FishCompletion, OffersWhatFits) {
  if (skip_without("fish")) GTEST_SKIP() << "fish is not here";
  const ScriptFile file(completion_script(Shell::fish, forms()) +
                        "complete -C 'muster triage --rule '\n");
  const Ran ran = run("HOME=/nonexistent fish --no-config '" + file.path() + "'");
  EXPECT_NE(ran.output.find("two-samples"), std::string::npos) << ran.output;
}

TEST(ShellNames, AreClosed) {
  EXPECT_EQ(shell_from_name("fish"), Shell::fish);
  for (const char* bad : {"", "BASH", "csh", "bash "}) {
    EXPECT_FALSE(shell_from_name(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace muster
