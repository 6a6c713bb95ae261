#include "core/flight/dump_reader.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "core/flight/pickle_test_kit.h"

namespace muster {
namespace {

using namespace std::string_literals;

Result<FlightDump> read(std::string_view bytes, std::string source = "rank_1") {
  static FlightReaderScratch scratch;  // used again and again, as in life
  return read_flight_dump({std::move(source), bytes}, scratch);
}

std::string number(std::int64_t value) {
  return value == FlightEntry::kAbsent ? "-" : std::to_string(value);
}
std::string number(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "-";
}

std::string told(const FlightGroup& group) {
  const std::string ranks = group.ranks ? fmt::format("{}", fmt::join(*group.ranks, ",")) : "-";
  return fmt::format("{}/{}#{}[{}]{}/{}", group.name, group.description, number(group.pg_id), ranks,
                     number(group.last_enqueued), number(group.last_completed));
}

std::string told(const FlightSignature& signature) {
  return fmt::format("{} {}{} -> {}{}", signature.name, signature.input_sizes,
                     signature.input_dtypes, signature.output_sizes, signature.output_dtypes);
}

std::string told(const FlightDump& dump, const FlightEntry& entry) {
  std::string out =
      fmt::format("id={} seq={} p2p={} at={} done={} ms={} limit={} {}{}{} group={}",
                  number(entry.record_id), number(entry.seq), number(entry.p2p_seq),
                  number(entry.created_ns), number(entry.completed_seen_ns), entry.duration_ms,
                  entry.timeout_ms, static_cast<int>(entry.state), entry.retired ? " retired" : "",
                  entry.is_p2p ? " p2p" : "", entry.group);
  out += " " + told(dump.signatures.at(entry.signature));
  for (const std::uint32_t frame : dump.stacks.at(entry.stack)) {
    const FlightFrame& f = dump.frames.at(frame);
    out += fmt::format(" {}@{}:{}", f.function, f.file, f.line);
  }
  return out;
}

// Everything but the notes.
std::string told(const FlightDump& dump) {
  std::string out = fmt::format("version={} library={} rank={}", dump.version, dump.library_version,
                                dump.rank ? std::to_string(*dump.rank) : "-");
  for (const FlightGroup& group : dump.groups) out += "\n" + told(group);
  for (const FlightEntry& entry : dump.entries) out += "\n" + told(dump, entry);
  return out;
}

struct NameRow {
  const char* name;
  std::optional<std::int32_t> rank;
};

const NameRow kNames[] = {
    // No digits, or digits that are no rank.
    {"", {}},
    {"trace", {}},
    {"dump.json", {}},
    {"dumps7.tar:trace", {}},
    {"node12/trace", {}},
    {"node12/", {}},
    {"rank_99999999999", {}},
    {"rank_99999999999999999999999", {}},
    // Names that PyTorch and others give.
    {"/tmp/nccl_trace_rank_0", 0},
    {"/var/cache/torch/nccl_trace_rank_15", 15},
    {"comm_lib_trace_rank_1023", 1023},
    {"torchcomm_fr_trace_8", 8},
    {"comm_traces/rank_3", 3},
    {"checkpoints/iter_500/_dump_7", 7},
    {"host_pci3_rank_7", 7},
    {"gpu12.pci3_rank_7", 7},
    {"nccl_trace_rank_node-17_4", 4},
    {"rank_2.json", 2},
    {"rank_2.json.gz", 2},
    {"rank_2.gz", 2},
    {"rank_2.zst", 2},
    {"rank_2.pickle", 2},
    {"rank2", 2},
    {"2", 2},
    {"dumps7.tar.gz:job/rank_5", 5},
    {"dumps7.tar.gz:rank_5.json", 5},
    // Second copies: their number is no rank.
    {"dump (2)", {}},
    {"trace (1).json", {}},
    {"dump - Copy (3)", {}},
    {"copy 2", 2},
    {"nccl_copy2", 2},
    {"rank(3)", 3},
    {"trace_rank_5 (2)", 5},
    {"trace_rank_5(2)", 5},
    {"rank_5 (2) (1)", 5},
    {"rank_5 (12).json", 5},
    {"rank_5.json (1)", 5},
    {"rank_5.json (1).gz", 5},
    {"rank_5 - Copy", 5},
    {"rank_5 - Copy (4)", 5},
    {"rank_5 copy 2", 5},
    {"rank_5_copy3.json", 5},
    {"rank_5 (copy)", 5},
    {"rank_5 (3rd copy)", 5},
    {"rank_5~", 5},
    {"rank_5.~7~", 5},
    {"photocopy5", 5},
    {"rank_5 (host 2)", 2},
    {"rank_5)", 5},
    {"(2)", 2},
    {"rank_2147483647", 2147483647},
    {"rank_2147483648", {}},
};

TEST(FlightRankOf, Table) {
  for (const NameRow& row : kNames) EXPECT_EQ(flight_rank_of(row.name), row.rank) << row.name;
}

// ---- whole dumps -------------------------------------------------------------------------------

const char* const kTold210 =
    "version=2.10 library=2.27.3 rank=1\n"
    "0/default_pg#0[0,1]5/4\n"
    "id=3 seq=4 p2p=0 at=1778767126170000001 done=1778767126180000001 ms=1.5 limit=600000 2 retired"
    " group=0 nccl:all_reduce [[2, 3], [7]][\"Float\", \"Half\"] -> [[6]][\"Float\"]"
    " step@train.py:97 main@train.py:9\n"
    "id=4 seq=5 p2p=0 at=1778767126190000001 done=- ms=-1 limit=600000 0"
    " group=0 nccl:all_reduce [[2, 3], [7]][\"Float\", \"Half\"] -> [[6]][\"Float\"]"
    " step@train.py:97 main@train.py:9";

std::string json210() {
  const std::string shared = R"("pg_id": 0, "process_group": ["0", "default_pg"], "p2p_seq_id": 0,
      "op_id": 1, "profiling_name": "nccl:all_reduce", "input_sizes": [[2, 3], [7]],
      "input_dtypes": ["Float", "Half"], "output_sizes": [[6]], "output_dtypes": ["Float"],
      "timeout_ms": 600000, "is_p2p": false, "frames": [
        {"name": "step", "filename": "train.py", "line": 97},
        {"line": 9, "name": "main", "filename": "train.py"}], "thread_id": "140", )";
  return R"({"entries": [{"record_id": 3, "collective_seq_id": 4, )" + shared +
         R"("time_created_ns": 1778767126170000001, "duration_ms": 1.5, "state": "completed",
      "time_discovered_started_ns": 0, "time_discovered_completed_ns": 1778767126180000001,
      "retired": true}, {"record_id": 4, "collective_seq_id": 5, )" +
         shared + R"("time_created_ns": 1778767126190000001, "state": "scheduled",
      "time_discovered_completed_ns": 0, "retired": false}],
    "version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": "5", "last_started_collective": "-1",
      "last_completed_collective": "4"}}, "comm_lib_version": "2.27.3", "later": {"x": [1.5e9]}})";
}

