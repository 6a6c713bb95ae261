#include "core/model/exit_status.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

struct Row {
  const char* name;
  std::vector<std::pair<Severity, Confidence>> findings;
  int blind;  // 0 none, 1 harmless, 2 could hide a critical finding
  ExitStatus want;
};

TEST(ExitStatus, FollowsTheTable) {
  using enum Severity;
  using enum Confidence;
  const Row rows[] = {
      {"nothing", {}, 0, ExitStatus::ok},
      {"nothing, harmless blind", {}, 1, ExitStatus::ok},
      {"nothing seen, blind", {}, 2, ExitStatus::cannot_tell},
      {"info", {{info, high}}, 0, ExitStatus::ok},
      {"ok but blind", {{ok, high}}, 2, ExitStatus::cannot_tell},
      {"low warning only", {{warning, low}}, 0, ExitStatus::cannot_tell},
      {"low critical only", {{critical, low}}, 0, ExitStatus::cannot_tell},
      {"low info only", {{info, low}}, 0, ExitStatus::ok},
      {"low critical beside sure warning",
       {{critical, low}, {warning, medium}},
       0,
       ExitStatus::warning},
      {"warning stands although blind", {{warning, medium}}, 2, ExitStatus::warning},
      {"critical medium", {{critical, medium}, {ok, high}}, 0, ExitStatus::critical},
  };
  for (const Row& row : rows) {
    Report report;
    for (const auto& [severity, confidence] : row.findings) {
      Finding f;
      f.severity = severity;
      f.confidence = confidence;
      report.findings.push_back(f);
    }
    if (row.blind > 0) report.blind.push_back({"n2", "permission denied", row.blind == 2});
    EXPECT_EQ(exit_status_of(report), row.want) << row.name;
  }
}

TEST(SortFindings, WorstFirstThenSurest) {
  std::vector<Finding> f(3);
  f[0].severity = Severity::warning;
  f[1].severity = Severity::critical;
  f[2].severity = Severity::critical;
  f[2].confidence = Confidence::high;
  sort_findings(f);
  EXPECT_EQ(f[0].confidence, Confidence::high);
  EXPECT_EQ(f[2].severity, Severity::warning);
}

}  // namespace
}  // namespace muster
