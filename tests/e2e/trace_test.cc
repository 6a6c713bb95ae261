#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "app/trace_run.h"

// Real flight-recorder dumps of PyTorch on Gloo (testdata/flight/, made by running it), each with
// one known fault: read, judged and told as `muster trace` does.

namespace muster {
namespace {

namespace fs = std::filesystem;

// A checkout gives files any time; a copy with a time long after the dump tells nothing of its age.
const std::string& dumps() {
  static const std::string kCopy = [] {
    const fs::path copy = fs::path(testing::TempDir()) / "muster_trace_test";
    fs::remove_all(copy);
    fs::copy(MUSTER_SOURCE_DIR "/testdata/flight/pytorch-2.15.0", copy,
             fs::copy_options::recursive);
    const auto later = fs::file_time_type::clock::now() + std::chrono::hours(24 * 365);
    for (const auto& entry : fs::recursive_directory_iterator(copy)) {
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), later);
    }
    return copy.string() + "/";
  }();
  return kCopy;
}

struct RealFault {
  const char* name;
  std::vector<Cause> causes;       // a true first finding carries one of these; empty: none
  std::vector<std::string> ranks;  // the true ones
};

std::ostream& operator<<(std::ostream& out, const RealFault& fault) {
  return out << fault.name;
}

TraceAnswer trace(const std::vector<std::string>& paths) {
  TraceRequest request;
  request.paths = paths;
  auto answer = trace_once(request, real_files());
  EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().context);
  return answer ? *answer : TraceAnswer{};
}

std::vector<std::string> ranks_of(const Finding& finding) {
  std::vector<std::string> ranks;
  for (const Culprit& culprit : finding.culprits) {
    if (culprit.kind == CulpritKind::rank) ranks.push_back(culprit.id);
  }
  return ranks;
}

std::string told(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += std::string(cause_name(finding.cause)) + ": " + finding.summary + "\n";
  }
  return text;
}

class RealDumps : public testing::TestWithParam<RealFault> {};

TEST_P(RealDumps, WithLogsNameTheRank) {
  const RealFault& fault = GetParam();
  const TraceAnswer answer =
      trace({dumps() + fault.name + "/pickle", dumps() + fault.name + "/logs"});
  if (fault.causes.empty()) {
    for (const Finding& finding : answer.report.findings) {
      EXPECT_EQ(finding.confidence, Confidence::low) << told(answer.report);
    }
    return;
  }
  ASSERT_FALSE(answer.report.findings.empty());
  const Finding& first = answer.report.findings.front();
  EXPECT_NE(std::find(fault.causes.begin(), fault.causes.end(), first.cause), fault.causes.end())
      << told(answer.report);
  EXPECT_EQ(ranks_of(first), fault.ranks) << told(answer.report);
  EXPECT_NE(first.confidence, Confidence::low) << told(answer.report);
}

// Without logs an answer may be unsure; it may never be wrong.
TEST_P(RealDumps, WithoutLogsNameNobodyElse) {
  const RealFault& fault = GetParam();
  const TraceAnswer answer = trace({dumps() + fault.name + "/pickle"});
  for (const Finding& finding : answer.report.findings) {
    if (finding.confidence == Confidence::low) continue;
    const auto ranks = ranks_of(finding);
    EXPECT_TRUE(ranks.empty() || ranks == fault.ranks) << told(answer.report);
  }
}

const std::vector<RealFault>& faults() {
  using enum Cause;
  static const std::vector<RealFault> kFaults = {
      {"crash", {rank_exception}, {"1"}},
      {"exception", {rank_exception}, {"1"}},
      {"size_smaller", {rank_exception, rank_behind, collective_mismatch}, {"2"}},
      {"size_larger", {collective_mismatch}, {"2"}},
      {"dtype_mismatch", {rank_exception, rank_behind, collective_mismatch}, {"3"}},
      {"op_mismatch", {collective_mismatch}, {"1"}},
      {"skipped", {collective_mismatch, rank_behind}, {"2"}},
      {"extra", {collective_mismatch}, {"0"}},
      {"group_order", {collective_mismatch}, {"3"}},
      {"silent_dtype", {collective_mismatch}, {"2"}},
      {"hang", {rank_behind}, {"2"}},
      {"tp_dp_hang", {rank_behind}, {"5"}},
      {"uneven_steps", {uneven_steps}, {"3"}},
      {"uneven_steps_rank0", {uneven_steps}, {"0"}},
      {"uneven_steps_forward", {uneven_steps}, {"1"}},
      {"healthy", {}, {}},
  };
  return kFaults;
}

INSTANTIATE_TEST_SUITE_P(Gloo, RealDumps, testing::ValuesIn(faults()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Trace, WithoutDumpsTellsWhatToSet) {
  const TraceAnswer answer = trace({dumps() + "crash/logs"});
  ASSERT_EQ(answer.report.findings.size(), 1U);
  EXPECT_EQ(answer.report.findings.front().cause, Cause::evidence_missing);
  const std::string& next = answer.report.findings.front().next;
  EXPECT_NE(next.find("TORCH_FR_BUFFER_SIZE="), std::string::npos) << next;
}

// JSON has no stacks, and is written a moment after the pickle of the same ring.
TEST(Trace, OfTwoFormsTheOneWithStacksCounts) {
  const TraceAnswer answer = trace({dumps() + "uneven_steps"});
  ASSERT_FALSE(answer.report.findings.empty());
  EXPECT_EQ(answer.report.findings.front().cause, Cause::uneven_steps) << told(answer.report);
  EXPECT_EQ(std::count_if(answer.report.notes.begin(), answer.report.notes.end(),
                          [](const std::string& note) {
                            return note.starts_with("8 dumps left out, of ranks with two");
                          }),
            1);
}

// The newest of them is judged, and no rank of another stands in for one that left no dump.
TEST(Trace, RunsAfterEachOtherAreNotMixed) {
  const TraceAnswer answer = trace({dumps() + "op_mismatch", dumps() + "tp_dp_hang/pickle",
                                    dumps() + "crash", dumps() + "hang/pickle"});
  ASSERT_EQ(answer.report.findings.size(), 1U) << told(answer.report);
  EXPECT_EQ(ranks_of(answer.report.findings.front()), std::vector<std::string>{"5"});
  const auto several = std::count_if(
      answer.report.notes.begin(), answer.report.notes.end(), [](const std::string& note) {
        return note.starts_with("dumps of several runs: the newest is judged, ");
      });
  EXPECT_EQ(several, 1);
  EXPECT_LE(answer.report.notes.size(), 4U);
}

TEST(Trace, DrawsWhoWasWhere) {
  TraceRequest request;
  request.paths = {dumps() + "uneven_steps/pickle"};
  request.timeline = true;
  const auto answer = trace_once(request, real_files());
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->timeline.rows.empty());
  EXPECT_EQ(answer->timeline.rows.front().front(), "rank 3");
  for (const auto& row : answer->timeline.rows) {
    EXPECT_EQ(row.size(), answer->timeline.columns.size());
  }
}

}  // namespace
}  // namespace muster