void pickle_entry(PickleText& text, std::int64_t id, bool done, std::uint32_t* frames) {
  text.dict().text("frames").list();
  for (int i = 0; i < 2; ++i) {
    if (!done) {
      text.get(frames[i]);
      continue;
    }
    text.dict().pair("name", i == 0 ? "step" : "main").pair("filename", "train.py");
    text.pair("line", i == 0 ? 97 : 9).end_dict();
    frames[i] = text.put();
  }
  text.end_list().pair("record_id", id).pair("pg_id", 0).text("process_group").text("0");
  text.text("default_pg").raw("\x86").pair("collective_seq_id", id + 1).pair("p2p_seq_id", 0);
  text.pair("profiling_name", "nccl:all_reduce").text("input_sizes").list();
  text.list().integer(2).integer(3).end_list().list().integer(7).end_list().end_list();
  text.text("input_dtypes").list().text("Float").text("Half").end_list();
  text.text("output_sizes").list().list().integer(6).end_list().end_list();
  text.text("output_dtypes").list().text("Float").end_list();
  text.pair("state", done ? "completed" : "scheduled").text("time_discovered_completed_ns");
  if (done) {
    text.integer(1778767126180000001).text("duration_ms").raw("G\x3f\xf8\0\0\0\0\0\0"s);
  } else {
    text.none();
  }
  text.pair("time_created_ns", done ? 1778767126170000001 : 1778767126190000001);
  text.text("retired").boolean(done).pair("timeout_ms", 600000).text("is_p2p").boolean(false);
  text.end_dict();
}

