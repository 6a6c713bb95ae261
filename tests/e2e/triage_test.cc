#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tests/support/shell.h"

// `muster triage` as a newcomer and an attacker would use it: the real binary, real files.

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

const std::string kMuster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");

// Six seconds of two GPUs.
std::string small_csv(const std::string& watts = "500.00 W", const std::string& separator = ", ",
                      const std::string& end = "\n", const std::string& after_first = "") {
  const auto join = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : separator) + cell;
    return line + end;
  };
  std::string out =
      join({"timestamp", "index", "power.limit [W]", "power.draw [W]", "utilization.gpu [%]"});
  for (int s = 0; s < 6; ++s) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      out += join({"2026/11/30 06:00:0" + std::to_string(s) + ".000", std::to_string(gpu), "600",
                   watts, "99 %"});
    }
    if (s == 2) out += after_first;
  }
  return out;
}

std::string named_host_csv(const std::string& host) {
  std::string out = "time,host,index,power.draw [W]\n";
  for (const char* second : {"00", "01", "02"}) {
    out += std::string("2026-11-30T06:00:") + second + "Z," + host + ",0,[N/A]\n";
  }
  return out;
}

std::string junk() {
  std::string out;
  unsigned state = 7;
  for (int i = 0; i < 3000; ++i)
    out += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return out;
}

const std::string kKernelLog =
    "[   12.3] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n";
const std::string kLostLine =
    "Unable to determine the device handle for GPU 0000:1B:00.0: Unknown Error\n";
const std::string kNotKnown = "neither GPU telemetry nor a step log that is known here";
const std::string kRightToLeft = "\xe2\x80\xae";

// iconv refuses what is not UTF-8.
bool is_valid_utf8(const TemporaryFolder& folder, const std::string& text) {
  return run_shell("iconv -f UTF-8 -t UTF-8 " + shell_word(folder.write(".text", text)) +
                   " >/dev/null")
             .status == 0;
}

struct Row {
  const char* name;
  std::vector<std::pair<std::string, std::string>> files;
  std::string command;  // after "triage", run by sh inside the folder
  int status;
  std::vector<std::string> says;
};

