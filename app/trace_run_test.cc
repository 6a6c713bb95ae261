#include "app/trace_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/model/exit_status.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

struct DumpOptions {
  std::string library = "nccl";
  std::string seq = "7";
  bool done = true;
  std::string members = R"("[0, 1]")";
};

std::string dump(const DumpOptions& options = {}) {
  return fmt::format(
      R"({{"version":"2.10","pg_config":{{"0":{{"name":"0","desc":"default_pg",)"
      R"("ranks":{}}}}},"entries":[{{"record_id":0,"process_group":["0","default_pg"],)"
      R"("collective_seq_id":{},"profiling_name":"{}:all_reduce","state":"{}","retired":{}}}]}})",
      options.members, options.seq, options.library, options.done ? "completed" : "scheduled",
      options.done);
}

Report trace(const std::vector<std::pair<std::string, std::string>>& contents) {
  MemoryFiles files;
  TraceRequest request;
  request.input.threads = 1;
  for (const auto& [name, bytes] : contents) {
    files.add(name, bytes);
    request.paths.push_back(name);
  }
  const auto answer = trace_once(request, files);
  EXPECT_TRUE(answer.has_value());
  return answer ? answer->report : Report{};
}

struct BlindRow {
  const char* name;
  std::vector<std::pair<std::string, std::string>> contents;
  ExitStatus status;
  std::string blind;  // source and reason of the first; empty: none
};

class TraceBlind : public testing::TestWithParam<BlindRow> {};

TEST_P(TraceBlind, IsNeverCalledOk) {
  const Report report = trace(GetParam().contents);
  EXPECT_EQ(exit_status_of(report), GetParam().status);
  std::string blind;
  if (!report.blind.empty()) {
    blind = report.blind.front().source + ": " + report.blind.front().reason;
  }
  EXPECT_EQ(blind, GetParam().blind);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TraceBlind,
    testing::Values(
        BlindRow{"no_rank",
                 {{"rank_0", dump()}, {"rank_1", dump()}, {"dump.json", dump()}},
                 ExitStatus::cannot_tell,
                 "dump.json: the rank of this dump is not known: left out"},
        BlindRow{"rank_of_no_group",
                 {{"rank_0", dump()}, {"rank_1", dump()}, {"rank_77", dump()}},
                 ExitStatus::cannot_tell,
                 "rank_77: the rank of this dump is not known: left out"},
        BlindRow{"ends_not_told",
                 {{"rank_0", dump({.library = "ucc", .done = false})},
                  {"rank_1", dump({.library = "mpi", .done = false})}},
                 ExitStatus::cannot_tell,
                 "2 of 2 dumps: no word on which calls ended (mpi, ucc): waits in them cannot be "
                 "seen"},
        BlindRow{
            "number_out_of_range",
            {{"rank_0", dump({.seq = "9223372036854775807", .done = false})}, {"rank_1", dump()}},
            ExitStatus::cannot_tell,
            "1 of 2 dumps: records without a number that have not ended (1): who waits there "
            "is not seen"},
        BlindRow{"number_out_of_range_and_done",
                 {{"rank_0", dump({.seq = "9223372036854775807"})}, {"rank_1", dump()}},
                 ExitStatus::ok,
                 ""},
        BlindRow{"size_of_the_job_not_told",
                 {{"rank_0", dump({.members = "\"\""})}, {"rank_1", dump({.members = "\"\""})}},
                 ExitStatus::cannot_tell,
                 "ranks of the job: nobody waits in these dumps; whether a rank left none is not "
                 "known: give logs or --hosts"},
        BlindRow{"size_not_told_and_a_log",
                 {{"rank_0", dump({.members = "\"\""})},
                  {"rank_1", dump({.members = "\"\""})},
                  {"rank1.log", "step 1\n"}},
                 ExitStatus::ok,
                 ""},
        BlindRow{"healthy", {{"rank_0", dump()}, {"rank_1", dump()}}, ExitStatus::ok, ""}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TraceRun, NamesAFewBlindDumpsAndTheirNotes) {
  std::vector<std::pair<std::string, std::string>> contents = {{"rank_0", dump()},
                                                               {"rank_1", dump()}};
  for (int i = 0; i < 40; ++i) contents.push_back({fmt::format("x{}.json", 200 + i), dump()});
  const Report report = trace(contents);
  ASSERT_EQ(report.blind.size(), 6U);
  EXPECT_EQ(report.blind.back().source, "35 more dumps");
  std::size_t told = 0;
  for (const std::string& note : report.notes) {
    told += note.find("member of none of its groups") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(told, 5U);
  EXPECT_NE(
      std::find(report.notes.begin(), report.notes.end(), "35 more dumps were not read as a whole"),
      report.notes.end());
}

TEST(TraceRun, ARankOfTheHostListWithoutADumpIsNoHealth) {
  for (const char* hosts : {"0 a1\n1 a2\n", "0 a1\n1 a2\n2 a3\n"}) {
    MemoryFiles files;
    files.add("rank_0", dump({.members = "\"\""}));
    files.add("rank_1", dump({.members = "\"\""}));
    files.add("hosts", hosts);
    TraceRequest request;
    request.paths = {"rank_0", "rank_1"};
    request.input.threads = 1;
    request.input.hosts = "hosts";
    const auto answer = trace_once(request, files);
    ASSERT_TRUE(answer.has_value());
    const bool all = std::string(hosts).find("a3") == std::string::npos;
    EXPECT_EQ(exit_status_of(answer->report), all ? ExitStatus::ok : ExitStatus::cannot_tell);
    ASSERT_EQ(answer->report.blind.size(), all ? 0U : 1U);
    if (!all) {
      EXPECT_EQ(answer->report.blind.front().source, "rank 2 (a3)");
    }
  }
}

TEST(TraceRun, WithoutDumpsTheAnswerHoldsTheSettings) {
  MemoryFiles files;
  files.add("rank3.log", "step 1\n");
  TraceRequest request;
  request.paths = {"rank3.log"};
  request.input.threads = 1;
  const auto next = [&](const std::string& torch) {
    request.torch_version = torch;
    const auto answer = trace_once(request, files);
    return answer ? answer->report.findings.at(0).next : "";
  };
  EXPECT_NE(next("").find("export TORCH_FR_BUFFER_SIZE="), std::string::npos);
  EXPECT_NE(next("2.6").find("export TORCH_NCCL_TRACE_BUFFER_SIZE="), std::string::npos);
  EXPECT_EQ(next("2.1").find("export"), std::string::npos);
}

}  // namespace
}  // namespace muster
