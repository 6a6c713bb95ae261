#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/shell.h"

namespace muster::testing_support {

// What somebody types, and what the program does with it.
struct UsageRow {
  std::string name;
  std::string script;
  int status;
  std::string says;  // somewhere in what it prints
};

// Runs each row's script by `run`; a test that uses it fails for each row that does otherwise.
void expect_usage(const std::vector<UsageRow>& rows,
                  const std::function<ShellRun(const std::string& script)>& run);

}  // namespace muster::testing_support
