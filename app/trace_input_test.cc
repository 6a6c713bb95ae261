#include "app/trace_input.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/trace_sniff.h"
#include "base/limits.h"
#include "tests/support/memory_files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using namespace std::string_literals;

// The smallest dumps: a pickle of protocol 2, and the JSON variant.
const std::string kPickle = "\x80\x02}(X\x07\0\0\0versionX\x04\0\0\0002.10X\x07\0\0\0entries](eu."s;
constexpr const char* kJson =
    R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},)"
    R"("entries":[{"record_id":0,"process_group":["0","default_pg"],"collective_seq_id":7,)"
    R"("profiling_name":"nccl:all_reduce","state":"scheduled"}]})";
constexpr const char* kLog =
    "[rank5]: Traceback (most recent call last):\n[rank5]: ValueError: odd length\n";
constexpr const char* kRas =
    R"({"nccl_version":"2.28.7","communicators":[{"hash":"0x1","size":2,"ranks":[{"rank":0,)"
    R"("host":"10.0.0.1","pid":1,"cuda_dev":0,"status":{}}],"missing_ranks":[{"rank":1,)"
    R"("host":"10.0.0.2","pid":2,"cuda_dev":0,"status":{"unresponsive":true}}]}]})";

std::string show(const Result<TraceInput>& input) {
  if (!input) return std::string(errc_name(input.error().code));
  std::string out = fmt::format("dumps={} witnesses={} hosts={} logs={}", input->dumps.size(),
                                input->witnesses.size(), input->hosts.size(), input->logs);
  for (const Blind& blind : input->blind) {
    out += fmt::format(" [{}: {}{}]", blind.source, blind.reason, blind.hides_critical ? "!" : "");
  }
  for (const std::string& note : input->notes) out += fmt::format(" ({})", note);
  return out;
}

TraceInputOptions single() {
  return {.threads = 1};
}

std::string read(const std::vector<std::pair<std::string, std::string>>& contents,
                 const std::vector<std::string>& paths,
                 const TraceInputOptions& options = single()) {
  MemoryFiles files;
  for (const auto& [name, bytes] : contents) files.add(name, bytes);
  return show(read_trace_inputs(paths, options, files));
}

TEST(TraceSniff, ByContent) {
  const struct {
    const char* name;
    std::string bytes;
    TraceFile expected;
  } rows[] = {
      {"empty", "", TraceFile::empty},
      {"zeros", std::string(64, '\0'), TraceFile::unknown},
      {"ELF",
       std::string("\x7f"
                   "ELF\2\1\1\0\0",
                   9),
       TraceFile::unknown},
      {"protocol 9", "\x80\x09}", TraceFile::log},
      {"pickle", kPickle, TraceFile::dump},
      {"JSON dump", kJson, TraceFile::dump},
      {"JSON dump of 2.2", R"([{"collective_seq_id":1}])", TraceFile::dump},
      {"RAS", kRas, TraceFile::ras},
      {"host map", "0 n1\n1 n1\n", TraceFile::hosts},
      {"JSON host map", R"({"0":"n1"})", TraceFile::hosts},
      {"Docker's log", R"({"log":"hello\n","stream":"stderr"})", TraceFile::log},
      {"another JSON", R"({"a":1})", TraceFile::log},
      {"gzip", "\x1f\x8b\x08", TraceFile::archive},
      {"zip", "PK\x03\x04", TraceFile::archive},
      {"log", kLog, TraceFile::log},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(sniff_trace_file(row.bytes, true), row.expected) << row.name;
  }
  EXPECT_EQ(sniff_trace_file("0 n1\n1 n", false), TraceFile::log);
}

TEST(TraceInput, RanksOfLogNames) {
  const struct {
    const char* name;
    int expected;
  } rows[] = {{"rank5.log", 5},
              {"/a/rank_12.err", 12},
              {"train-rank-7.txt", 7},
              {"x.tar:logs/RANK3.out", 3},
              {"job.rank.4.log.1", 4},
              {"node3.log", -1},
              {"ranks.log", -1},
              {"rank.log", -1},
              {"rank3/train.log", -1},
              {"comm_lib_trace_rank_3", -1},
              {"rank99999999999.log", -1},
              {"frank5.log", -1}};
  for (const auto& row : rows) {
    EXPECT_EQ(log_rank_of(row.name).value_or(-1), row.expected) << row.name;
  }
}

