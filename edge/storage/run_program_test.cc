#include "edge/storage/run_program.h"

#include <gtest/gtest.h>

namespace muster::storage {
namespace {

Result<std::string> shell(const std::string& script, Duration patience = std::chrono::minutes(1),
                          std::stop_token stop = {}) {
  return run_program("sh", {"-c", script}, patience, std::move(stop));
}

TEST(RunProgram, Failures) {
  struct Row {
    const char* name;
    std::string script;
    Errc code;
    std::string says;
  };
  const Row rows[] = {
      {"complaint", "echo wrong >&2; echo more >&2; exit 3", Errc::unavailable, "sh failed: wrong"},
      {"complaint on the output", "echo wrong; exit 3", Errc::unavailable, "sh failed: wrong"},
      {"in silence", "exit 3", Errc::unavailable, "sh failed: "},
      {"killed", "kill -9 $$", Errc::unavailable, "sh failed"},
  };
  for (const Row& row : rows) {
    const auto run = shell(row.script);
    ASSERT_FALSE(run) << row.name;
    EXPECT_EQ(run.error().code, row.code) << row.name;
    EXPECT_EQ(run.error().context.substr(0, row.says.size()), row.says) << row.name;
  }
  const auto none = run_program("muster-no-such-program", {}, std::chrono::seconds(1), {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
}

TEST(RunProgram, Output) {
  EXPECT_EQ(shell("printf out; echo wrong >&2").value_or(""), "out");
  EXPECT_EQ(shell("cat").value_or("?"), "") << "standard input is empty";
  EXPECT_EQ(shell("head -c 3000000 /dev/zero").value_or("").size(), 3'000'000U);
  EXPECT_EQ(shell("head -c 20000000 /dev/zero").value_or("").size(), 16U * 1024 * 1024)
      << "bounded, and the program is not held up";
}

TEST(RunProgram, Late) {
  const auto run = shell("exec cat /dev/zero > /dev/null", std::chrono::milliseconds(50));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Errc::timeout);
}

TEST(RunProgram, Stopped) {
  std::stop_source stop;
  stop.request_stop();
  const auto run =
      shell("exec cat /dev/zero > /dev/null", std::chrono::minutes(1), stop.get_token());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().context, "stopped");
}

}  // namespace
}  // namespace muster::storage