std::string pickle210() {
  PickleText text;
  text.dict().pair("version", "2.10").text("pg_config").dict().text("0").dict();
  text.pair("name", "0").pair("desc", "default_pg").pair("ranks", "[0, 1]").end_dict().end_dict();
  text.text("pg_status").dict().text("0").dict().pair("last_enqueued_collective", 5);
  text.pair("last_started_collective", -1).pair("last_completed_collective", 4);
  text.end_dict().end_dict().text("entries").list();
  std::uint32_t frames[2];
  pickle_entry(text, 3, true, frames);
  pickle_entry(text, 4, false, frames);
  return text.end_list().pair("comm_lib_version", "2.27.3").end_dict().stop();
}

TEST(DumpReader, ReadsJson) {
  const auto dump = read(json210());
  ASSERT_TRUE(dump) << dump.error().context;
  EXPECT_EQ(told(*dump), kTold210);
  EXPECT_EQ(dump->notes, std::vector<std::string>{});
  EXPECT_EQ(dump->source, "rank_1");
  EXPECT_EQ(dump->bytes, json210().size());
  EXPECT_FALSE(dump->cut_at);
  EXPECT_EQ(dump->signatures.size(), 1U);
  EXPECT_EQ(dump->stacks.size(), 2U);
}

TEST(DumpReader, ReadsPickle) {
  const auto dump = read(pickle210());
  ASSERT_TRUE(dump) << dump.error().context;
  EXPECT_EQ(told(*dump), kTold210);
  EXPECT_EQ(dump->notes, std::vector<std::string>{});
}

// ---- formats and their variants ----------------------------------------------------------------

struct FormatRow {
  const char* name;
  std::string bytes;
  std::string told;  // without version, library and rank
};

const FormatRow kFormats[] = {
    {"list_of_torch_2_2", R"([{"seq_id": 7, "profiling_name": "nccl:x", "time_created_us": 5}])",
     "/#-[-]-/-\nid=- seq=7 p2p=- at=5000 done=- ms=-1 limit=-1 3 group=0 nccl:x [][] -> [][]"},
    {"empty_list", "[]", ""},
    {"format_1",
     R"({"version": "1.4", "entries": [{"record_id": 0, "pg_id": 2, "seq_id": 7}],
         "pg_config": {"0": [1, 0], "2": [1, 3]}})",
     "2/#2[1,3]-/-\n0/#-[0,1]-/-\n"
     "id=0 seq=7 p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [][] -> [][]"},
    {"no_entries", R"({"version": "2.5", "pg_config": {"0": {"desc": "d", "ranks": [1]}}})",
     "0/d#-[1]-/-"},
    {"ranks_without_blanks", R"({"pg_config": {"a": {"ranks": "[3,1, 2 ,1]"}}})", "a/#-[1,2,3]-/-"},
    {"ranks_not_told", R"({"pg_config": {"a": {"desc": "d", "ranks": "[]"}, "b": {}}})",
     "a/d#-[-]-/-\nb/#-[-]-/-"},
    {"name_of_two_groups",
     R"({"entries": [{"record_id": 0, "pg_id": 4, "process_group": ["tp", "x"]},
                     {"record_id": 1, "pg_id": 5, "process_group": ["tp", "x"]}],
         "pg_config": {"tp": {"desc": "x", "ranks": "[1, 2]"}},
         "pg_status": {"4": {"last_enqueued_collective": 1}, "9": {"last_enqueued_collective": 2},
                       "5": {"last_enqueued_collective": 76543210987654321}}})",
     "tp/x#4[-]1/-\ntp/x#5[1,2]76543210987654321/-\n"
     "id=0 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [][] -> [][]\n"
     "id=1 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=1  [][] -> [][]"},
    {"name_with_another_description",
     R"({"entries": [{"record_id": 0, "pg_id": 4, "process_group": ["tp", "x"]}],
         "pg_config": {"tp": {"desc": "y", "ranks": "[1, 2]"}}})",
     "tp/x#4[-]-/-\ntp/y#-[1,2]-/-\n"
     "id=0 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [][] -> [][]"},
    {"empty_sizes", R"({"entries": [{"record_id": 0, "input_sizes": [[0], []], "state": "odd"}]})",
     "/#-[-]-/-\nid=0 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [[0], []][] -> [][]"},
    {"escaped_text", R"({"entries": [{"profiling_name": "a\"b\u00e9]}", "is_p2p": true}]})",
     "/#-[-]-/-\n"
     "id=- seq=- p2p=- at=- done=- ms=-1 limit=-1 3 p2p group=0 a\"b\xc3\xa9]} [][] -> [][]"},
    {"exact_integers", R"({"entries": [{"record_id": 9007199254740993}]})",
     "/#-[-]-/-\nid=9007199254740993 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [][] -> "
     "[][]"},
};