const std::vector<Row> kRows = {
    {"nothing_given", {}, "", 64, {"which telemetry?"}},
    {"missing_file", {}, "gone.csv", 65, {"gone.csv: No such file"}},
    {"missing_beside_good",
     {{"a.csv", small_csv()}},
     "a.csv gone.csv",
     3,
     {"gone.csv", "a.csv: nvidia-smi query CSV"}},
    {"empty_file", {{"a.csv", ""}}, "a.csv", 65, {"a.csv: empty"}},
    {"empty_folder", {}, ".", 65, {".: no files in it"}},
    {"mixture",
     {{"a.csv", small_csv()}, {"junk.bin", junk()}, {"kern.log", kKernelLog}},
     ".",
     3,
     {"./junk.bin", "./kern.log: this looks like a kernel log", "./a.csv: nvidia-smi query CSV"}},
    {"junk", {{"junk.bin", junk()}}, "junk.bin", 65, {"junk.bin: " + kNotKnown}},
    {"kernel_log",
     {{"kern.log", kKernelLog}},
     "kern.log",
     65,
     {"kern.log: this looks like a kernel log: ask muster explain"}},
    {"no_header",
     {{"a.csv", "2026/11/30 06:00:00.000, 0, NVIDIA H100 80GB HBM3, 512.10, 99, 1830\n"}},
     "a.csv",
     65,
     {"a.csv: no header line; sample without noheader (muster triage --print-sampler)"}},
    {"table_of_the_tool",
     {{"smi.txt", "Wed Feb  3 04:05:06 2027\n+----+\n| NVIDIA-SMI 575.51.03    |\n"}},
     "smi.txt",
     65,
     {"smi.txt: this looks like the table of nvidia-smi: ask muster explain"}},
    {"losses_without_steps",
     {{"t.log", "{'loss': 3.125, 'grad_norm': 0.5, 'epoch': 0.07}\n"}},
     "t.log",
     3,
     {"GPU telemetry: there is none", "t.log: step log"}},
    {"standard_input_twice", {{"a.csv", small_csv()}}, "- - <a.csv", 64, {"- twice"}},
    {"nobody_answers",
     {},
     "--for 0.2 http://127.0.0.1:1/metrics",
     65,
     {"http://127.0.0.1:1/metrics: ", "efused"}},
    {"empty_standard_input", {}, "- </dev/null", 65, {"-: empty"}},
    {"standard_input", {{"a.csv", small_csv()}}, "- <a.csv", 0, {"-: nvidia-smi query CSV"}},
    {"two_hosts",
     {{"n1.csv", small_csv()}, {"n2.csv", small_csv()}},
     "n1.csv n2.csv",
     0,
     {"host n1", "host n2"}},
    {"named_host", {{"a.csv", small_csv()}}, "n7=a.csv", 0, {"host n7"}},
    {"bad_columns",
     {{"a.csv", small_csv()}},
     "a.csv --columns bogus",
     64,
     {"\"bogus\" is not OURS=THEIRS"}},
    {"unknown_column",
     {{"a.csv", small_csv()}},
     "a.csv --columns foo=bar",
     64,
     {"\"foo\" is neither time"}},
    {"columns_not_there",
     {{"a.csv", small_csv()}},
     "a.csv --columns time=t,power_w=p",
     65,
     {"a.csv: no row of telemetry in it"}},
    {"good_columns",
     {{"a.csv", "t,n,p\n1715275642063,7,2355\n1715275644063,7,2375\n"}},
     "a.csv --columns time=t,host=n,node_power_w=p",
     3,
     {"a.csv: "}},
    {"bad_zone", {{"a.csv", small_csv()}}, "a.csv --tz Nowhere/X", 64, {"Nowhere/X"}},
    {"good_zone", {{"a.csv", small_csv()}}, "a.csv --tz +09:00", 0, {"+09:00"}},
    {"no_calibration",
     {{"a.csv", small_csv()}},
     "a.csv --calibration gone.toml",
     65,
     {"gone.toml: No such file"}},
    {"foreign_calibration",
     {{"a.csv", small_csv()}, {"c.toml", "schema = \"x\"\n"}},
     "a.csv --calibration c.toml",
     65,
     {"c.toml: no calibration: its schema"}},
    {"no_steps",
     {{"a.csv", small_csv()}},
     "a.csv --steps gone.log",
     3,
     {"muster: --steps: looking at gone.log: No such file or directory; the answer goes without",
      "blind   gone.log"}},
    {"no_steps_yet",
     {{"a.csv", small_csv()}},
     "-f --for 0.2 a.csv --steps gone.log",
     3,
     {"muster: --steps: looking at gone.log: No such file", "blind   gone.log"}},
    {"nothing_of_what_was_named", {}, "gone.csv --steps gone.log", 65, {"No such file"}},
    {"cut_last_line",
     {{"a.csv", small_csv().substr(0, small_csv().size() - 9)}},
     "a.csv",
     0,
     {"a.csv:13: the last line is cut"}},
    {"nul_tail",
     {{"a.csv", small_csv() + std::string(100, '\0')}},
     "a.csv",
     0,
     {"a.csv:14: NUL bytes in the line"}},
    {"two_headings", {{"a.csv", small_csv() + small_csv()}}, "a.csv", 0, {"of 6 ticks"}},
    {"windows",
     {{"a.csv", "\xef\xbb\xbf" + small_csv("500.00 W", ", ", "\r\n")}},
     "a.csv",
     0,
     {"of 6 ticks"}},
    {"decimal_commas", {{"a.csv", small_csv("500,00 W", ";")}}, "a.csv", 0, {"of 6 ticks"}},
    {"lost_gpu",
     {{"a.csv", small_csv("500.00 W", ", ", "\n", kLostLine)}},
     "a.csv",
     2,
     {"0000:1b:00 is lost", "a.csv:8", "of 6 ticks"}},
    {"no_index",
     {{"a.csv",
       "timestamp, power.draw [W]\n2026/11/30 06:00:00.000, 500.00 W\n"
       "2026/11/30 06:00:00.000, 510.00 W\n"}},
     "a.csv",
     3,
     {"rows name no GPU: they were numbered"}},
    {"no_time",
     {{"a.csv",
       "index, name, power.limit [W], power.draw [W], utilization.gpu [%]\n"
       "0, NVIDIA H100 80GB HBM3, 700, 131.00 W, 100 %\n"
       "1, NVIDIA H100 80GB HBM3, 700, 118.00 W, 0 %\n"}},
     "a.csv",
     3,
     {"a.csv: rows carry no time: no duration can be told; add timestamp to\n"
      "          --query-gpu",
      "time unknown"}},
    {"no_power",
     {{"a.csv", small_csv("[N/A]")}},
     "a.csv",
     3,
     {"board power of all 2 series missing", "not idle"}},
};

