#include "core/render/report_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RenderReport, SaysBlindInsteadOfOk) {
  Report report;
  EXPECT_EQ(render_report(report, {}), "OK        nothing wrong in what was read\n");
  report.blind = {{"n2", "permission denied", true}};
  EXPECT_EQ(render_report(report, {}),
            "UNKNOWN   cannot tell: n2 could not be used (permission denied)\n"
            "  blind   n2: permission denied\n");
  report.blind = {{"photo.png", "no text: not read", false}};
  EXPECT_EQ(render_report(report, {}),
            "OK        nothing wrong in what was read; see blind\n"
            "  blind   photo.png: no text: not read\n");
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

struct EvidenceRow {
  const char* name;
  std::string source, text;
  std::string lines;  // as shown, behind the summary
};

class RenderEvidence : public testing::TestWithParam<EvidenceRow> {};

TEST_P(RenderEvidence, KeepsTheEndOfThePathAndGoesOnBelow) {
  Finding f;
  f.summary = "s";
  f.evidence = {{GetParam().source, {}, GetParam().text}};
  Report report;
  report.findings = {f};
  const std::string text = render_report(report, {});
  const std::size_t at = text.find("  seen    ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.substr(at + 10), GetParam().lines + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RenderEvidence,
    testing::Values(
        EvidenceRow{"no_blank_in_either", std::string(90, 'p'), std::string(300, 'x'),
                    "..." + std::string(25, 'p') + "  " + std::string(40, 'x') + "\n            " +
                        std::string(68, 'x') + "\n            " + std::string(65, 'x') + "..."},
        EvidenceRow{"too_many_words", "a",
                    [] {
                      std::string words;
                      for (int i = 0; i < 100; ++i) words += "word ";
                      return words;
                    }(),
                    [] {
                      std::string line = "a  ";
                      for (int i = 0; i < 13; ++i) line += i > 0 ? " word" : "word";
                      line += "\n            ";
                      for (int i = 0; i < 13; ++i) line += i > 0 ? " word" : "word";
                      line += "\n            ";
                      for (int i = 0; i < 13; ++i) line += "word ";
                      return line + "...";
                    }()},
        EvidenceRow{"cut_inside_a_letter", "\u00e9" + std::string(24, 'p') + "\u00e9", "t",
                    "\u00e9" + std::string(24, 'p') + "\u00e9  t"},
        EvidenceRow{"letters_of_two_bytes", std::string(40, 'p') + "\u00e9" + std::string(24, 'q'),
                    "t", "..." + std::string(24, 'q') + "  t"},
        EvidenceRow{"folder_and_name", "/shared/jobs/4711/flight/trace_rank_3", "t",
                    "...4711/flight/trace_rank_3  t"},
        EvidenceRow{"long_name", "/shared/a_name_that_is_longer_than_that_3", "t",
                    "...hat_is_longer_than_that_3  t"},
        EvidenceRow{"wraps", "/shared/jobs/4711/flight/trace_rank_3",
                    "rank 3: all_reduce [1024] Float #50, step train.py:10 (last call)",
                    "...4711/flight/trace_rank_3  rank 3: all_reduce [1024] Float #50, step\n"
                    "            train.py:10 (last call)"},
        EvidenceRow{"short", "n1.csv", "GPU 3 idle", "n1.csv  GPU 3 idle"},
        EvidenceRow{"no_source", "", "GPU 3 idle", "GPU 3 idle"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RenderReport, NamesAFewCulpritsAndCountsTheRest) {
  Finding f;
  f.summary = "s";
  for (int rank = 0; rank < 64; ++rank) f.culprits.push_back({CulpritKind::rank, "7"});
  Report report;
  report.findings = {f};
  EXPECT_NE(render_report(report, {}).find("and 48 more\n"), std::string::npos);
}

}  // namespace
}  // namespace muster