TEST(TraceInput, NothingToRead) {
  EXPECT_EQ(read({}, {"no"}), "not_found");
  EXPECT_EQ(read({}, {}), "dumps=0 witnesses=0 hosts=0 logs=0");
  EXPECT_EQ(read({{"a", kJson}}, {"a", "no"}),
            "dumps=1 witnesses=0 hosts=0 logs=0 [no: looking at no: No such file or directory!]");
}

TEST(TraceInput, AnyMixture) {
  EXPECT_EQ(read({{"d/trace_0", kPickle},
                  {"d/deep/trace_1.json", kJson},
                  {"d/rank5.log", kLog},
                  {"d/ras.json", kRas},
                  {"d/hosts", "7 n7\n"}},
                 {"d"}),
            "dumps=2 witnesses=2 hosts=3 logs=1");
  // The map of the user stands above the addresses of RAS.
  MemoryFiles files;
  files.add("r", kRas);
  files.add("h", "1 n1\n");
  const auto input = read_trace_inputs({"r", "h"}, single(), files);
  ASSERT_TRUE(input);
  EXPECT_EQ(input->hosts, (std::map<std::int32_t, std::string>{{0, "10.0.0.1"}, {1, "n1"}}));
}

TEST(TraceInput, WhatCannotBeReadIsBlind) {
  EXPECT_EQ(read({{"comm_lib_trace_rank_3", ""}, {"rank3.log", ""}, {"x", std::string(9, '\0')}},
                 {"comm_lib_trace_rank_3", "rank3.log", "x"}),
            "dumps=1 witnesses=0 hosts=0 logs=0 [comm_lib_trace_rank_3: the dump was not finished "
            "on this rank!] [rank3.log: empty] [x: neither a dump nor a log]");
  const std::string evil =
      "\x80\x02"
      "cos\nsystem\n(S'x'\ntR.";
  EXPECT_NE(read({{"trace_0", evil}}, {"trace_0"}).find("[trace_0: this pickle wants to run code"),
            std::string::npos);
}

TEST(TraceInput, AFewOfManyUnreadableFilesAreNamed) {
  MemoryFiles files;
  std::vector<std::string> paths;
  for (int i = 0; i < 300; ++i) {
    paths.push_back(fmt::format("x{}", i));
    files.add(paths.back(), std::string(9, '\0'));
  }
  files.add("rank_1", "\x80\x02xyz");
  paths.push_back("rank_1");
  const auto input = read_trace_inputs(paths, single(), files);
  ASSERT_TRUE(input);
  ASSERT_EQ(input->blind.size(), limits::kInputsNamed + 1);
  EXPECT_EQ(input->blind.back().source, "237 more");
  EXPECT_TRUE(input->blind.back().hides_critical);
}

TEST(TraceInput, SaidRatherThanSeen) {
  TraceInputOptions options = single();
  options.logs = {"odd"};
  options.hosts = "map";
  options.ras = {"log"};
  EXPECT_EQ(read({{"odd", "0 n1\n"}, {"map", "0 n1\nwhat is this\n"}, {"log", kLog}},
                 {"odd", "map"}, options),
            "dumps=0 witnesses=0 hosts=1 logs=1 [log: no answer of NCCL RAS] [map: line 2: neither "
            "\"rank host\" nor \"ranks: host\" nor \"host: ranks\"]");
}

TEST(TraceInput, AFileCountsOnce) {
  EXPECT_EQ(read({{"d/trace_0", kJson}}, {"d", "d/trace_0", "d"}),
            "dumps=1 witnesses=0 hosts=0 logs=0");
}

TEST(TraceInput, LogsOfAllFilesAreJoined) {
  MemoryFiles files;
  files.add("launcher.log",
            "Root Cause (first observed failure):\n  time      : 2026-08-01_10:10:00\n"
            "  host      : n3\n  rank      : 11 (local_rank: 3)\n  exitcode  : -9 (pid: 70)\n");
  files.add("kernel", "Aug  1 10:09:59 n3 kernel: Out of memory: Killed process 70 (python)\n");
  const auto input = read_trace_inputs({"kernel", "launcher.log"}, single(), files);
  ASSERT_TRUE(input);
  ASSERT_EQ(input->witnesses.size(), 1u);
  EXPECT_EQ(input->witnesses[0].kind, WitnessKind::host_oom_killed);
  EXPECT_EQ(input->witnesses[0].rank, 11);
}

