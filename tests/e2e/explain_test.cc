#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/shell.h"
#include "tests/support/usage_rows.h"

// `muster explain` as it is used: piles of logs, packed, rotated, cut, from a pipe; own rules;
// codes.

namespace muster {
namespace {

using testing_support::expect_usage;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;
using testing_support::UsageRow;

// A night in a folder: n12 loses a GPU, eight ranks wait for it and say so ten minutes later.
void make_night(const TemporaryFolder& folder) {
  const auto run = run_shell("cd " + shell_word(folder.path()) + R"SH( && mkdir logs && cd logs
works="WorkNCCL(SeqNum=3907, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000)"
for r in 0 1 2 3 4 5 6 7; do
  echo "2026-08-01 03:11:30 step 480/4000 loss 1.8"
  printf "[rank$r]:[E801 03:21:4$r.118203377 ProcessGroupNCCL.cpp:629] [Rank $r] Watchdog caught "
  echo "collective operation timeout: $works ran for 600047 milliseconds before timing out."
done > rank_0.log
printf "[Sat Aug  1 03:11:40 2026] NVRM: Xid (PCI:0000:9b:00): 79, pid=1, " > n12_dmesg.txt
echo "GPU has fallen off the bus." >> n12_dmesg.txt
touch -d 2026-08-02 *)SH");
  ASSERT_EQ(run.status, 0) << run.output;
}

// $M is the program; times are UTC's.
ShellRun in(const TemporaryFolder& folder, const std::string& script) {
  return run_shell("cd " + shell_word(folder.path()) + " && export TZ=UTC M=" +
                   shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + "\n" + script);
}

void expect_rows(const TemporaryFolder& folder, const std::vector<UsageRow>& rows) {
  expect_usage(rows, [&folder](const std::string& script) { return in(folder, script); });
}

TEST(Explain, WhatCannotBeAnswered) {
  const TemporaryFolder folder;
  make_night(folder);
  expect_rows(
      folder,
      {{"nothing named", "$M explain", 64, "name the logs"},
       {"not there", "$M explain gone", 65, "gone: No such file"},
       {"an empty folder", "mkdir none; $M explain none", 65, "no file"},
       {"a zone that nobody knows", "$M explain logs --tz n12=Nowhere/Land", 64, "Nowhere/Land"},
       {"a zone for all that nobody knows", "$M explain logs --tz Nowhere/Land", 64, "--tz: "},
       {"nothing but zeros, packed", "head -c 5000000 /dev/zero | gzip > z.gz; $M explain z.gz", 3,
        "no text"},
       {"nothing, packed", "printf '' | gzip > e.gz; $M explain e.gz", 65, "e.gz"},
       {"an archive of nothing", "mkdir v; tar czf v.tgz -C v .; $M explain v.tgz", 3, "to judge"},
       {"an empty file", ": > f.log; $M explain f.log", 3, "it is empty"},
       {"rules that are not there", "$M explain logs --rules gone.toml", 65, "gone.toml"},
       {"a code that is none", "$M explain xid seventy", 64, "xid [CODE]"},
       {"a code that nobody prints", "$M explain xid 999", 64, "Xid 999 is not known here"},
       {"an image", "printf '\\211PNG\\r\\n\\032\\n\\0\\0' > a.png; $M explain a.png", 3,
        "cannot tell: a.png could not be used (no text"},
       {"lines of something else", "echo hello > b.log; $M explain b.log", 3, "no line known"},
       {"a run that ended well", "echo 'step 9/9 loss 1.8' > c.log; $M explain c.log", 0, "OK"}});
}

TEST(Explain, TheFirstCauseFromAnyForm) {
  const TemporaryFolder folder;
  make_night(folder);
  const std::string lost = "gpu n12/0000:9b:00.0";
  expect_rows(
      folder,
      {{"a folder", "$M explain logs", 2, lost},
       {"files", "$M explain logs/*", 2, lost},
       {"the other way round", "$M explain $(ls -r logs/*)", 2, lost},
       {"a document", "$M explain logs --json", 2, "\"cause\":\"gpu_fell_off_bus\""},
       {"an archive", "tar czf l.tar.gz logs && $M explain l.tar.gz", 2, lost},
       {"each packed", "cp -r logs z && gzip z/* && $M explain z", 2, lost},
       {"rotated", "cp -r logs r && mv r/rank_0.log r/rank_0.log.1 && $M explain r", 2, lost},
       {"from a pipe", "cat logs/* | $M explain -", 2, "0000:9b:00.0"},
       {"with CRLF", "cp -r logs c && sed -i 's/$/\\r/' c/* && $M explain c", 2, lost},
       {"cut in a line",
        "cp -r logs t && head -c 500 logs/rank_0.log > t/rank_0.log && $M explain t", 2, lost},
       {"junk beside it", "head -c 100000 /dev/zero > logs/junk; $M explain logs", 2, lost}});
}

// The last hour of summer time comes twice: the stamps of the exception are older than those of the
// time-outs that follow from it, and the lines are in order.
TEST(Explain, AChangeOfTheClockKeepsTheOrder) {
  const TemporaryFolder folder;
  const std::string works =
      "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3907, OpType=ALLREDUCE, "
      "Timeout(ms)=600000) ran for 600047 milliseconds before timing out.";
  std::string log =
      "2026-10-25 02:40:00 step 470/4000 loss 1.8\n2026-10-25 02:50:00 step 480/4000 loss 1.8\n"
      "2026-10-25 02:55:00 [rank3]: KeyError: 'mask'\n";
  for (const char* rank : {"0", "1", "2", "4", "5", "6", "7"}) {
    log += "2026-10-25 02:05:0" + std::string(rank) + " [rank" + rank + "]: [Rank " + rank + "] " +
           works + "\n";
  }
  folder.write("train.log", log);
  folder.write("late.log", log + "2026-10-25 03:05:00 step 490/4000 loss 1.8\n");
  expect_rows(folder, {{"a zone", "$M explain train.log --tz Europe/Berlin --json", 2,
                        "\"cause\":\"rank_exception\""},
                       {"no zone", "$M explain train.log --json", 2, "\"id\":\"3\""},
                       {"and on", "$M explain late.log --tz Europe/Berlin", 0, "went on"}});
}

TEST(Explain, OwnRules) {
  const TemporaryFolder folder;
  folder.write("rules.toml",
               "[[rule]]\nname = \"gremlins\"\npattern = 'gremlins in (?P<path>\\S+)'\n"
               "cause = \"disk_full\"\nsubject = \"file:{path}\"\nmatch = [\"gremlins in /a\"]\n");
  folder.write("bad.toml", "[[rule]]\nname = \"g\"\npattern = '('\n");
  folder.write("fails.toml",
               "[[rule]]\nname = \"g\"\npattern = 'gremlins'\nmatch = [\"kobolds\"]\n");
  folder.write("a.log", "[rank3]: gremlins in /scratch\n");
  expect_rows(
      folder,
      {{"without them", "$M explain a.log", 3, "no line known here"},
       {"with them", "$M explain a.log --rules rules.toml", 2, "file /scratch"},
       {"of the settings", "MUSTER_EXPLAIN_RULES=rules.toml $M explain a.log", 2, "file /scratch"},
       {"a bad one", "$M explain a.log --rules bad.toml", 65, "rule g: its pattern"},
       {"tried", "$M explain --test-rules rules.toml", 0, "1 rules, 1 lines, 0 failed"},
       {"tried and bad", "$M explain --test-rules bad.toml", 65, "rule g"},
       {"tried and failed", "$M explain --test-rules fails.toml", 2, "FAIL  rule g must match"}});
}

TEST(Explain, Codes) {
  const TemporaryFolder folder;
  expect_rows(folder, {{"one", "$M explain xid 79", 0, "power_cycle_host"},
                       {"a switch's", "$M explain sxid 12028", 0, "SXid 12028"},
                       {"all", "$M explain xid | wc -l", 0, "176"},
                       {"a document", "$M explain xid 79 --json", 0, "muster.code/1"},
                       {"a file of that name", "echo step 9/9 > xid; $M explain xid", 0, "1 log"}});
}

}  // namespace
}  // namespace muster