TEST(DumpReader, FormatsTable) {
  for (const FormatRow& row : kFormats) {
    const auto dump = read(row.bytes);
    ASSERT_TRUE(dump) << row.name << ": " << dump.error().context;
    const std::string all = told(*dump);
    EXPECT_EQ(all.find('\n') == std::string::npos ? "" : all.substr(all.find('\n') + 1), row.told)
        << row.name;
    EXPECT_EQ(dump->notes, std::vector<std::string>{}) << row.name;
  }
}

TEST(DumpReader, ReadsIntegerKeysOfFormat1) {
  PickleText text;
  text.dict().pair("version", "1.4").text("pg_config").dict().integer(2).list();
  text.integer(5).integer(1).end_list().end_dict().text("entries").list();
  text.dict().pair("pg_id", 2).pair("seq_id", 9).end_dict().end_list();
  const auto dump = read(text.end_dict().stop());
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->groups.size(), 1U);
  EXPECT_EQ(told(dump->groups[0]), "2/#2[1,5]-/-");
}

// ---- damage ------------------------------------------------------------------------------------

struct FieldRow {
  const char* field;  // one that does not fit
  const char* key;    // that the note is about
};

const FieldRow kMisfits[] = {
    {R"("collective_seq_id": "7")", "collective_seq_id"},
    {R"("p2p_seq_id": 1.5)", "p2p_seq_id"},
    {R"("pg_id": [])", "pg_id"},
    {R"("time_created_ns": -1)", "time_created_ns"},
    {R"("time_created_us": 9223372036854775807)", "time_created_us"},
    {R"("time_discovered_completed_ns": "x")", "time_discovered_completed_ns"},
    {R"("duration_ms": -0.5)", "duration_ms"},
    {R"("duration_ms": 1e300)", "duration_ms"},
    {R"("duration_ms": "1")", "duration_ms"},
    {R"("timeout_ms": 2147483648)", "timeout_ms"},
    {R"("retired": 1)", "retired"},
    {R"("is_p2p": null)", "is_p2p"},
    {R"("state": 2)", "state"},
    {R"("profiling_name": 2)", "profiling_name"},
    {R"("process_group": ["0"])", "process_group"},
    {R"("process_group": ["0", 1])", "process_group"},
    {R"("process_group": ["0", "a", "b"])", "process_group"},
    {R"("process_group": "0")", "process_group"},
    {R"("input_sizes": [1])", "input_sizes"},
    {R"("input_sizes": [[1], ["2"]])", "input_sizes"},
    {R"("output_sizes": {})", "output_sizes"},
    {R"("input_dtypes": ["Float", 1])", "input_dtypes"},
    {R"("output_dtypes": "Float")", "output_dtypes"},
    {R"("frames": "none")", "frames"},
    {R"("frames": [1])", "frames"},
    {R"("collective_seq_id": 9223372036854775807)", "collective_seq_id"},
    {R"("collective_seq_id": -4611686018427387905)", "collective_seq_id"},
    {R"("p2p_seq_id": 4611686018427387905)", "p2p_seq_id"},
    {R"("pg_id": -9223372036854775807)", "pg_id"},
    {R"("time_created_ns": 4611686018427387905)", "time_created_ns"},
    {R"("time_created_us": 4611686018427388)", "time_created_us"},
    {R"("time_discovered_completed_ns": 9223372036854775807)", "time_discovered_completed_ns"},
};

TEST(DumpReader, TheLargestNumbersAreKept) {
  const auto dump = read(R"({"entries": [{"record_id": 1, "collective_seq_id": 4611686018427387904,
      "time_created_ns": 4611686018427387904}]})");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->entries[0].seq, std::int64_t{1} << 62);
  EXPECT_EQ(dump->entries[0].created_ns, std::int64_t{1} << 62);
  EXPECT_TRUE(dump->notes.empty());
}

