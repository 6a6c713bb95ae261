#include "tests/support/flight_writer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/flight/dump_reader.h"
#include "tests/support/flight_simulator.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::reason_to_skip;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

// One call of rank 1, completed, with two frames.
FlightDump small_dump(const std::string& version) {
  FlightDump d;
  d.version = version;
  d.rank = 1;
  d.library_version = "2.27.5";
  d.groups.push_back({"0", "default_pg", std::vector<std::int32_t>{0, 1}, 0, 7, 7});
  d.signatures.push_back({"nccl:all_reduce", {{70000}}, {{70000}}, {"Float"}, {"Float"}});
  d.frames = {{"all_reduce", "c10d.py", 300}, {"train", "train.py", 12}};
  d.stacks = {{}, {0, 1}};
  FlightEntry e;
  e.record_id = 0;
  e.seq = 7;
  e.p2p_seq = 0;
  e.created_ns = 1'780'000'000'000'000'001;
  e.completed_seen_ns = 1'780'000'000'100'000'000;
  e.duration_ms = 1.5F;
  e.timeout_ms = 600'000;
  e.stack = 1;
  e.state = FlightState::completed;
  e.retired = true;
  d.entries = {e};
  return d;
}

TEST(FlightWriter, StringsAndFramesAreShared) {
  FlightDump d = small_dump("1.4");
  d.entries.clear();
  using namespace std::string_literals;
  EXPECT_EQ(flight_pickle(d),
            "\x80\x02}(X\x07\0\0\0versionq\0X\x03\0\0\0"
            "1.4q\x01X\x09\0\0\0pg_configq\x02}(K\0](K\0K\x01"
            "euX\x07\0\0\0entriesq\x03](euq\x04."s);
}

TEST(FlightWriter, JsonIsInTheOrderOfTheAlphabet) {
  FlightDump d = small_dump("2.10");
  EXPECT_EQ(flight_json(d, true),
            R"({"comm_lib_version":"2.27.5","nccl_comm_state":{},)"
            R"("pg_config":{"0":{"desc":"default_pg","name":"0",)"
            R"("ranks":"[0, 1]"}},"pg_status":{"0":{"last_completed_collective":"7",)"
            R"("last_enqueued_collective":"7","last_started_collective":"-1"}},)"
            R"("version":"2.10"})");
  d.entries[0].completed_seen_ns = FlightEntry::kAbsent;
  d.entries[0].duration_ms = -1;
  EXPECT_NE(flight_json(d).find(R"("time_discovered_completed_ns":0,)"), std::string::npos);
  EXPECT_NE(flight_json(d).find(R"("process_group":["0","default_pg"])"), std::string::npos);
  EXPECT_NE(flight_json(d).find("1780000000000000001"), std::string::npos);
}

// What Python itself reads in the pickle, as text.
std::string by_python(const std::string& pickle, const std::string& expression) {
  const TemporaryFolder folder;
  const std::string file = folder.write("dump", pickle);
  const std::string script =
      "import pickle, pickletools, sys\n"
      "b = open(sys.argv[1], 'rb').read()\n"
      "d = pickle.loads(b)\n"
      "ops = sorted({o.name for o, _, _ in pickletools.genops(b)})\n"
      "print(" +
      expression + ")\n";
  const std::string script_file = folder.write("read.py", script);
  const ShellRun run = run_shell("python3 " + shell_word(script_file) + " " + shell_word(file));
  return run.output;
}

struct VersionRow {
  const char* name;
  const char* version;
  const char* top_keys;
  const char* entry_keys;
};

constexpr VersionRow kVersions[] = {
    {"v1_4", "1.4", "entries pg_config version", "seq_id"},
    {"v2_2", "2.2", "entries pg_config version", "process_group collective_seq_id is_p2p"},
    {"v2_3", "2.3", "entries pg_config pg_status version", "process_group timeout_ms"},
    {"v2_5", "2.5", "entries pg_config pg_status version", "process_group p2p_seq_id op_id"},
    {"v2_9", "2.9", "comm_lib_version entries pg_config pg_status version", "thread_id"},
    {"v2_10", "2.10", "comm_lib_version entries pg_config pg_status version", "thread_name"},
};

