#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// What `muster trace` says where there is nothing to trace, in both forms of the answer.

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

const std::string kTrace = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + " trace ";

// Something to read, and no dump.
const std::string kText = shell_word(std::string(MUSTER_SOURCE_DIR) + "/README.md");

struct UsageRow {
  const char* name;
  std::string arguments;  // FOLDER: an empty one
  int status;
  std::string says, not_says;
};

class TraceUsage : public testing::TestWithParam<UsageRow> {};

TEST_P(TraceUsage, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  std::string arguments = GetParam().arguments;
  if (const auto at = arguments.find("FOLDER"); at != std::string::npos) {
    arguments.replace(at, 6, shell_word(folder.path()));
  }
  const auto run = run_shell(kTrace + arguments);
  EXPECT_EQ(run.status, GetParam().status) << run.output;
  EXPECT_NE(run.output.find(GetParam().says), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(GetParam().not_says), std::string::npos) << run.output;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TraceUsage,
    testing::Values(
        UsageRow{"nothing", "", 64, "name the dumps", "beside dumps"},
        UsageRow{"ras_alone", "--ras ras.json", 64, "stand beside dumps", "name the dumps:"},
        UsageRow{"hosts_alone", "--hosts h.txt", 64, "stand beside dumps", "name the dumps:"},
        UsageRow{"no_ras", kText + " --ras gone", 3, "muster: --ras: looking at gone: No such f",
                 "name the dumps:"},
        UsageRow{"no_hosts", kText + " --hosts gone", 3, "muster: --hosts: looking at gone",
                 "name the dumps:"},
        UsageRow{"no_logs", kText + " --logs gone", 3, "muster: --logs: looking at gone",
                 "name the dumps:"},
        UsageRow{"no_logs_alone", "--logs gone", 65, "looking at gone: No such file",
                 "name the dumps:"},
        UsageRow{"empty_folder", "FOLDER", 3, "export TORCH_FR_BUFFER_SIZE=20000", "below"},
        UsageRow{"empty_folder_json", "FOLDER --json", 3, "export TORCH_FR_BUFFER_SIZE=20000",
                 "below"},
        UsageRow{"torch_of_no_release", "FOLDER --torch 30000000.1", 3, "TORCH_FR_", "before 2.2"},
        UsageRow{"torch_without_recorder", "FOLDER --torch 2.1", 3, "before 2.2", "export"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace muster
