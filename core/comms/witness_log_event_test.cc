#include "core/comms/witness_log_event.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/timestamp.h"

namespace muster {
namespace {

std::string told(std::string_view log) {
  WatchdogReader reader(
      {.source = "a.log", .rank = {}, .written = parse_timestamp("2026-08-02T00:00:00Z")->at});
  std::uint64_t number = 0;
  for (const std::string_view line : split(log, '\n')) reader.line(line, ++number);
  std::string out;
  for (const LogWitness& witness : reader.finish().witnesses) {
    const LogEvent event = log_event_of(witness);
    EXPECT_EQ(event.source, "a.log");
    EXPECT_TRUE(event.line);
    EXPECT_FALSE(event.meaning.empty());
    out += (out.empty() ? "" : "; ") + event.rule + " " + std::string(cause_name(event.cause)) +
           " " + std::string(event_role_name(event.role));
    if (event.rank) out += " rank=" + std::to_string(*event.rank);
    for (const auto& [name, word] : event.words) out += " " + name + "=" + word;
    if (event.time.at) {
      out += " @" + format_rfc3339(*event.time.at) + (event.time.has_zone ? "z" : "") +
             (event.time.has_date ? "" : "?");
    }
  }
  return out;
}

TEST(WitnessLogEvent, Table) {
  struct Row {
    const char* name;
    std::string log, gives;
  };
  const Row rows[] = {
      {"nothing", "step 7 loss 2.1", ""},
      {"an aborted process is only its end", "[rank3]: Fatal Python error: Aborted",
       "crashed rank_exception teardown rank=3 signal=6"},
      {"a crash", "[rank3]: Fatal Python error: Segmentation fault",
       "crashed rank_exception root rank=3 signal=11"},
      {"a rank that nobody names", "RuntimeError: CUDA error: an illegal memory access",
       "cuda_error rank_exception root"},
      {"NVLink by CUDA's word",
       "[rank2]: RuntimeError: CUDA error: uncorrectable NVLink error detected during the "
       "execution",
       "gpu_lost nvlink_down root rank=2"},
      {"all numbers of a timeout",
       "[rank1]:[E801 11:28:40.118203377 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught "
       "collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=64, "
       "NumelOut=64, "
       "Timeout(ms)=600000) ran for 600047 milliseconds before timing out.",
       "collective_timeout collective_hang cascade rank=1 seq=8 op=ALLREDUCE timeout_ms=600000 "
       "ran_ms=600047 numel_in=64 @2026-08-01T11:28:40Z"},
      {"a time with a zone",
       "2026-08-01T10:00:00Z [rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried",
       "gpu_oom gpu_oom root rank=1 @2026-08-01T10:00:00Zz"},
      {"a bare clock", "[10:00:00] [rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried",
       "gpu_oom gpu_oom root rank=1 @1970-01-01T10:00:00Z?"},
  };
  for (const Row& row : rows) EXPECT_EQ(told(row.log), row.gives) << row.name;
}

}  // namespace
}  // namespace muster
