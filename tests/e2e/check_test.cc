#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// `muster check` as it is used, on this machine with a stand-in for nvidia-smi before it in PATH.

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

// Seven GPUs, whatever nvidia-smi is asked for beside them.
void make_programs(const TemporaryFolder& folder) {
  const auto run = run_shell("cd " + shell_word(folder.path()) + R"SH( && mkdir bin
cat > bin/nvidia-smi <<'END'
#!/bin/sh
case "$*" in
  *--query-gpu=index,pci*)
    for i in 0 1 2 3 4 5 6; do
      printf '%s, 00000000:1%s:00.0, GPU-%s, 99%s, NVIDIA H100, 81559, ' $i $i $i $i
      printf '4, 570.86.15, 96.00, Enabled, Enabled, Enabled, 0, 1, 5, 16, 16, '
      printf '34, [N/A], 71.2, 700.00, 0x0000000000000001, 0\n'
    done ;;
  *) exit 6 ;;
esac
END
chmod +x bin/nvidia-smi)SH");
  ASSERT_EQ(run.status, 0) << run.output;
}

ShellRun in(const TemporaryFolder& folder, const std::string& script) {
  return run_shell("cd " + shell_word(folder.path()) +
                   " && export MUSTER_CONFIG=/dev/null PATH=\"$PWD/bin:$PATH\" M=" +
                   shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + "\n" + script);
}

struct Row {
  const char* name;
  const char* script;
  int status;
  const char* says;
};

TEST(Check, AnswersAsItIsAsked) {
  const TemporaryFolder folder;
  make_programs(folder);
  const Row rows[] = {
      {"no number", "$M check --limit gpu_count", 64, "a limit is NAME=NUMBER"},
      {"no such limit", "$M check --limit gpus=8", 64, "no limit is called \"gpus\""},
      {"no such check", "$M check --off gpu", 64, "muster check --list has them"},
      {"no such form", "$M check --as xml", 64, ""},
      {"no reference", "$M check --golden gone.json", 65, "gone.json"},
      {"no reference in it", "echo '{' > odd.json; $M check --golden odd.json", 65, "odd.json"},
      {"the list", "$M check --list --limit gpu_count=8 --off swap", 0,
       "gpu_count                       8 GPUs"},
      {"7 of 8", "$M check --limit gpu_count=8", 2, "7 of 8 GPUs answer"},
      {"7 of 8 as JSON", "$M check --limit gpu_count=8 --json", 2, R"("cause":"gpu_fell_off_bus")"},
      {"as a table", "$M check --limit gpu_count=8 --as table", 2, "  FAIL     gpu_count: 7 of 8"},
      {"as values", "$M check --limit gpu_count=8 --as values", 2,
       R"({"id":"gpu_count","outcome":"fail","value":7,"limit":8,"unit":"GPUs")"},
      {"as metrics", "$M check --limit gpu_count=8 --as prometheus", 2, R"(check="gpu_count"} 2)"},
      {"as a ticket", "$M check --limit gpu_count=8 --as ticket", 2,
       "| GPU 3 (00000000:13:00.0) | 993 |"},
      {"the reason for Slurm", "$M check --limit gpu_count=8 --slurm-node", 2,
       "gpu_count: 7 of 8 GPUs answer"},
      {"a key of muster.toml",
       "echo 'check.limits = [\"gpu_count=8\"]' > m.toml; $M check --config m.toml", 2,
       "7 of 8 GPUs answer"},
      {"nothing is learnt from it",
       "$M check --limit gpu_count=8 --learn g.json; s=$?; ls; exit $s", 3, "nothing is learnt"},
  };
  for (const Row& row : rows) {
    const auto run = in(folder, row.script);
    EXPECT_EQ(run.status, row.status) << row.name << ":\n" << run.output;
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.name << ":\n" << run.output;
  }
}

}  // namespace
}  // namespace muster
