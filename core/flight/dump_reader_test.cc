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
  FlightReaderScratch scratch;
  return read_flight_dump(bytes, std::move(source), scratch);
}

std::string number(std::int64_t value) {
  return value == FlightEntry::kAbsent ? "-" : std::to_string(value);
}
std::string number(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "-";
}

std::string told(const FlightGroup& group) {
  const std::string ranks = group.ranks ? fmt::format("{}", fmt::join(*group.ranks, ",")) : "-";
  return fmt::format("{}/{}#{}[{}]{}/{}/{}", group.name, group.description, number(group.pg_id),
                     ranks, number(group.last_enqueued), number(group.last_started),
                     number(group.last_completed));
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
    {"/root/.cache/torch/nccl_trace_rank_15", 15},
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
    {"rank_2147483647", 2147483647},
    {"rank_2147483648", {}},
};

TEST(FlightRankOf, Table) {
  for (const NameRow& row : kNames) EXPECT_EQ(flight_rank_of(row.name), row.rank) << row.name;
}

// ---- whole dumps -------------------------------------------------------------------------------

const char* const kTold210 =
    "version=2.10 library=2.27.3 rank=1\n"
    "0/default_pg#0[0,1]5/-1/4\n"
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

}  // namespace
}  // namespace muster
