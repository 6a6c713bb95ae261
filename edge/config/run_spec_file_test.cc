#include "edge/config/run_spec_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/memory_files.h"

namespace muster {
namespace {

const std::string kHead = "schema = \"muster.run/1\"\n[run]\n";
const std::string kCommand = "command = [\"a\"]\n";

struct Row {
  const char* name;
  std::string text;
  const char* want;  // the whole complaint
};
const std::string kGood = kHead + kCommand;
const Row kBad[] = {
    {"empty", "", "r:1:1: schema = \"muster.run/1\" is missing"},
    {"no schema", "[run]\n" + kCommand, "r:1:1: schema = \"muster.run/1\" is missing"},
    {"another version", "schema = \"muster.run/2\"\n",
     "r:1:10: muster.run/2: this program reads muster.run/1"},
    {"a schema that is no text", "schema = 1\n", "r:1:10: schema is a text, not a whole number"},
    {"an escape in the schema", "schema = \"\\u001b\"\n",
     "r:1:10: \\x1b: this program reads muster.run/1"},
    {"no run", "schema = \"muster.run/1\"\n", "r:1:1: [run] is missing"},
    {"a run that is no table", "schema = \"muster.run/1\"\nrun = 1\n",
     "r:2:7: [run] is a table, not a whole number"},
    {"a list of runs", "schema = \"muster.run/1\"\n[[run]]\n" + kCommand,
     "r:2:1: [run] is a table, not a list"},
    {"a word at the top", "schema = \"muster.run/1\"\nhosts = []\n", "r:2:1: hosts is not known"},
    {"a section that is not known", kGood + "[rum]\n",
     "r:4:2: rum is not known; did you mean run?"},
    {"no command", kHead, "r:2:1: [run] command is missing"},
    {"a line for a shell", kHead + "command = \"python3 train.py\"\n",
     "r:3:11: command is a list, not a text"},
    {"no program", kHead + "command = []\n", "r:3:11: [run] command: names no program"},
    {"an empty program", kHead + "command = [\"\"]\n", "r:3:11: [run] command: names no program"},
    {"a number in the command", kHead + "command = [\"a\", 1]\n",
     "r:3:17: each word of command is a text, not a whole number"},
    {"a zero byte in the command", kHead + "command = [\"a\\u0000b\"]\n",
     "r:3:12: command: a zero byte in a word"},
    {"misspelt", kGood + "comand = []\n",
     "r:4:1: [run] comand is not known; did you mean command?"},
    {"another engine", kGood + "engine = \"k8s\"\n",
     "r:4:10: engine is local, ssh or slurm, not \"k8s\""},
    {"an engine in capitals", kGood + "engine = \"SSH\"\n",
     "r:4:10: engine is local, ssh or slurm, not \"SSH\""},
    {"ssh without hosts", kGood + "engine = \"ssh\"\n",
     "r:2:1: [run] hosts: ssh needs at least one"},
    {"a host that is an option", kGood + "hosts = [\"n1\", \"-oProxyCommand=x\"]\n",
     "r:4:9: [run] hosts: \"-oProxyCommand=x\" is no host name"},
    {"a host twice", kGood + "hosts = [\"n1\", \"n1\"]\n", "r:4:9: [run] hosts: n1 stands twice"},
    {"hosts as a text", kGood + "hosts = \"n1\"\n", "r:4:9: hosts is a list, not a text"},
    {"no steps", kGood + "target_step = 0\n",
     "r:4:15: target_step is from 1 to 9007199254740992, not 0"},
    {"a fraction of a step", kGood + "target_step = 1.5\n",
     "r:4:15: target_step is a whole number, not a number"},
    {"steps in words", kGood + "target_step = \"10\"\n",
     "r:4:15: target_step is a whole number, not a text"},
    {"a folder without a name", kGood + "checkpoint_folder = \"\"\n",
     "r:4:21: checkpoint_folder is no path"},
    {"a zero byte in the folder", kGood + "checkpoint_folder = \"/a\\u0000\"\n",
     "r:4:21: checkpoint_folder is no path"},
    {"limits that are no table", kGood + "limits = 3\n",
     "r:4:10: [run.limits] is a table, not a whole number"},
    {"a limit misspelt", kGood + "[run.limits]\nmax_atempts = 3\n",
     "r:5:1: [run.limits] max_atempts is not known; did you mean max_attempts?"},
    {"a limit below zero", kGood + "[run.limits]\nmax_attempts = -1\n",
     "r:5:16: max_attempts is from 1 to 1000000, not -1"},
    {"a limit beyond all time", kGood + "[run.limits]\nmax_wall_s = 9223372036854775807\n",
     "r:5:14: max_wall_s is from 1 to 1000000000, not 9223372036854775807"},
    {"a remedy for nothing", kGood + "[run.remedy]\nnone = []\n",
     "r:5:1: [run.remedy] none is not known"},
    {"a remedy misspelt", kGood + "[run.remedy]\nequalise_steps = []\n",
     "r:5:1: [run.remedy] equalise_steps is not known; did you mean equalize_steps?"},
    {"a remedy as a text", kGood + "[run.remedy]\nequalize_steps = \"--even-steps\"\n",
     "r:5:18: equalize_steps is a list, not a text"},
    {"remedies at the top", kGood + "[remedy]\n", "r:4:2: remedy is not known"},
};
TEST(RunSpecFile, SaysWhatIsWrongAndWhere) {
  for (const Row& row : kBad) {
    const auto spec = parse_run_spec(row.text, "r");
    ASSERT_FALSE(spec.has_value()) << row.name;
    EXPECT_EQ(spec.error().context, row.want) << row.name;
    const bool other = std::string_view(row.want).find("this program reads") != std::string::npos;
    EXPECT_EQ(spec.error().code, other ? Errc::unsupported : Errc::invalid_input) << row.name;
  }
}

RunSpec full() {
  RunSpec spec;
  spec.command = {"python3", "train.py", "--name", "a \"b\" $(c)"};
  spec.engine = Engine::ssh;
  spec.hosts = {"n1", "n2"};
  spec.target_step = 3857;
  spec.checkpoint_folder = "/data/ckpt";
  spec.limits = {5, 86400};
  spec.remedy[Action::equalize_steps] = {"--even-steps"};
  return spec;
}

const std::string kFull =
    "# asked by hand\n" + kHead +
    "command = [\"python3\", 'train.py', \"--name\", 'a \"b\" $(c)']\n"
    "engine = \"ssh\"\nhosts = [\"n1\", \"n2\"]\ntarget_step = 3_857\n"
    "checkpoint_folder = \"/data/ckpt\"\n[run.limits]\nmax_attempts = 5\nmax_wall_s = 86400\n"
    "[run.remedy]\nequalize_steps = [\"--even-steps\"]\n";

TEST(RunSpecFile, ReadsWhatWasAsked) {
  const auto all = parse_run_spec(kFull, "r");
  ASSERT_TRUE(all.has_value()) << all.error().context;
  EXPECT_EQ(*all, full());
  RunSpec least;
  least.command = {"a"};
  EXPECT_EQ(parse_run_spec(kHead + kCommand, "r").value(), least);
}

TEST(RunSpecFile, TheExampleOfTheDocument) {
  std::ifstream in(MUSTER_SOURCE_DIR "/docs/FORMATS.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = document.find("```toml\nschema = \"muster.run/1\"");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t text = begin + std::string("```toml\n").size();
  const auto spec = parse_run_spec(document.substr(text, document.find("```", text) - text), "r");
  ASSERT_TRUE(spec.has_value()) << spec.error().context;
  EXPECT_FALSE(spec->remedy.empty());
}

TEST(RunSpecFile, OfAFile) {
  MemoryFiles files;
  files.add("/r/run.toml", kFull);
  EXPECT_EQ(read_run_spec(files, "/r/run.toml").value(), full());
  EXPECT_EQ(read_run_spec(files, "/gone").error().code, Errc::not_found);
}

// Whatever is cut off or flipped: a complaint, or a run that stands the checks; never a crash.
TEST(RunSpecFile, CutAndFlippedAtEveryByte) {
  for (std::size_t n = 0; n < kFull.size(); ++n) {
    const auto cut = parse_run_spec(kFull.substr(0, n), "r");
    EXPECT_TRUE(!cut || check_run_spec(*cut)) << n;
    for (const char mask : {'\x01', '\x20', '\x40', '\x80'}) {
      std::string flipped = kFull;
      flipped[n] = static_cast<char>(flipped[n] ^ mask);
      const auto spec = parse_run_spec(flipped, "r");
      EXPECT_TRUE(!spec || check_run_spec(*spec)) << n;
    }
  }
}

}  // namespace
}  // namespace muster
