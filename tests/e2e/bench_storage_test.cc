#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/json_reader.h"
#include "tests/support/shell.h"
#include "tests/support/usage_rows.h"

// `muster bench storage` as it is used, on small files. How fast anything is is nobody's business
// here: only that what is told was measured, and that nothing stays behind.

namespace muster {
namespace {

using testing_support::expect_usage;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;
using testing_support::UsageRow;

// Runs `script` in the folder; $M is the program.
ShellRun in(const TemporaryFolder& folder, const std::string& script) {
  return run_shell("cd " + shell_word(folder.path()) + " && M=" +
                   shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + "\n" + script);
}

constexpr const char* kShort = "--size 16M --streams 3 --seconds 0.02";

TEST(BenchStorage, Usage) {
  const std::vector<UsageRow> rows = {
      {"no path", "$M bench storage", 64, "name one folder or file"},
      {"two paths", "$M bench storage . .", 64, "name one folder or file"},
      {"alone", "$M bench", 64,
       "bench alone is no verb: muster bench storage or muster bench data\n"},
      {"nowhere", "$M bench storage none", 65, "looking at none: No such file"},
      {"size", "$M bench storage . --size x", 64, "--size: such as 512M or 4G"},
      {"too small", "$M bench storage . --size 1M", 64, "1048576 bytes are too few"},
      {"too large", "$M bench storage . --size 900T", 74, "would leave less than"},
      {"streams", "$M bench storage . --streams 0", 64, "--streams: 1 to 256"},
      {"seconds", "$M bench storage . --seconds nan", 64, "--seconds: 0.01 to 3600"},
      {"half a step", "$M bench storage . --step 5", 64, "needs both --step 5 and --step-bytes"},
      {"no step", "$M bench storage . --step 0 --step-bytes 4M", 64, "needs both"},
      {"a pipe", "mkfifo p; $M bench storage p", 64, "neither a folder nor a regular file"},
      {"holes", "truncate -s 32M h; $M bench storage h", 64, "has holes"},
      {"an empty file", ": > e; $M bench storage e", 64, "0 bytes are too few"},
  };
  expect_usage(rows, [](const std::string& script) { return in(TemporaryFolder(), script); });
}

// Each row has a rate above 0, or says why it has none.
void expect_rows(const std::string& text) {
  const auto document = parse_json(text);
  ASSERT_TRUE(document) << text;
  JsonFields fields(*document);
  ASSERT_EQ(fields.array("rows").size(), 5U) << text;
  for (const JsonNode& row : fields.array("rows")) {
    JsonFields cells(row);
    const std::string state = cells.require_text("state");
    const auto rate = cells.number("bytes_per_second");
    if (state == "measured") {
      EXPECT_GT(rate.value_or(0), 0) << text;
      EXPECT_NE(cells.require_text("bound"), "") << text;
    } else {
      EXPECT_FALSE(rate) << text;
      EXPECT_NE(cells.require_text("reason"), "") << text;
    }
    EXPECT_FALSE(cells.fault()) << text;
  }
  // The copy out of memory can be measured anywhere.
  EXPECT_EQ(*fields.array("rows")[0].find("state")->get<std::string>(), "measured") << text;
}

TEST(BenchStorage, FolderKeepsNothing) {
  const TemporaryFolder folder;
  const auto run = in(folder, std::string("$M bench storage . --json ") + kShort);
  EXPECT_EQ(run.status, 0) << run.output;
  expect_rows(run.output);
  EXPECT_EQ(in(folder, "ls -A").output, "");
}

TEST(BenchStorage, FileIsOnlyRead) {
  const TemporaryFolder folder;
  const std::string before =
      in(folder, "head -c 20000000 /dev/urandom > f; chmod 444 f; stat -c '%Y %s %b' f; cksum f")
          .output;
  const auto run = in(folder, std::string("$M bench storage f --json ") + kShort);
  EXPECT_EQ(run.status, 0) << run.output;
  expect_rows(run.output);
  EXPECT_NE(run.output.find("\"file_bytes\":16777216,\"own_file\":false"), std::string::npos);
  EXPECT_EQ(in(folder, "stat -c '%Y %s %b' f; cksum f").output, before);
}

TEST(BenchStorage, Step) {
  const TemporaryFolder folder;
  // A byte in a million seconds feeds from anything; a terabyte a second from nothing.
  const auto fed =
      in(folder, std::string("$M bench storage . --step 1000 --step-bytes 1 ") + kShort);
  EXPECT_NE(fed.output.find("verdict     "), std::string::npos) << fed.output;
  const auto starved =
      in(folder, std::string("$M bench storage . --step 0.001 --step-bytes 1G ") + kShort);
  if (fed.output.find("cannot tell") == std::string::npos) {
    EXPECT_EQ(fed.status, 0) << fed.output;
    EXPECT_EQ(starved.status, 1) << starved.output;
    EXPECT_NE(starved.output.find("storage starves steps of 0.001 s that read 1.07 GB"),
              std::string::npos)
        << starved.output;
  } else {
    EXPECT_EQ(fed.status, 3) << fed.output;
  }
}

// Interrupted while it writes and while it reads, and killed: no file, and no half answer with
// status 0.
TEST(BenchStorage, Interrupted) {
  const TemporaryFolder folder;
  // Until its file is there: by then it writes or reads.
  const std::string start =
      "$M bench storage . --size 16M --seconds 3000 > out 2>&1 & p=$!\n"
      "while kill -0 $p && ! ls -l /proc/$p/fd | grep -q deleted; do :; done\n";
  const auto run = in(folder, start + "kill -TERM $p; wait $p; echo \"ended $?\"\n" + start +
                                  "kill -KILL $p; wait $p 2>/dev/null; ls -A");
  EXPECT_NE(run.output.find("ended 130\n"), std::string::npos) << run.output;
  EXPECT_TRUE(run.output.ends_with("\nout\n")) << run.output;
}

// A fio that is not what it says: its answer is text from outside.
TEST(BenchStorage, FioThatFails) {
  const TemporaryFolder folder;
  const auto run =
      in(folder, std::string("mkdir bin; printf '#!/bin/sh\\necho no >&2; exit 1\\n' > "
                             "bin/fio; chmod 755 bin/fio; PATH=$PWD/bin:$PATH\n"
                             "$M bench storage . --against-fio ") +
                     kShort);
  EXPECT_EQ(run.status, 3) << run.output;
  EXPECT_NE(run.output.find("fio failed: no"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("not measured: no pair"), std::string::npos) << run.output;
}

TEST(BenchStorage, AgainstFio) {
  if (const auto reason = testing_support::reason_to_skip("fio"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const TemporaryFolder folder;
  const auto run =
      in(folder, "$M bench storage . --against-fio --json --size 16M --streams 2 --seconds 0.02");
  EXPECT_TRUE(run.status == 0 || run.status == 3) << run.output;
  const auto document = parse_json(run.output);
  ASSERT_TRUE(document) << run.output;
  JsonFields fields(*document);
  EXPECT_TRUE(fields.require_text("fio").starts_with("fio-")) << run.output;
  ASSERT_EQ(fields.array("against_fio").size(), 5U) << run.output;
  // Every row that can be measured here has its pairs; how they compare is for a quiet machine.
  for (std::size_t i = 0; i < 5; ++i) {
    const bool measured = *fields.array("rows")[i].find("state")->get<std::string>() == "measured";
    JsonFields row(fields.array("against_fio")[i]);
    EXPECT_EQ(row.require_integer("pairs"), measured ? 7 : 0) << run.output;
  }
}

}  // namespace
}  // namespace muster