class Versions : public testing::TestWithParam<VersionRow> {};

TEST_P(Versions, HaveTheirKeys) {
  if (const std::string reason = reason_to_skip("python3"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const std::string pickle = flight_pickle(small_dump(GetParam().version));
  EXPECT_EQ(by_python(pickle, "*sorted(d)"), std::string(GetParam().top_keys) + "\n");
  const std::string missing =
      fmt::format("[k for k in '{}'.split() if k not in d['entries'][0]]", GetParam().entry_keys);
  EXPECT_EQ(by_python(pickle, missing), "[]\n");
  const bool old = GetParam().version[0] == '1';
  EXPECT_EQ(by_python(pickle,
                      "[k for k in ('seq_id', 'process_group', 'input_dtypes', 'is_p2p') "
                      "if k in d['entries'][0]]"),
            old ? "['seq_id']\n" : "['process_group', 'input_dtypes', 'is_p2p']\n");
}
INSTANTIATE_TEST_SUITE_P(Flight, Versions, testing::ValuesIn(kVersions),
                         [](const auto& row) { return row.param.name; });

TEST(FlightWriter, PythonReadsTheSameValues) {
  if (const std::string reason = reason_to_skip("python3"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const std::string pickle = flight_pickle(small_dump("2.10"));
  const auto entry = [&pickle](const char* key) {
    return by_python(pickle, fmt::format("d['entries'][0]['{}']", key));
  };
  EXPECT_EQ(entry("time_created_ns"), "1780000000000000001\n");
  EXPECT_EQ(entry("duration_ms"), "1.5\n");
  EXPECT_EQ(entry("process_group"), "('0', 'default_pg')\n");
  EXPECT_EQ(entry("input_sizes"), "[[70000]]\n");
  EXPECT_EQ(entry("retired"), "True\n");
  EXPECT_EQ(entry("frames"),
            "[{'name': 'all_reduce', 'filename': 'c10d.py', 'line': 300}, "
            "{'name': 'train', 'filename': 'train.py', 'line': 12}]\n");
  EXPECT_EQ(by_python(pickle, "d['pg_status']"),
            "{'0': {'last_enqueued_collective': 7, 'last_started_collective': -1, "
            "'last_completed_collective': 7}}\n");
  EXPECT_EQ(by_python(flight_pickle(small_dump("")), "type(d).__name__, len(d)"), "list 1\n");
}

TEST(FlightWriter, SimulatedDumpsUseNoOtherOpcodes) {
  if (const std::string reason = reason_to_skip("python3"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const SimulatedFlight flight = simulate_straggler(seed);
    const std::string pickle = flight_pickle(flight.dumps.front());
    EXPECT_EQ(by_python(pickle,
                        "set(ops) - set('PROTO EMPTY_DICT MARK SETITEMS EMPTY_LIST APPENDS "
                        "BINUNICODE BININT1 BININT2 BININT LONG1 BINFLOAT NEWTRUE NEWFALSE NONE "
                        "TUPLE2 BINPUT LONG_BINPUT BINGET LONG_BINGET STOP'.split())"),
              "set()\n");
    EXPECT_EQ(by_python(pickle, "len(d['entries'])"),
              fmt::format("{}\n", flight.dumps.front().entries.size()));
    // Ids are dense from 0, and frames are one object in all lists.
    EXPECT_EQ(by_python(pickle,
                        "[a for o, a, _ in pickletools.genops(b) if 'BINPUT' in o.name] == "
                        "list(range(sum('BINPUT' in o.name for o, _, _ in "
                        "pickletools.genops(b))))"),
              "True\n");
    EXPECT_EQ(by_python(pickle,
                        "max(len({id(f) for e in d['entries'] for f in e['frames'] "
                        "if f == g}) for e in d['entries'][:1] for g in e['frames'])"),
              "1\n");
  }
}

TEST(FlightWriter, LeavesOutWhatWasNotAskedFor) {
  FlightDump d = small_dump("2.10");
  FlightWriting bare;
  bare.frames = false;
  EXPECT_EQ(flight_pickle(d, bare).find("train.py"), std::string::npos);
  EXPECT_NE(flight_pickle(d).find("train.py"), std::string::npos);
  FlightWriting active;
  active.only_active = true;
  EXPECT_EQ(flight_pickle(d, active).find("nccl:all_reduce"), std::string::npos);
  d.entries[0].state = FlightState::scheduled;
  EXPECT_NE(flight_pickle(d, active).find("nccl:all_reduce"), std::string::npos);
}

// ---- through the reader ------------------------------------------------------------------------

FlightDump read_back(const std::string& bytes, const FlightDump& written) {
  FlightReaderScratch scratch;
  Result<FlightDump> dump = read_flight_dump({written.source, bytes}, scratch);
  if (!dump) {
    ADD_FAILURE() << dump.error().context;
    return {};
  }
  EXPECT_TRUE(dump->notes.empty()) << dump->notes.front();
  EXPECT_FALSE(dump->cut_at);
  return std::move(*dump);
}

std::vector<FlightFrame> frames_of(const FlightDump& dump, const FlightEntry& e) {
  std::vector<FlightFrame> frames;
  for (const std::uint32_t place : dump.stacks[e.stack]) frames.push_back(dump.frames[place]);
  return frames;
}

void expect_same_group(const FlightGroup& a, const FlightGroup& b, bool status) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.ranks, b.ranks);
  if (!status) return;
  EXPECT_EQ(a.pg_id, b.pg_id);
  EXPECT_EQ(a.last_enqueued, b.last_enqueued);
  EXPECT_EQ(a.last_completed, b.last_completed);
}

void expect_same(const FlightDump& a, const FlightDump& b, bool frames) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.library_version, b.library_version);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const FlightEntry &x = a.entries[i], &y = b.entries[i];
    ASSERT_EQ(x.record_id, y.record_id);
    EXPECT_EQ(x.seq, y.seq);
    EXPECT_EQ(x.p2p_seq, y.p2p_seq);
    EXPECT_EQ(x.created_ns, y.created_ns);
    EXPECT_EQ(x.completed_seen_ns, y.completed_seen_ns);
    EXPECT_EQ(x.duration_ms, y.duration_ms);
    EXPECT_EQ(x.timeout_ms, y.timeout_ms);
    EXPECT_EQ(x.state, y.state);
    EXPECT_EQ(x.retired, y.retired);
    EXPECT_EQ(x.is_p2p, y.is_p2p);
    EXPECT_EQ(a.signatures[x.signature], b.signatures[y.signature]);
    // A status whose number no entry has cannot be joined.
    expect_same_group(a.groups[x.group], b.groups[y.group], true);
    if (frames) {
      EXPECT_EQ(frames_of(a, x), frames_of(b, y));
    }
  }
}

