#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cmd/completion_script.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::reason_to_skip;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

OptionRow option(std::string names, std::string value, std::vector<std::string> choices = {}) {
  const auto type = value.empty() ? OptionRow::Type::flag : OptionRow::Type::text;
  return {std::move(names), std::move(value), "it's [a] help: text\\", std::move(choices), type,
          nullptr};
}

OptionRow configured(std::string names, std::string value, std::string_view key) {
  OptionRow row = option(std::move(names), std::move(value));
  row.key = key;
  return row;
}

std::vector<VerbForm> forms() {
  return {
      {"triage",
       "the phase of a run",
       {option("-f,--follow", ""), option("--rule", "WORD", {"continuous", "two-samples"}),
        option("-o,--output", "FILE"), option("SOURCE", "SOURCE")}},
      {"config check", "explains the configuration", {option("--config", "FILE")}},
      {"agent", "serves pages", {configured("--listen", "ADDRESS:PORT", "agent.listen")}},
      {"config show", "prints it", {}},
      {"pack", "plans", {option("--out", "DIR")}},
      {"pack verify", "proves", {option("--quick", "")}},
      {"completion", "the script", {option("SHELL", "WORD", {"bash", "zsh", "fish"})}},
  };
}

// What bash would offer for `words`, the last of which is being typed, one a line.
std::string offered(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const TemporaryFolder folder;
  const std::string file =
      folder.write("script", completion_script(Shell::bash, forms()) + "COMP_WORDS=(" + line +
                                 ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                 "_muster\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  return run_shell("cd / && bash --norc " + shell_word(file)).output;
}

struct OfferRow {
  const char* name;
  std::vector<std::string> words;
  const char* expected;
};

const OfferRow kOffers[] = {
    {"verbs", {"muster", ""}, "triage\nconfig\nagent\npack\ncompletion\n--help\n--version\n"},
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
    {"settings_have_a_file", {"muster", "agent", "-"}, "--listen\n--config\n--json\n-h\n--help\n"},
    {"verb_with_others_below", {"muster", "pack", "ver"}, "verify\n"},
    {"its_files", {"muster", "pack", "us"}, "usr\n"},
    {"its_options", {"muster", "pack", "--o"}, "--out\n"},
    {"its_options_behind_a_file", {"muster", "pack", "usr", "--o"}, "--out\n"},
    {"options_below", {"muster", "pack", "verify", "--"}, "--quick\n--json\n--help\n"},
    {"file_of_settings", {"muster", "agent", "--config", "us"}, "usr\n"},
    {"choices_of_a_positional", {"muster", "completion", "z"}, "zsh\n"},
};

class BashOffers : public testing::TestWithParam<OfferRow> {};

TEST_P(BashOffers, WhatFits) {
  if (const auto why = reason_to_skip("bash"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(offered(GetParam().words), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(Completion, BashOffers, testing::ValuesIn(kOffers),
                         [](const auto& row) { return row.param.name; });

TEST(BashCompletion, IsRegistered) {
  if (const auto why = reason_to_skip("bash"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string file =
      folder.write("script", completion_script(Shell::bash, forms()) + "complete -p muster\n");
  EXPECT_EQ(run_shell("bash --norc " + shell_word(file)).output, "complete -F _muster muster\n");
}

class Syntax : public testing::TestWithParam<const char*> {};

TEST_P(Syntax, IsAcceptedByTheShell) {
  const std::string shell = GetParam();
  if (const auto why = reason_to_skip(shell); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string file =
      folder.write("script", completion_script(*shell_from_name(shell), forms()));
  const auto ran = run_shell(shell + " -n " + shell_word(file));
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "");
}
INSTANTIATE_TEST_SUITE_P(Completion, Syntax, testing::Values("bash", "zsh", "fish"),
                         [](const auto& row) { return std::string(row.param); });

TEST(FishCompletion, OffersWhatFits) {
  if (const auto why = reason_to_skip("fish"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "script", completion_script(Shell::fish, forms()) + "complete -C 'muster triage --rule '\n");
  const auto ran = run_shell("HOME=/nonexistent fish --no-config " + shell_word(file));
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
