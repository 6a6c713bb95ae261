#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/shell.h"

// `muster record` as it is used: killed, stopped, with a full disk, on a fake driver.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

const std::string kBuild = MUSTER_BINARY_DIR;
const std::string kDemo = shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/demo/gpus.csv");

// Runs `script` in the folder; $M is the program and "nvml" a driver of two GPUs, one of them low.
ShellRun in(const TemporaryFolder& folder, const std::string& script) {
  const std::string scenario = folder.write(
      "gpus",
      "driver new\n"
      "gpu uuid=GPU-a pci=00000000:18:00.0 name=H100 power=600,601.5 limit=700 util=100 "
      "clock=1900\n"
      "gpu uuid=GPU-b pci=00000000:19:00.0 name=H100 power=602,603.5 limit=700 util.fail=15\n");
  return run_shell("cd " + shell_word(folder.path()) + " && export TZ=UTC LD_LIBRARY_PATH=" +
                   shell_word(kBuild + "/fake_nvml") + " MUSTER_FAKE_NVML=" + shell_word(scenario) +
                   " M=" + shell_word(kBuild + "/cmd/muster") + "\n" + script);
}

constexpr const char* kUntilItGrows =
    "until [ \"$(wc -c < r.zst)\" -gt 600 ]; do sleep 0.1; done\n";

TEST(Record, Table) {
  struct Row {
    const char* name;
    std::string script;
    std::string says;
  };
  const Row rows[] = {
      {"no output", "$M record a.csv; echo \"ended $?\"", "where to? Give -o FILE\nended 64"},
      {"nothing given", "$M record -o r.zst; echo \"ended $?\"", "ended 64"},
      {"interval", "$M record nvml -o r --interval 0; echo \"ended $?\"", "3600 seconds"},
      {"length", "$M record nvml -o r --for nan; echo \"ended $?\"", "ended 64"},
      {"there already", "echo precious > r; $M record nvml -o r; echo \"ended $?\"; cat r",
       "r is there already; --force overwrites it\nended 74\nprecious"},
      {"no folder", "$M record nvml -o none/r; echo \"ended $?\"", "creating none/r"},
      {"a source too few", "$M record nvml gone.csv --for 0.1 -o r; echo \"ended $?\"",
       "gone.csv: No such file or directory\nmuster: 4 rows"},
      {"no row",
       "printf 'timestamp, index, power.draw [W]\\n' >h.csv; $M record h.csv -o r; [ -e r ] || "
       "echo none",
       "no row of telemetry in it\nnone"},
      {"no row yet",
       "printf 'timestamp, index, power.draw [W]\\n' >h.csv; $M record -f h.csv --for "
       "0.2 -o r; echo \"ended $?\"",
       "nothing was recorded: no source said anything\nended 65"},
      {"a remark alone",
       "printf 'time,host,index,power.draw [W]\\nUnable to determine the device "
       "handle for GPU 0000:1B:00.0: Unknown Error\\n' >h.csv; $M record -f h.csv "
       "--for 0.2 -o r; echo \"ended $?\"",
       "muster: no row and no step was recorded; "
       "r holds 1 remark alone\nended 65"},
      {"steps alone", "echo 'step 1/9 loss 2.5' >t.log; $M record t.log -o r; echo \"ended $?\"",
       "muster: 0 rows and 1 step, "},
      {"closed standard error", "$M record gone.csv -o r 2>&-; echo \"ended $?\"", "ended 65"},
  };
  for (const Row& row : rows) {
    const TemporaryFolder folder;
    const auto run = in(folder, row.script);
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.name << ":\n" << run.output;
  }
}

TEST(Record, OfADriverSaysWhatTheDriverSays) {
  const TemporaryFolder folder;
  const auto run =
      in(folder,
         "$M record nvml --for 1 --interval 0.1 -o r.zst 2> said; echo \"ended $?\"\n"
         "$M triage nvml --for 1 --interval 0.1 --json > live; $M triage r.zst --json "
         "> replayed\n"
         "for f in live replayed; do sed 's/,\"blind.*//; s/20[0-9T:.-]*Z/TIME/g' $f > "
         "$f.cut; done; cmp live.cut replayed.cut && cat live");
  EXPECT_NE(run.output.find("ended 0\n{\"schema\""), std::string::npos) << run.output;
}

TEST(Record, KilledReadsUpToTheLastWholeFrame) {
  const TemporaryFolder folder;
  const auto run =
      in(folder, std::string("$M record nvml --interval 0.1 -o r.zst & pid=$!\n"
                             "until [ -e r.zst ]; do sleep 0.1; done\n") +
                     kUntilItGrows +
                     "kill -9 $pid; wait $pid; printf '\\50\\265\\57\\375cut' >> r.zst\n"
                     "$M triage r.zst");
  EXPECT_NE(run.output.find("r.zst: muster recording"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("this W 60"), std::string::npos) << run.output;
}

TEST(Record, StoppedIsWhole) {
  for (const char* signal : {"INT", "TERM"}) {
    const TemporaryFolder folder;
    const auto run = in(folder, std::string("$M record nvml --interval 0.1 -o r.zst "
                                            "& pid=$!\nuntil [ -e r.zst ]; do sleep 0.1; done\n") +
                                    kUntilItGrows + "kill -" + signal +
                                    " $pid; wait $pid; echo \"ended $?\"\n$M triage r.zst");
    EXPECT_NE(run.output.find("rows"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("ended 0"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("r.zst: muster recording"), std::string::npos) << run.output;
  }
}

// A pipe that stays open and says nothing more: the end is a signal, and what came is kept.
TEST(Record, StoppedAtAPipeKeepsWhatCame) {
  const TemporaryFolder folder;
  const auto run =
      in(folder, "mkfifo p; exec 3<>p\n$M record - -o r.zst < p & pid=$!\ncat " + kDemo + " >&3\n" +
                     "until [ -e r.zst ]; do sleep 0.1; done\n" + kUntilItGrows +
                     "kill -INT $pid; wait $pid; echo \"ended $?\"; $M triage r.zst");
  EXPECT_NE(run.output.find("stopped: "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("ended 130"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("16 GPUs"), std::string::npos) << run.output;
}

TEST(Record, ADiskThatFillsUpTakesNothing) {
  const TemporaryFolder folder;
  const auto run = in(
      folder, "echo precious > r.zst\n(trap '' XFSZ; ulimit -f 64; exec $M record " + kDemo + " " +
                  kDemo + " -o r.zst --force) 2>&1 | cat; cat r.zst; $M triage r.zst.part");
  EXPECT_NE(run.output.find("writing r.zst: File too large; what was written before is in "
                            "r.zst.part, r.zst is as it was"),
            std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("precious\n"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("r.zst.part: muster recording"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace muster
