#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/shell.h"
#include "tests/support/usage_rows.h"

// The command line as somebody meets it who does not know it yet: words that are wrong, and help.

namespace muster {
namespace {

using testing_support::expect_usage;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::UsageRow;

const std::string kMuster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");

const std::vector<UsageRow> kRows = {
    {"no_verb", "", 64, "muster: which verb? `muster help` shows all\nmuster: try `muster --help`"},
    {"near_verb", "triag x.csv", 64, "there is no verb 'triag'; did you mean triage?\n"},
    {"swapped", "recrod", 64, "there is no verb 'recrod'; did you mean record?\n"},
    {"capital", "Trace", 64, "there is no verb 'Trace'; did you mean trace?\n"},
    {"far_verb", "foo", 64, "there is no verb 'foo'; `muster help` shows all\n"},
    {"escapes", "\"$(printf 'a\\033[2J')\"", 64, "there is no verb 'a\\x1b[2J'"},
    {"half_a_verb", "config", 64, "config alone is no verb: muster config check\n"},
    {"near_half", "confg", 64, "there is no verb 'confg'; did you mean config?\n"},
    {"second_half", "config chekc", 64, "'config chekc'; did you mean config check?\n"},
    {"help_of_none", "help triag", 64, "there is no verb 'triag'; did you mean triage?\n"},
    {"option_first", "--json triage", 64,
     "the verb comes first, then its options: muster VERB --j"},
    {"near_option", "triage --folow x", 64,
     "triage has no option --folow; did you mean --follow?\nmuster: try `muster triage --help`\n"},
    {"near_option_with_value", "top --intervall=3 x", 64, "did you mean --interval?"},
    {"far_option", "trace --frobnicate", 64, "trace has no option --frobnicate\n"},
    {"option_of_the_verb_above", "pack --out x verify y", 64,
     "--out: stands in front of verify, which would not see it; put it behind\n"},
    {"word_of_the_verb_above", "pack x verify y", 64, "FILE: stands in front of verify, which"},
    {"json_above", "pack --json verify /nowhere", 65, "it has no manifest.json"},
    {"option_of_two_words", "config check --jsn", 64, "config check has no option --jsn; did"},
    {"word_too_many", "findings foo", 64, "findings takes no word 'foo'\n"},
    {"findings_as_json", "findings --json", 0,
     "{\"schema\":\"muster.findings/1\",\"causes\":[{\"cause\":\"collective_hang\""},
    {"calibrate_live", "calibrate nvml", 64,
     "nvml is a live source; calibrate learns from a recording of it: muster record nvml --for"},
    {"calibrate_live_page", "calibrate n1=http://n1:9400/metrics", 64, "is a live source; calib"},
    {"nvml_of_triage", "help triage", 0, "MUSTER_NVML"},
    {"nvml_of_top", "help top", 0, "MUSTER_NVML"},
    {"nvml_of_agent", "help agent", 0, "MUSTER_NVML"},
    {"no_value", "calibrate a.csv --merge", 64, "--merge: 1 required FILE missing\n"},
    {"plan_of_nothing", "plan", 64, "name one model, such as qwen3-32b"},
    {"plan_of_no_model", "plan qwen3-33b", 65, "no size of that name, and no such file; sizes are"},
    {"plan_of_another_gpu", "plan qwen3-8b --gpu T4", 64,
     "--gpu: known are B300, B200, H200, H100"},
    {"plan_of_half_a_node", "plan qwen3-8b --gpus 12", 64, "12 GPUs are no whole nodes of 8"},
    {"plan_fits", "plan qwen3-32b --gpu B300 --gpus 16", 0, "memory  84.0 GB of 275 a GPU"},
    {"plan_does_not_fit", "plan qwen3-32b --gpu A100 --gpus 8", 2, "so      does not fit:"},
    {"plan_as_json", "plan qwen3-0.6b --json", 0,
     "{\"schema\":\"muster.plan/1\",\"model\":\"qwen3-0.6b\",\"parameters\":596049920"},
    {"help", "help", 0, "Usage: muster [OPTIONS]"},
    {"help_of_a_verb", "help triage", 0, "Usage: muster triage [OPTIONS] [SOURCE...]"},
    {"help_of_two_words", "help config check", 0, "Usage: muster config check [OPTIONS]"},
};

TEST(Usage, Table) {
  expect_usage(kRows,
               [](const std::string& arguments) { return run_shell(kMuster + " " + arguments); });
}

}  // namespace
}  // namespace muster
