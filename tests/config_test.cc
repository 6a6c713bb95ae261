#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// muster.toml as a user meets it: the real program, in a folder with or without a file.

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

const std::string kMuster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");
const std::string kDemo = shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/demo/gpus.csv");

// `command` in `folder`, which is the home as well; M is the program, D the demo recording.
ShellRun run_in(const TemporaryFolder& folder, const std::string& command) {
  return run_shell(
      "unset MUSTER_CONFIG XDG_CONFIG_HOME; export TZ=UTC HOME=" + shell_word(folder.path()) +
      " M=" + kMuster + " D=" + kDemo + "; cd \"$HOME\"; " + command);
}

TEST(Config, WrongValuesEndWithPlaceAndStatus) {
  struct Row {
    const char *name, *file, *command;
    int status;
    const char* want;
  };
  const Row rows[] = {
      {"misspelt", "[triage]\nruel = 1\n", "$M triage $D", 64,
       "muster: muster.toml:2:1: [triage] ruel is not known; did you mean rule?\n"},
      {"of another verb", "[agent]\nkeep_h = 0\n", "$M triage $D", 64, "muster.toml:2:10: agent.k"},
      {"checked alone", "[agent]\nkeep_h = 0\n", "$M config check", 64,
       "muster.toml:2:10: agent.k"},
      {"not even toml", "[=]", "$M top $D", 64, "muster: muster.toml:1:1: not TOML"},
      {"a verb without settings", "[=]", "$M findings", 0, "# Findings"},
      {"help", "[=]", "$M triage --help", 0, "triage.interval_s = 1"},
      {"an address", "[agent]\nlisten = \":1\"", "$M agent", 64,
       "muster.toml:2: agent.listen: \":1\""},
      {"a zone", "[triage]\ntz = [\"No/Where\"]", "$M record $D -o x", 64,
       "muster.toml:2: triage.tz"},
      {"a zone, checked", "[triage]\ntz = [\"No/Where\"]", "$M config check", 64, "No/Where"},
      {"a variable", "", "MUSTER_TRIAGE_RULE=both $M triage $D", 64,
       "muster: MUSTER_TRIAGE_RULE: con"},
      {"an option", "", "$M top $D --interval 0.05", 64, "--interval: a number from 0.1 to 3600"},
      {"an option, not a number", "", "$M triage $D --interval nan", 64, "--interval: a number"},
      {"an option in hexadecimal", "", "$M triage $D --interval 0x10", 64, "no decimal number"},
      {"a pipe that gives nothing", "", "mkfifo p; timeout 60 $M config check --config p", 65,
       "nothing comes from it"},
      {"a home of the shell", "", "$M triage $D --calibration='~/c'", 64, "~ stands for nothing"},
      {"named and missing", "", "$M triage $D --config gone", 65, "--config: looking at gone"},
      {"named by variable", "", "MUSTER_CONFIG=gone $M config check", 65, "MUSTER_CONFIG: looking"},
      {"a folder for a file", "", "rm muster.toml; mkdir muster.toml; $M triage $D", 65, "no file"},
      {"no calibration", "[triage]\ncalibration = \"c\"", "$M triage $D", 65, "opening c"},
      {"no calibration, checked", "[triage]\ncalibration = \"c\"", "$M config check", 64,
       "opening c"},
      {"no run", "", "$M config check --run gone", 65, "--run: listing gone"},
      {"a wrong run", "", "mkdir r; echo x=1 >r/run.toml; $M config check --run r", 64,
       "r/run.toml:1:1: schema"},
      {"home not absolute", "home = \"m\"", "$M config check", 64, "m is not absolute"},
      {"an escape", "\"\\u001b[2J\" = 1", "$M config check", 64, "\\x1b[2J is not known"},
      {"half a verb", "", "$M config", 64, "muster config check"},
  };
  for (const Row& row : rows) {
    const TemporaryFolder folder;
    folder.write("muster.toml", row.file);
    const auto run = run_in(folder, row.command);
    EXPECT_EQ(run.status, row.status) << row.name << ": " << run.output;
    EXPECT_NE(run.output.find(row.want), std::string::npos) << row.name << ": " << run.output;
    EXPECT_EQ(run.output.find('\x1b'), std::string::npos) << row.name;
  }
}