TEST(TraceInput, LongLinesAndLargeLogs) {
  std::string log = std::string(limits::kLineBytes + 1, 'x') + "\n";
  while (log.size() < 3 * limits::kSniffBytes) log += "step 1 loss 2.0\n";
  const std::size_t lines = static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  MemoryFiles files;
  files.add("a.log", log + kLog);
  const auto input = read_trace_inputs({"a.log"}, single(), files);
  ASSERT_TRUE(input);
  ASSERT_EQ(input->witnesses.size(), 1u);
  EXPECT_EQ(input->witnesses[0].line, lines + 2);
  EXPECT_EQ(input->notes.size(), 1u);
}

// A tar of plain files.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, bytes] : members) {
    std::string header(512, '\0');
    const auto put = [&header](std::size_t at, const std::string& text) {
      header.replace(at, text.size(), text);
    };
    put(0, name);
    put(100, "0000644");
    put(124, fmt::format("{:011o}", bytes.size()));
    put(136, "15264577600");
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum) + std::string(1, '\0'));
    out += header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  }
  return out + std::string(1024, '\0');
}

TEST(TraceInput, Archives) {
  const std::string tar =
      tar_of({{"job/comm_lib_trace_rank_0", kPickle},
              {"job/comm_lib_trace_rank_1", ""},
              {"job/rank5.log", "Traceback (most recent call last):\nKeyError: 1"},
              {"job/hosts", "0 n1\n"}});
  const std::string unfinished =
      "[a.tar:job/comm_lib_trace_rank_1: the dump was not finished on this rank!]";
  EXPECT_EQ(read({{"a.tar", tar}}, {"a.tar"}), "dumps=2 witnesses=1 hosts=1 logs=1 " + unfinished);
  EXPECT_EQ(read({{"b.tar", tar_of({{"a.tar", tar}, {"trace_0", kJson}})}}, {"b.tar"}),
            "dumps=1 witnesses=0 hosts=0 logs=0 [b.tar:a.tar: an archive inside an archive is not "
            "opened!]");
  const std::string cut = read({{"a.tar", tar.substr(0, 1700)}}, {"a.tar"});
  EXPECT_TRUE(cut.starts_with("dumps=2 ")) << cut;
  EXPECT_NE(cut.find("[a.tar: "), std::string::npos) << cut;
}

// Gives `head`, then the same byte for ever; counts what was taken.
class Endless final : public Files {
 public:
  Endless(std::string head, char again) : head_(std::move(head)), again_(again) {}
  Result<std::unique_ptr<ByteStream>> open(const std::string&) override {
    struct Stream final : ByteStream {
      explicit Stream(Endless& owner) : from(owner), left(owner.head_) {}
      Result<std::size_t> read(std::span<char> buffer) override {
        std::fill(buffer.begin(), buffer.end(), from.again_);
        std::copy_n(left.begin(), std::min(left.size(), buffer.size()), buffer.begin());
        left.remove_prefix(std::min(left.size(), buffer.size()));
        from.taken += buffer.size();
        return buffer.size();
      }
      Endless& from;
      std::string_view left;
    };
    return std::unique_ptr<ByteStream>(new Stream(*this));
  }
  Result<std::unique_ptr<ByteStream>> open_below(const std::string&, const std::string&) override {
    return open("");
  }
  Result<FileInfo> stat(const std::string&) override {
    return FileInfo{FileInfo::Type::file, 1ULL << 40, 1, {}};
  }
  Result<std::vector<std::string>> list(const std::string&) override {
    return std::vector<std::string>{};
  }
  Status write_atomic(const std::string&, std::string_view) override { return {}; }
  std::uint64_t taken = 0;

 private:
  std::string head_;
  char again_;
};