TEST(DumpReader, AFieldThatDoesNotFitIsAbsent) {
  const std::string plain =
      "\n/#-[-]-/-\nid=1 seq=- p2p=- at=- done=- ms=-1 limit=-1 3 group=0  [][] -> [][]";
  for (const FieldRow& row : kMisfits) {
    const auto dump = read(fmt::format(R"({{"entries": [{{"record_id": 1, {}}}]}})", row.field));
    ASSERT_TRUE(dump) << row.field;
    EXPECT_NE(told(*dump).find(plain), std::string::npos) << row.field << told(*dump);
    const std::string note = row.key + ": not what it should be in 1 place, left out there"s;
    EXPECT_EQ(dump->notes, std::vector<std::string>{note}) << row.field;
  }
}

const FieldRow kTopMisfits[] = {
    {R"("version": 2.1)", "version"},
    {R"("nccl_version": [2])", "nccl_version"},
    {R"("pg_config": [])", "pg_config"},
    {R"("pg_config": {"0": 1})", "pg_config"},
    {R"("pg_config": {"0": {"ranks": "0, 1"}})", "ranks"},
    {R"("pg_config": {"0": {"ranks": "[0, x]"}})", "ranks"},
    {R"("pg_config": {"0": {"ranks": "[0,, 1]"}})", "ranks"},
    {R"("pg_config": {"0": {"ranks": [-1]}})", "ranks"},
    {R"("pg_config": {"0": {"ranks": [0, "1"]}})", "ranks"},
    {R"("pg_config": {"0": {"ranks": "[4294967296]"}})", "ranks"},
    {R"("pg_config": {"0": {"desc": 1}})", "desc"},
    {R"("pg_status": "x")", "pg_status"},
    {R"("pg_status": {"0": []})", "pg_status"},
    {R"("pg_status": {"0": {"last_completed_collective": "x"}})", "last_completed_collective"},
};

TEST(DumpReader, ATopFieldThatDoesNotFitIsAbsent) {
  for (const FieldRow& row : kTopMisfits) {
    const auto dump = read(fmt::format(
        R"({{"entries": [{{"record_id": 1, "pg_id": 0, "process_group": ["0", "d"]}}], {}}})",
        row.field));
    ASSERT_TRUE(dump) << row.field;
    EXPECT_EQ(dump->groups.size(), 1U) << row.field;
    EXPECT_EQ(told(dump->groups[0]), "0/d#0[-]-/-") << row.field;
    const std::string note = row.key + ": not what it should be in 1 place, left out there"s;
    EXPECT_EQ(dump->notes, std::vector<std::string>{note}) << row.field;
  }
}

struct RefusedRow {
  const char* name;
  std::string bytes, error;
};

const RefusedRow kRefused[] = {
    {"text", "step 1 loss 2.0\n", "rank_1: neither a pickle nor JSON"},
    {"zeros", std::string(1 << 20, '\0'), "rank_1: neither a pickle nor JSON"},
    {"blanks", std::string(1 << 20, ' '), "rank_1: neither a pickle nor JSON"},
    {"gzip", "\x1f\x8b\x08", "rank_1: neither a pickle nor JSON"},
    {"log_line", "[rank5]: Traceback", "rank_1: no flight-recorder dump"},
    {"json_of_another_kind", R"({"version": "2.10", "name": "x"})",
     "rank_1: no flight-recorder dump"},
    {"json_list_of_others", R"([{"a": 1}, {"b": 2}])", "rank_1: no flight-recorder dump"},
    {"json_list_of_numbers", "[" + std::string(1 << 20, '1') + "]",
     "rank_1: no flight-recorder dump"},
    {"json_list_of_zeros", "[" + std::string(1 << 20, '\0'), "rank_1: no flight-recorder dump"},
    {"pickle_of_a_number", "\x80\x02K\x01.", "rank_1: no flight-recorder dump"},
    {"pickle_of_another_kind", PickleText().dict().pair("a", 1).end_dict().stop(),
     "rank_1: no flight-recorder dump"},
    {"pickle_with_code", "\x80\x04\x93", "rank_1: this pickle wants to run code: opcode"},
    {"random", "\x80\x02\xd7\x31\x08\x55", "rank_1: byte 2: an opcode that no dump has"},
};

