#include "core/flight/dump_reader.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

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

}  // namespace
}  // namespace muster