TEST(TraceInput, WhatBeginsLikeADumpIsNotReadToItsEnd) {
  const struct {
    const char* name;
    std::string head;
    char again;
    std::uint64_t most;  // bytes taken
    std::string reason;
  } rows[] = {
      {"pickle and zeros", "\x80\x02}", '\0', 2 << 20, "byte 3: an opcode that no dump has"},
      {"pickle and one opcode", "\x80\x02](", 'N', 2 << 20, "nothing of a dump so far"},
      {"pickle and a huge string", "\x80\x02}\x8d\0\0\0\x40\0\0\0\0"s, 'x', 2 << 20,
       "longer than 1 MiB"},
      {"JSON and zeros", R"([{"profiling_name":)", '\0', 20 << 20, "no flight-recorder dump"},
      {"RAS and blanks", R"({"nccl_version":"2.28","communicators":[)", ' ', 66 << 20,
       "larger than 64 MiB: not read"},
  };
  for (const auto& row : rows) {
    Endless files(row.head, row.again);
    const std::string shown = show(read_trace_inputs({"rank_0"}, single(), files));
    EXPECT_NE(shown.find(row.reason), std::string::npos) << row.name << ": " << shown;
    EXPECT_TRUE(shown.starts_with("dumps=0 ")) << row.name << ": " << shown;
    EXPECT_LE(files.taken, row.most) << row.name;
  }
}

class TraceFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, std::string_view bytes) {
    std::filesystem::create_directories(std::filesystem::path(in(name)).parent_path());
    ASSERT_TRUE(real_files().write_atomic(in(name), bytes));
  }
  std::string in(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

TEST_F(TraceFolder, NoLinkLeavesIt) {
  put("out/secret.log", kLog);
  put("in/trace_0", kJson);
  std::filesystem::create_symlink(in("out"), in("in/folder"));
  std::filesystem::create_symlink(in("out/secret.log"), in("in/file"));
  std::filesystem::create_symlink(in("in"), in("in/round"));
  std::filesystem::create_symlink(in("in"), in("start"));
  auto input = read_trace_inputs({in("in")}, {}, real_files());
  ASSERT_TRUE(input);
  EXPECT_EQ(input->dumps.size(), 1u);
  EXPECT_EQ(input->logs, 0u);
  EXPECT_EQ(input->notes.size(), 3u);
  // What the user names is followed.
  input = read_trace_inputs({in("start")}, {}, real_files());
  ASSERT_TRUE(input);
  EXPECT_EQ(input->dumps.size(), 1u);
}

TEST_F(TraceFolder, PipesAreNotOpened) {
  put("trace_0", kJson);
  for (int i = 0; i < 20; ++i) {
    testing_support::run_shell("mkfifo " + in(fmt::format("trace_rank_{}", i)));
  }
  const auto input = read_trace_inputs({folder_}, {}, real_files());
  ASSERT_TRUE(input);
  EXPECT_EQ(input->dumps.size(), 1u);
  ASSERT_EQ(input->notes.size(), limits::kNotesOfLog + 1);
  EXPECT_EQ(input->notes[0], in("trace_rank_0") + ": a pipe, socket or device, not read");
  EXPECT_EQ(input->notes.back(), "and 4 more links, pipes, sockets and devices were not read");
}

TEST_F(TraceFolder, ThreadsMakeNoDifference) {
  for (int rank = 0; rank < 40; ++rank) {
    put(fmt::format("trace_rank_{}", rank), rank % 3 == 0 ? std::string(kJson) : kPickle);
    put(fmt::format("rank{}.log", rank), "Traceback (most recent call last):\nKeyError: 1\n");
  }
  const auto one = read_trace_inputs({folder_}, {.threads = 1}, real_files());
  const auto many = read_trace_inputs({folder_}, {.threads = 8}, real_files());
  ASSERT_TRUE(one && many);
  EXPECT_EQ(show(one), "dumps=40 witnesses=40 hosts=0 logs=40");
  EXPECT_EQ(show(many), show(one));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(one->dumps[i].source, many->dumps[i].source);
    EXPECT_EQ(one->witnesses[i].rank, many->witnesses[i].rank);
  }
}

TEST_F(TraceFolder, TooDeepIsSaid) {
  std::string deep = "a";
  for (std::size_t i = 0; i < limits::kFolderDepth; ++i) deep += "/a";
  put(deep + "/trace_0", kJson);
  put("trace_1", kJson);
  const auto input = read_trace_inputs({folder_}, {}, real_files());
  ASSERT_TRUE(input);
  EXPECT_EQ(input->dumps.size(), 1u);
  ASSERT_EQ(input->blind.size(), 1u);
  EXPECT_NE(input->blind[0].reason.find("too deep"), std::string::npos);
}

}  // namespace
}  // namespace muster
