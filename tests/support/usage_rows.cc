#include "tests/support/usage_rows.h"

#include <gtest/gtest.h>

namespace muster::testing_support {

void expect_usage(const std::vector<UsageRow>& rows,
                  const std::function<ShellRun(const std::string& script)>& run) {
  for (const UsageRow& row : rows) {
    const ShellRun got = run(row.script);
    EXPECT_EQ(got.status, row.status) << row.name << ":\n" << got.output;
    EXPECT_NE(got.output.find(row.says), std::string::npos) << row.name << ":\n" << got.output;
  }
}

}  // namespace muster::testing_support
