#include "core/render/report_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RenderReport, SaysBlindInsteadOfOk) {
  Report report;
  EXPECT_EQ(render_report(report, {}), "OK        nothing wrong in what was read\n");
  report.blind = {{"n2", "permission denied", true}};
  EXPECT_EQ(render_report(report, {}),
            "UNKNOWN   nothing wrong in what could be read; see blind\n"
            "  blind   n2: permission denied\n");
}

TEST(RenderReport, EscapesWhatComesFromOutsideAndKeepsTheWidth) {
  Report report;
  Finding f;
  f.severity = Severity::critical;
  f.confidence = Confidence::medium;
  f.cause = Cause::collective_hang;
  f.culprits = {{CulpritKind::host, "n1\x1b[2J"}};
  f.summary = "rank 3 apart for 216 s, which is longer than any save of this run (118 s) so far";
  f.evidence = {{"n1.csv", 7, "\x1b[31m0 %\r\n" + std::string(300, 'x')}};
  f.next = "muster trace";
  report.findings = {f};
  const std::string text = render_report(report, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80u) << text.substr(start, end - start);
    start = end + 1;
  }
  EXPECT_EQ(text.substr(0, 10), "CRITICAL  ");
}

}  // namespace
}  // namespace muster
