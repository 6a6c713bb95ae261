#pragma once

#include <string>
#include <string_view>

// Commands of the machine for tests: run one, ask whether one is there, keep a temporary folder.

namespace muster::testing_support {

struct ShellRun {
  int status = -1;     // exit status; 128 + signal where it was killed; -1: could not start
  std::string output;  // standard output and standard error, in the order of writing
};

// Runs `command` by sh with an empty standard input, and without a muster.toml of whoever runs the
// test: MUSTER_CONFIG is /dev/null.
ShellRun run_shell(const std::string& command);

// 'text' as one word of sh.
std::string shell_word(std::string_view text);

// Empty where a test that needs `tool` must run: the tool is there, or MUSTER_REQUIRE (names with
// commas between) demands it, and then the test fails by itself. Otherwise the reason for
// GTEST_SKIP.
std::string reason_to_skip(const std::string& tool);

// A folder under the system's folder of temporary files, removed with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes `text` to the file `name` in the folder; returns its path.
  std::string write(const std::string& name, std::string_view text) const;

 private:
  std::string path_;
};

// The whole file; a file that cannot be read is empty.
std::string file_text(const std::string& path);

}  // namespace muster::testing_support
