#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/shell.h"

// The script ./run and what it makes of a test run: nothing skipped, crashed or missing may read as
// passed.

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

const std::string kSource = MUSTER_SOURCE_DIR;

struct SummaryRow {
  const char* name;
  std::string log;
  std::vector<std::pair<std::string, std::string>> files;  // XML of test programs
  int status;
  std::string output;
};

std::string ran(const std::string& name, const std::string& result) {
  return " 1/9 Test #1: " + name + " ........" + result + "    0.01 sec\n";
}
std::string xml(const std::string& cases) {
  return "<?xml version=\"1.0\"?>\n<testsuites>\n" + cases + "</testsuites>\n";
}
std::string test_case(const std::string& name, const std::string& result = "completed",
                      const std::string& inside = "") {
  return "    <testcase name=\"" + name + "\" status=\"run\" result=\"" + result +
         "\" classname=\"S\">\n" + inside + "    </testcase>\n";
}

const std::string kPassed = "   Passed ";
const std::string kFailed = "***Failed ";
const std::string kFailure = "      <failure message=\"x\" type=\"\"><![CDATA[x]]></failure>\n";
const std::string kSkipped = "      <skipped message=\"a.cc:1&#x0A;no &apos;tmux&apos;\"/>\n";

const SummaryRow kSummaries[] = {
    {"two_programs",
     ran("a", kPassed) + ran("b", kPassed),
     {{"a", xml(test_case("x") + test_case("y"))}, {"b", xml(test_case("x"))}},
     0,
     "3 passed, 0 failed, 0 skipped\n"},
    {"program_without_xml", ran("canary", kPassed), {}, 0, "1 passed, 0 failed, 0 skipped\n"},
    {"skipped_with_its_reason",
     ran("a", kPassed),
     {{"a", xml(test_case("x") + test_case("y", "skipped", kSkipped))}},
     0,
     "  skipped S.y: a.cc:1 no 'tmux'\n1 passed, 0 failed, 1 skipped\n"},
    {"disabled_is_not_passed",
     ran("a", kPassed),
     {{"a", xml(test_case("x") + "    <testcase name=\"y\" status=\"notrun\" "
                                 "result=\"suppressed\" classname=\"S\" />\n")}},
     0,
     "  skipped S.y: disabled\n1 passed, 0 failed, 1 skipped\n"},
    {"skipped_by_ctest",
     ran("a", kPassed) + ran("b", "***Skipped "),
     {{"a", xml(test_case("x"))}},
     0,
     "  skipped b\n1 passed, 0 failed, 1 skipped\n"},
    {"one_failed_twice_in_one_test",
     ran("a", kFailed),
     {{"a", xml(test_case("x") + test_case("y", "completed", kFailure + kFailure))}},
     1,
     "1 passed, 1 failed, 0 skipped\n"},
    {"crashed_before_it_wrote",
     ran("a", "***Exception: SegFault "),
     {},
     1,
     "0 passed, 1 failed, 0 skipped\n"},
    {"failed_after_all_tests_passed",
     ran("a", kFailed),
     {{"a", xml(test_case("x"))}},
     1,
     "1 passed, 1 failed, 0 skipped\n"},
    {"timed_out", ran("a", "***Timeout "), {}, 1, "0 passed, 1 failed, 0 skipped\n"},
    {"not_run", ran("a", "***Not Run "), {}, 1, "0 passed, 1 failed, 0 skipped\n"},
    {"nothing_ran", "No tests were found!!!\n", {}, 1, "0 passed, 0 failed, 0 skipped\n"},
    {"all_skipped",
     ran("a", kPassed),
     {{"a", xml(test_case("y", "skipped", kSkipped))}},
     1,
     "  skipped S.y: a.cc:1 no 'tmux'\n0 passed, 0 failed, 1 skipped\n"},
    {"name_in_output_of_a_test",
     "x 1/9 Test #1: a ... Passed\n",
     {},
     1,
     "0 passed, 0 failed, 0 skipped\n"},
};

class Summary : public testing::TestWithParam<SummaryRow> {};

TEST_P(Summary, Counts) {
  const SummaryRow& row = GetParam();
  const TemporaryFolder folder;
  const std::string log = folder.write("ctest.log", row.log);
  for (const auto& [name, text] : row.files) folder.write(name + ".xml", text);
  const ShellRun run = run_shell("awk -f " + shell_word(kSource + "/tests/support/summary.awk") +
                                 " -v xml=" + shell_word(folder.path()) + " " + shell_word(log));
  EXPECT_EQ(run.output, row.output);
  EXPECT_EQ(run.status, row.status);
}
INSTANTIATE_TEST_SUITE_P(Run, Summary, testing::ValuesIn(kSummaries),
                         [](const auto& row) { return row.param.name; });

struct UsageRow {
  const char* name;
  std::string arguments;
  int status;
  std::string says;
};

const UsageRow kUsages[] = {
    {"help", "help", 0, "./run demo"},
    {"nothing", "", 0, "./run demo"},
    {"no_such_word", "tset", 64, "./run demo"},
    {"no_such_lane", "test everything", 1, "no lane of tests is called 'everything'"},
    {"pytorch_without_python", "test pytorch", 1, "needs MUSTER_PYTORCH=PYTHON"},
    {"seconds_in_words", "fuzz ten", 1, "a whole number, not 'ten'"},
};

class Usage : public testing::TestWithParam<UsageRow> {};

TEST_P(Usage, IsAnswered) {
  const ShellRun run = run_shell("cd / && unset MUSTER_PYTORCH && " + shell_word(kSource + "/run") +
                                 " " + GetParam().arguments);
  EXPECT_EQ(run.status, GetParam().status);
  EXPECT_NE(run.output.find(GetParam().says), std::string::npos) << run.output;
}
INSTANTIATE_TEST_SUITE_P(Run, Usage, testing::ValuesIn(kUsages),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster
