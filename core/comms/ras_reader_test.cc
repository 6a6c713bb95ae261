#include "core/comms/ras_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

std::string show(const RasReading& reading) {
  std::string out;
  for (const RankWitness& w : reading.witnesses) {
    const char* kind = w.kind == WitnessKind::ras_missing     ? "missing"
                       : w.kind == WitnessKind::ras_behind    ? "behind"
                       : w.kind == WitnessKind::left_script   ? "left"
                       : w.kind == WitnessKind::cuda_error    ? "cuda"
                       : w.kind == WitnessKind::network_error ? "network"
                                                              : "other";
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", w.rank, kind);
    if (!w.op.empty()) out += " " + w.op;
    if (w.enqueued) out += fmt::format(" {}", *w.enqueued);
  }
  return out;
}

std::string answer(std::string_view bytes) {
  const auto reading = read_ras(bytes, "ras");
  return reading ? show(*reading) : std::string(errc_name(reading.error().code));
}

constexpr const char* kFine =
    R"("status":{"init_state":0,"async_error":0,"finalize_called":false,"destroy_flag":false,)"
    R"("abort_flag":false})";

std::string member(int rank, int process, int reduces, std::string_view status = kFine) {
  return fmt::format(R"({{"rank":{},"host":"10.0.0.{}","pid":{},"cuda_dev":{},"nvml_dev":{},{},)"
                     R"("collective_counts":{{"AllReduce":{},"Broadcast":2}}}})",
                     rank, process / 2 + 1, 100 + process, process % 2, process % 2, status,
                     reduces);
}
std::string absent(int rank, int process, bool unresponsive, bool dead) {
  return fmt::format(R"({{"rank":{},"host":"10.0.0.{}","pid":{},"cuda_dev":{},"nvml_dev":{},)"
                     R"("status":{{"unresponsive":{},"considered_dead":{}}}}})",
                     rank, process / 2 + 1, 100 + process, process % 2, process % 2, unresponsive,
                     dead);
}
std::string comm(int size, std::string_view ranks, std::string_view missing = "") {
  return fmt::format(R"({{"hash":"0x27a0","size":{},"ranks":[{}],"missing_ranks":[{}]}})", size,
                     ranks, missing);
}
std::string document(std::string_view comms) {
  return fmt::format(
      R"({{"nccl_version":"2.28.7","timestamp":"2026-08-01 10:00:00",)"
      R"("communicators_count":1,"communicators":[{}],"ras":{{"timeouts_count":0}}}})",
      comms);
}
std::string four(int a, int b, int c, int d) {
  return comm(
      4, member(0, 0, a) + "," + member(1, 1, b) + "," + member(2, 2, c) + "," + member(3, 3, d));
}

TEST(RasReader, Json) {
  const struct {
    const char* name;
    std::string bytes, expected;
  } rows[] = {
      {"empty", "", "invalid_input"},
      {"another document", "{\"a\":1}", "invalid_input"},
      {"communicators of another type", "{\"communicators\":3}", "invalid_input"},
      {"torn", document(four(7, 7, 6, 7)).substr(0, 200), "corrupt"},
      {"no communicators", document(""), ""},
      {"all even", document(four(7, 7, 7, 7)), ""},
      {"one behind", document(four(7, 7, 6, 7)), "2 behind ALLREDUCE 6"},
      {"one ahead makes nobody late", document(four(8, 7, 7, 7)), ""},
      {"half and half", document(four(7, 6, 6, 7)), "1 behind ALLREDUCE 6; 2 behind ALLREDUCE 6"},
      {"dead", document(comm(2, member(0, 0, 7), absent(1, 1, true, true))), "1 missing"},
      {"does not answer", document(comm(2, member(0, 0, 7), absent(1, 1, true, false))),
       "1 missing"},
      {"answers, without the communicator",
       document(comm(2, member(0, 0, 7), absent(1, 1, false, false))), "1 left"},
      {"finalizes",
       document(comm(
           2, member(0, 0, 7) + "," + member(1, 1, 7, R"("status":{"finalize_called":true})"))),
       "1 left"},
      {"aborts: a consequence",
       document(
           comm(2, member(0, 0, 7) + "," +
                       member(1, 1, 7, R"("status":{"destroy_flag":true,"abort_flag":true})"))),
       ""},
      {"errors",
       document(comm(2, member(0, 0, 7, R"("status":{"async_error":6})") + "," +
                            member(1, 1, 7, R"("status":{"init_state":1})"))),
       "0 network; 1 cuda"},
      {"in progress is no error",
       document(comm(1, member(0, 0, 7, R"("status":{"async_error":7})"))), ""},
      {"ranks of a small communicator are found by their process",
       document(four(7, 7, 7, 7) + "," + comm(2, member(0, 2, 9), absent(1, 3, true, true))),
       "3 missing"},
      {"no communicator of all GPUs",
       document(comm(2, member(0, 0, 9), absent(1, 1, true, true)) + "," +
                comm(2, member(0, 2, 9) + "," + member(1, 3, 9))),
       ""},
      {"two numberings of the same GPUs",
       document(comm(2, member(0, 0, 9) + "," + member(1, 1, 8)) + "," +
                comm(2, member(1, 0, 9) + "," + member(0, 1, 8))),
       ""},
      {"negative rank", document(comm(1, member(-5, 0, 7, R"("status":{"async_error":6})"))), ""},
  };
  for (const auto& row : rows) EXPECT_EQ(answer(row.bytes), row.expected) << row.name;
}

TEST(RasReader, HostsTimeAndNotes) {
  const auto reading = read_ras(document(four(7, 7, 6, 7)), "ras");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->hosts,
            (std::map<std::int32_t, std::string>{
                {0, "10.0.0.1"}, {1, "10.0.0.1"}, {2, "10.0.0.2"}, {3, "10.0.0.2"}}));
  ASSERT_EQ(reading->witnesses.size(), 1u);
  EXPECT_TRUE(reading->witnesses[0].at);
  EXPECT_EQ(reading->witnesses[0].text,
            "communicator 0x27a0: launched 6 AllReduce, others 7 (rank 2 of 4, process 102 on "
            "10.0.0.2)");
  const auto nobody = read_ras(document(comm(2, member(0, 0, 9), absent(1, 1, true, true)) + "," +
                                        comm(2, member(0, 2, 9) + "," + member(1, 3, 9))),
                               "ras");
  ASSERT_TRUE(nobody);
  ASSERT_EQ(nobody->notes.size(), 2u);
  EXPECT_NE(nobody->notes[1].find("process 101 on 10.0.0.1"), std::string::npos);
}

constexpr const char* kSummary =
    "NCCL version 2.27.3 compiled with CUDA 12.9\nCUDA runtime version 12090\n\n"
    "Job summary\n===========\n\n"
    "  Nodes  Processes         GPUs  Processes     GPUs\n"
    "(total)   per node  per process    (total)  (total)\n"
    "      4          8            1         32       32\n\n"
    "Communicators... (0.00s)\n=============\n\n"
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
    "    #  in group  per comm  per node  per comm  in group\n"
    "    0         1         4         8        32        32   RUNNING  MISMATCH\n"
    "    1         8         4         1         4        32   RUNNING      OK\n\n";

TEST(RasReader, Text) {
  const struct {
    const char* name;
    const char* rest;
    const char* expected;
  } rows[] = {
      {"nothing wrong", "Errors\n======\n\nWarnings\n========\n", ""},
      {"one behind",
       "#0-0 (27a0) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n"
       "  31 ranks have launched up to operation 6650\n"
       "  Rank 9 has launched up to operation 6649 -- GPU 1 managed by process 7 on node "
       "10.0.0.2\n",
       "9 behind ALLREDUCE 6649"},
      {"before 2.26 all kinds together",
       "#0-0 (27a0) MISMATCH\n  Communicator ranks have different collective operation counts\n"
       "  30 ranks have launched up to operation 6650\n"
       "  2 ranks have launched up to operation 6649\n"
       "  Rank 0 -- GPU 0 managed by process 483072 on node 10.0.0.1\n"
       "  Rank 2 -- GPU 2 managed by process 483074 on node 10.0.0.1\n",
       "0 behind 6649; 2 behind 6649"},
      {"one ahead",
       "#0-0 (27a0) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n"
       "  31 ranks have launched up to operation 6649\n"
       "  Rank 9 has launched up to operation 6650 -- GPU 1 managed by process 7 on node "
       "10.0.0.2\n",
       ""},
      {"never started",
       "#0-0 (27a0) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n"
       "  31 ranks have launched up to operation 6649\n"
       "  Rank 9 has not launched any operations -- [process information not found]\n",
       "9 behind ALLREDUCE 0"},
      {"missing",
       "#0-0 (27a0) INCOMPLETE\n  Missing communicator data from 1 rank\n"
       "  Rank 13 -- GPU 5 managed by process 3487984 on node 10.0.0.2\n",
       "13 missing"},
      {"dead, known from the missing ranks",
       "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
       "  Process 3487984 on node 10.0.0.2 managing GPU 5\n\n#0-0 (27a0) INCOMPLETE\n"
       "  Rank 13 -- GPU 5 managed by process 3487984 on node 10.0.0.2\n",
       "13 missing; 13 missing"},
      {"dead, and nobody says which rank",
       "DEAD\n  Process 3487984 on node 10.0.0.2 managing GPU 5\n", ""},
      {"a small communicator's rank is not the job's",
       "#1-3 (99) INCOMPLETE\n  Rank 2 -- GPU 5 managed by process 4 on node 10.0.0.2\n", ""},
      {"status",
       "#0-0 (27a0) MISMATCH\n  Communicator ranks have different status\n"
       "  31 ranks have status RUNNING\n"
       "  Rank 4 has status FINALIZE -- GPU 4 managed by process 7 on node 10.0.0.1\n",
       "4 left"},
      {"error",
       "#0-0 (27a0) ERROR\n  Asynchronous error on 1 rank\n"
       "  Rank 4 reported Unhandled CUDA error -- GPU 4 managed by process 7 on node n\n",
       "4 cuda"},
      {"a group that no table has", "#7-0 (27a0) INCOMPLETE\n  Rank 2 -- GPU 5 managed by x\n", ""},
      {"not a number", "#0-0 (27a0) INCOMPLETE\n  Rank x -- GPU 5 managed by x\n", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(answer(std::string(kSummary) + row.rest), row.expected) << row.name;
  }
  EXPECT_EQ(answer("step 1 loss 2"), "invalid_input");
  EXPECT_TRUE(looks_like_ras(kSummary));
  EXPECT_TRUE(looks_like_ras(document("")));
  EXPECT_FALSE(looks_like_ras("{\"version\":\"2.10\"}"));
}

TEST(RasReader, DamagedAtEveryByte) {
  const std::string text = std::string(kSummary) +
                           "#0-0 (27a0) MISMATCH\n"
                           "  Communicator ranks have different AllReduce operation counts\n"
                           "  30 ranks have launched up to operation 6650\n"
                           "  2 ranks have launched up to operation 6649\n"
                           "  Rank 0 -- GPU 0 managed by process 483072 on node 10.0.0.1\n";
  for (const std::string& good : {text, document(four(7, 7, 6, 7))}) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      answer(good.substr(0, i));
      for (const char c : {'\0', '\n', '9', '-', '"'}) {
        std::string damaged = good;
        damaged[i] = c;
        answer(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace muster