TEST(DumpReader, RefusesWhatIsNoDump) {
  for (const RefusedRow& row : kRefused) {
    const auto dump = read(row.bytes);
    ASSERT_FALSE(dump) << row.name;
    EXPECT_EQ(dump.error().code, Errc::invalid_input) << row.name;
    EXPECT_EQ(dump.error().context.substr(0, row.error.size()), row.error) << row.name;
  }
}

TEST(DumpReader, AnEmptyFileIsADumpUnderWay) {
  const auto dump = read("");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->cut_at, 0U);
  EXPECT_EQ(dump->rank, 1);
  ASSERT_EQ(dump->notes.size(), 1U);
  EXPECT_EQ(dump->notes[0], "empty: the dump was under way, or its process died in it");
}

void expect_cuts_keep_rows(const std::string& whole) {
  const auto all = read(whole);
  ASSERT_TRUE(all);
  std::size_t most = 0;
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const auto dump = read(whole.substr(0, cut));
    ASSERT_TRUE(dump) << cut << dump.error().context;
    EXPECT_EQ(dump->cut_at, cut);
    ASSERT_GE(dump->entries.size(), most) << cut;
    most = dump->entries.size();
    for (std::size_t i = 0; i < most; ++i) {
      const std::string entry = told(*dump, dump->entries[i]);
      EXPECT_EQ(entry, told(*all, all->entries[i])) << cut;
    }
  }
  EXPECT_EQ(most, all->entries.size());
}

TEST(DumpReader, CutAtEveryByteKeepsFinishedEntries) {
  expect_cuts_keep_rows(pickle210());
  expect_cuts_keep_rows(json210());
}

TEST(DumpReader, FlippedAtEveryByteNeverFails) {
  for (const std::string& whole : {pickle210(), json210()}) {
    std::size_t read_bytes = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x20, 0x80}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        const auto dump = read(bytes);
        if (!dump) continue;
        EXPECT_FALSE(told(*dump).empty());
        ++read_bytes;
      }
    }
    EXPECT_GT(read_bytes, whole.size() * 3 / 2);  // most flips hurt one value
  }
}

TEST(DumpReader, GarbageBehindEntriesIsSaid) {
  const std::string whole = pickle210();
  const std::size_t end = whole.find("eX\x10\0\0\0comm_lib_version"s);
  const auto dump = read(whole.substr(0, end) + std::string(100, '\0'));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->entries.size(), 2U);
  EXPECT_EQ(dump->cut_at, end);
  EXPECT_EQ(dump->notes, std::vector<std::string>{fmt::format(
                             "not read from byte {} on: an opcode that no dump has", end)});
}

TEST(DumpReader, ADamagedRowOfJsonIsLostAlone) {
  const auto dump =
      read(R"({"entries": [{"record_id": 1}, {"record_id": 0x2}, {"record_id": 3}]})");
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->entries.size(), 2U);
  EXPECT_EQ(dump->entries[1].record_id, 3);
  EXPECT_EQ(dump->notes, std::vector<std::string>{"1 items of entries are no records"});
}

TEST(DumpReader, ARankOutsideItsGroupsIsUnknown) {
  const std::string bytes = R"({"entries": [], "pg_config": {"0": {"ranks": "[4, 5]"}}})";
  EXPECT_EQ(read(bytes, "dumps/rank_5")->rank, 5);
  const auto dump = read(bytes, "dumps/rank_6");
  EXPECT_EQ(dump->rank, std::nullopt);
  EXPECT_EQ(dump->notes.size(), 1U);
  EXPECT_EQ(read(bytes, "trace")->rank, std::nullopt);
}

// One list of ten thousand numbers that every row names: two bytes in the file, ten thousand values
// to look at.
TEST(DumpReader, ASharedListOfManyValuesIsBounded) {
  PickleText text;
  text.list().list().list();
  for (int i = 0; i < 10'000; ++i) text.raw("K\x01");
  text.end_list().end_list();
  const std::uint32_t sizes = text.put();
  for (int i = 0; i < 10'000; ++i) {
    text.dict().pair("record_id", i).text("input_sizes").get(sizes).end_dict();
  }
  const auto dump = read(text.end_list().stop());
  ASSERT_TRUE(dump);
  EXPECT_GT(dump->entries.size(), 0U);
  EXPECT_LT(dump->entries.size(), 1000U);
  EXPECT_TRUE(dump->cut_at);
}

}  // namespace
}  // namespace muster