TEST(TriageCommand, Table) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const TemporaryFolder folder;
    for (const auto& [name, text] : row.files) folder.write(name, text);
    const auto run = run_shell("cd " + shell_word(folder.path()) + " && TZ=UTC " + kMuster +
                               " triage " + row.command);
    EXPECT_EQ(run.status, row.status) << run.output;
    for (const std::string& part : row.says) {
      EXPECT_NE(run.output.find(part), std::string::npos) << part << "\nnot in\n" << run.output;
    }
  }
}

// What was not judged is never OK, and what lies deeper or packed is read like the rest.
TEST(TriageCommand, ReadsWhatIsThereOrSaysThatItDidNot) {
  struct Pile {
    const char *make, *arguments;
    int status;
    std::vector<std::string> says;
    const char* not_says = "OK  ";
  };
  const char* kPack = "mkdir n1 n2; cp a.csv n1/gpus.csv; cp a.csv n2/gpus.csv; ";
  const Pile rows[] = {
      {"", "t.log", 3, {"a step log alone, step 3 of 9", "sampler", "read    t.log: step log"}},
      {"", "t.log --json", 3, {"\"cause\":\"evidence_missing\"", "\"GPU telemetry\""}},
      {"", "--steps t.log t.log", 3, {"a step log alone, step 3 of 9"}},
      {": > e.csv", "-f e.csv --for 0.2", 3, {"UNKNOWN", "GPU telemetry: there is none in what"}},
      {"", "-f t.log --for 0.2", 3, {"a step log alone, step 3 of 9"}},
      {kPack, "n1 n2", 0, {"n1 n2  4 GPUs", "n1/gpus.csv: nvidia-smi query CSV, host n1"}, "blind"},
      {"mkdir -p r/x; mv a.csv r/x; mv t.log r", "r", 0, {"r/x/a.csv", "of 6 ticks"}, "blind"},
      {"mkdir -p r/1/2/3/4/5/6/7/8/9; cp a.csv r; mv t.log r/1/2/3/4/5/6/7/8/9",
       "r",
       3,
       {"r/1/2/3/4/5/6/7/8: folders inside folders: too deep"}},
      {"mkdir -p r; mv a.csv r; cd r; ln -s . r; cd ..",
       "r",
       0,
       {"r/r: a link, not foll"},
       "blind"},
      {"mkdir -p r; for i in $(seq 30); do echo x > r/$i; done; mv a.csv r",
       "r",
       3,
       {"14 more files: neither"}},
      {kPack, "n.tar.gz", 0, {"n.tar.gz:n1/gpus.csv: nvidia-smi query CSV, host n1"}, "blind"},
      {kPack, "n7=n.tar", 0, {"n7  2 GPUs", "n.tar:n2/gpus.csv"}, "blind"},
      {kPack, "cut.tar", 3, {"cut.tar", "n1/gpus.csv"}},
      {kPack, "-f n.tar.gz --for 0.2", 3, {"packed or compressed, so it does not grow"}},
      {kPack, "-f n1 --for 0.2", 3, {"n1: a folder; to follow its files, name them"}},
      {"mv t.log t; tar cf n.tar t", "n.tar", 3, {"a step log alone, step 3 of 9", "n.tar:t"}},
  };
  for (const Pile& row : rows) {
    const TemporaryFolder folder;
    folder.write("a.csv", small_csv());
    folder.write("t.log", "step 1/9 loss 2.5\nstep 2/9 loss 2.4\nstep 3/9 loss 2.4\n");
    const auto run = run_shell(
        "cd " + shell_word(folder.path()) + " && export TZ=UTC && { :; " + row.make +
        "\n}; if [ -d n2 ]; then tar czf n.tar.gz n1 n2; tar cf n.tar n1 n2; head -c 4000 "
        "n.tar >cut.tar; fi; " +
        kMuster + " triage " + row.arguments);
    SCOPED_TRACE(std::string(row.make) + " / " + row.arguments + "\n" + run.output);
    EXPECT_EQ(run.status, row.status);
    for (const std::string& part : row.says) {
      EXPECT_NE(run.output.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(run.output.find(row.not_says), std::string::npos);
  }
}

// Names with ESC, a right-to-left override and a broken UTF-8 byte, as host and as path.
TEST(TriageCommand, ControlCharactersAreNeverRaw) {
  const TemporaryFolder folder;
  const std::string name = "n\x1b[31m" + kRightToLeft + "\xff" + "1";
  folder.write(name + ".csv", named_host_csv(name));
  for (const std::string& argument :
       std::vector<std::string>{".", "./" + name + ".csv", "gone" + name}) {
    for (const char* json : {"", "--json "}) {
      const auto run = run_shell("cd " + shell_word(folder.path()) + " && " + kMuster + " triage " +
                                 json + shell_word(argument));
      const bool gone = argument.starts_with("gone");
      EXPECT_EQ(run.status, gone ? 65 : 3) << run.output;
      if (!gone && *json != '\0') {
        EXPECT_TRUE(run.output.starts_with("{")) << run.output;
      }
      EXPECT_EQ(run.output.find('\x1b'), std::string::npos) << argument << json;
      // JSON is for programs: there the override is a character like others.
      if (*json == '\0') {
        EXPECT_EQ(run.output.find(kRightToLeft), std::string::npos) << argument << json;
      }
      EXPECT_TRUE(is_valid_utf8(folder, run.output)) << argument << json;
    }
  }
}

TEST(TriageCommand, OutputThatCannotBeWrittenIsNotAnAnswer) {
  const TemporaryFolder folder;
  const std::string command = kMuster + " triage " + shell_word(folder.write("a.csv", small_csv()));
  for (const char* target : {">&-", ">/dev/full"}) {
    const auto run = run_shell(command + " " + target);
    EXPECT_EQ(run.status, 74) << target << run.output;
    EXPECT_NE(run.output.find("standard output could not be written"), std::string::npos) << target;
  }
  for (const char* verb : {"findings", "findings --json", "triage --print-sampler"}) {
    EXPECT_EQ(run_shell(kMuster + " " + verb + " >/dev/full").status, 74) << verb;
  }
  const auto run = run_shell(command + " | head -1");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 1) << run.output;
}

// A pipe that says nothing: the opening for writing returns once the program reads.
TEST(TriageCommand, EndsAtASignalWhileAPipeIsSilent) {
  for (const char* words : {"triage p", "triage --follow p", "triage a.csv p", "record p -o r"}) {
    const TemporaryFolder folder;
    folder.write("a.csv", small_csv());
    const auto run =
        run_shell("cd " + shell_word(folder.path()) + " && mkfifo p && { " + kMuster + " " + words +
                  " & pid=$!; exec 3> p; kill -TERM $pid; wait $pid; echo \"ended $?\"; }");
    EXPECT_NE(run.output.find("ended 130"), std::string::npos) << words << "\n" << run.output;
  }
}

// Where somebody looks live, old values say how old they are.
TEST(TriageCommand, OldDataAreDated) {
  for (const char* words : {"top a.csv", "triage -f --for 0.2 a.csv"}) {
    const TemporaryFolder folder;
    folder.write("a.csv", small_csv());
    const auto run =
        run_shell("cd " + shell_word(folder.path()) +
                  " && sed -i s,2026/11/30,2020/02/29, a.csv && TZ=UTC " + kMuster + " " + words);
    EXPECT_NE(run.output.find("RECORDED 2020-02-29 06:00:05 UTC, "), std::string::npos)
        << words << "\n"
        << run.output;
  }
}

// Rows without a time that stood in a file say nothing of now; those that come are of the moment in
// which they come.
TEST(TriageCommand, WhatHasNoTimeIsLiveOnlyWhereItComesWhileWeLook) {
  const struct {
    const char* command;
    bool live;
  } rows[] = {
      {"top a", false},
      {"triage -f --for 0.3 a", false},
      {"top a a2", false},
      {"top a dated.csv", true},
      {"triage -f --for 0.3 - <a", true},
      {"triage -f --for 3 grown & sleep 1; cat more >> grown; wait", true},
  };
  const TemporaryFolder folder;
  const std::string row = "    0   300    45     -    90    30     0     0  2619  1410\n";
  const std::string head =
      "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
      "# Idx     W     C     C     %     %     %     %   MHz   MHz\n";
  folder.write("a", head + row + row);
  folder.write("a2", head + row + row);
  folder.write("grown", head + row + row);
  folder.write("more", row);
  folder.write("dated.csv", small_csv());
  for (const auto& test : rows) {
    const auto run = run_shell("cd " + shell_word(folder.path()) + " && export TZ=UTC && { " +
                               kMuster + " " + test.command + "; }");
    EXPECT_EQ(run.output.find(" UTC  ") != std::string::npos, test.live) << test.command << "\n"
                                                                         << run.output;
  }
}

// Whatever the sources do: a file that does not grow, a pipe that says nothing more, one that never
// said anything, and a look at live sources that is not due for an hour.
TEST(TriageCommand, EndsOnTime) {
  struct Ending {
    const char *command, *says;
    int status;
  };
  const Ending rows[] = {
      {"triage -f --for 0.3 a.csv", "of 6 ticks", 0},
      {"triage -f --for 0.3 --interval 3600 a.csv", "of 6 ticks", 0},
      {"triage --for 0.3 p", "the time of --for is over: what had come until then was read", 0},
      {"triage --for 0.3 - <p", "of 6 ticks", 0},
      {"triage --for 0.3 silent", "silent: stopped before it was read", 65},
      {"record --for 0.3 p -o r", "12 rows", 0},
      {"record -f --for 0.3 --interval 3600 a.csv -o r", "12 rows", 0},
  };
  for (const Ending& row : rows) {
    const TemporaryFolder folder;
    folder.write("a.csv", small_csv());
    const auto run = run_shell("cd " + shell_word(folder.path()) +
                               " && export TZ=UTC && mkfifo p silent && exec 3<>p 4<>silent && "
                               "cat a.csv >&3 && timeout 60 " +
                               kMuster + " " + row.command);
    EXPECT_EQ(run.status, row.status) << row.command << "\n" << run.output;
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.command << "\n" << run.output;
  }
}

TEST(TriageCommand, UnreadableFile) {
  if (const auto reason = testing_support::reason_to_skip("setpriv"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("a.csv", small_csv());
  // Root reads any file, so it runs the program without its capabilities.
  const auto run =
      run_shell("chmod 000 " + shell_word(path) + " && if [ \"$(id -u)\" = 0 ]; then " +
                "setpriv --inh-caps=-all --bounding-set=-all " + kMuster + " triage " +
                shell_word(path) + "; else " + kMuster + " triage " + shell_word(path) + "; fi");
  EXPECT_EQ(run.status, 77) << run.output;
  EXPECT_NE(run.output.find("Permission denied"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace muster