TEST(FlightWriter, TheReaderReadsTheSame) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const SimulatedFlight flight = simulate_flight(seed);
    SCOPED_TRACE(seed);
    const FlightDump& first = flight.dumps.front();
    const FlightDump& last = flight.dumps.back();
    expect_same(first, read_back(flight_pickle(first), first), true);
    expect_same(last, read_back(flight_pickle(last), last), true);
    if (first.version == "2.2" || first.version == "2.3") continue;
    expect_same(first, read_back(flight_json(first), first), false);
  }
}

TEST(FlightWriter, TheReaderReadsEachVersion) {
  for (const VersionRow& row : kVersions) {
    SCOPED_TRACE(row.version);
    const FlightDump written = small_dump(row.version);
    const FlightDump read = read_back(flight_pickle(written), written);
    ASSERT_EQ(read.entries.size(), 1U);
    EXPECT_EQ(read.version, row.version);
    EXPECT_EQ(read.entries[0].seq, 7);
    EXPECT_EQ(read.entries[0].state, FlightState::completed);
    EXPECT_EQ(read.groups[0].name, "0");
    EXPECT_EQ(read.groups[0].ranks, written.groups[0].ranks);
    EXPECT_EQ(frames_of(read, read.entries[0]), written.frames);
    const bool status = std::string_view(row.top_keys).find("status") != std::string_view::npos;
    EXPECT_EQ(read.groups[0].last_completed.has_value(), status);
  }
}

}  // namespace
}  // namespace muster