// The times of the demo recording have no zone: its last tick is 14:10:28 UTC, or 05:10:28 UTC
// where they are taken for those of Seoul.
TEST(Config, OptionOverVariableOverFileOverDefault) {
  const std::string seoul = "[triage]\ntz = [\"Asia/Seoul\"]\n";
  struct Row {
    const char* name;
    std::string file;
    const char* command;
    const char *want, *said;
  };
  const Row rows[] = {
      {"default", "", "$M triage $D", "\n14:10:28 UTC", ""},
      {"file", seoul, "$M triage $D", "\n05:10:28 UTC", "settings: triage.tz (muster.toml:2)\n"},
      {"top", seoul, "$M top $D", "05:10:28", "settings: triage.tz (muster.toml:2)\n"},
      {"variable", seoul, "MUSTER_TRIAGE_TZ=UTC $M triage $D", "\n14:10:28 UTC",
       "settings: triage.tz (MUSTER_TRIAGE_TZ)\n"},
      {"option", seoul, "MUSTER_TRIAGE_TZ=Asia/Seoul $M triage $D --tz UTC", "\n14:10:28 UTC", ""},
      {"no file", seoul, "$M triage $D --config /dev/null", "\n14:10:28 UTC", ""},
      {"an empty option takes back", "[triage]\ncalibration = \"gone\"\n",
       "$M triage $D --calibration ''", "\n14:10:28 UTC", ""},
      {"the folder of the user", "",
       "mkdir -p .config/muster; mv muster.toml .config/muster; "
       "printf '[triage]\\ntz=[\"Asia/Seoul\"]' >.config/muster/muster.toml; $M triage $D",
       "\n05:10:28 UTC", "/.config/muster/muster.toml:2)\n"},
  };
  for (const Row& row : rows) {
    const TemporaryFolder folder;
    folder.write("muster.toml", row.file);
    const auto run = run_in(folder, row.command);
    EXPECT_NE(run.output.find(row.want), std::string::npos) << row.name << ": " << run.output;
    const std::string said = *row.said == '\0' ? "settings:" : row.said;
    EXPECT_EQ(run.output.find(said) != std::string::npos, *row.said != '\0')
        << row.name << ": " << run.output;
  }
}

// Whoever runs a verb in /tmp did not ask for what somebody else put there.
TEST(Config, OfAnotherUserIsNotTrusted) {
  const bool root = run_shell("exit $(id -u)").status == 0;
  struct Row {
    const char *name, *change, *command;
    int status;
    const char* says;
    bool needs_root = false;
  };
  const char* kAnybody =
      "muster.toml in the working folder is not read: anybody may write it (--con";
  const char* kAnother =
      "muster.toml in the working folder is not read: it belongs to another user";
  const Row rows[] = {
      {"own", "", "$M triage $D", 64, "[triage] ruel is not known"},
      {"of the group", "chmod 664 muster.toml", "$M triage $D", 64, "[triage] ruel is not known"},
      {"of all", "chmod 666 muster.toml", "$M triage $D", 2, kAnybody},
      {"checked", "chmod 666 muster.toml", "$M config check", 0, kAnybody},
      {"shown", "chmod 666 muster.toml", "$M config check", 0,
       "  the working folder: muster.toml: not read: anybody may write it\n"},
      {"named", "chmod 666 muster.toml", "$M triage $D --config muster.toml", 64, "ruel is not"},
      {"of another", "chown 12345 muster.toml", "$M triage $D", 2, kAnother, true},
      {"a link of another", "mv muster.toml x; ln -s x muster.toml; chown -h 12345 muster.toml",
       "$M triage $D", 2, kAnother, true},
      {"a link to one of another", "mv muster.toml x; ln -s x muster.toml; chown 12345 x",
       "$M triage $D", 2, kAnother, true},
  };
  for (const Row& row : rows) {
    if (row.needs_root && !root) continue;
    const TemporaryFolder folder;
    folder.write("muster.toml", "[triage]\nruel = 1\n");
    const auto run = run_in(folder, std::string(row.change) + "\n" + row.command);
    EXPECT_EQ(run.status, row.status) << row.name << ": " << run.output;
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.name << ": " << run.output;
  }
}

TEST(Config, CheckExplains) {
  const TemporaryFolder folder;
  folder.write("muster.toml", "home = \"/m\"\n[triage]\ninterval_s = 2 # slow\n");
  const auto run = run_in(folder, "mkdir r; MUSTER_AGENT_KEEP_H=48 $M config check --run r");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output,
            "muster.toml is read, alone\n"
            "  the folder of the run: r/muster.toml: not there\n"
            "  the working folder: muster.toml: read\n"
            "home                 \"/m\"                             muster.toml:1\n"
            "triage.calibration   -                                not set\n"
            "triage.rule          \"continuous\"                     default\n"
            "triage.interval_s    2                                muster.toml:3\n"
            "triage.tz            -                                not set\n"
            "explain.rules        -                                not set\n"
            "check.limits         -                                not set\n"
            "check.off            -                                not set\n"
            "check.allow          -                                not set\n"
            "check.golden         -                                not set\n"
            "agent.listen         \"127.0.0.1:9835\"                 default\n"
            "agent.interval_s     1                                default\n"
            "agent.history        -                                not set\n"
            "agent.keep_h         48                               MUSTER_AGENT_KEEP_H\n");
  const auto json = run_in(folder, "$M config check --json --config muster.toml");
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(json.output.substr(0, 130),
            R"({"schema":"muster.config/1","file":"muster.toml","looked":[{"path":"muster.toml",)"
            R"("place":"--config","outcome":"read"}],"settings":)");
  EXPECT_NE(json.output.find(R"({"key":"triage.interval_s","value":2,"origin":"file",)"
                             R"("where":"muster.toml:3"})"),
            std::string::npos);
}

}  // namespace
}  // namespace muster
