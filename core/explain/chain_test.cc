#include "core/explain/chain.h"

#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

std::vector<std::string> evidence(const Pile& p) {
  std::vector<std::string> out;
  const Explanation answer = explain(p.input);
  for (const Evidence& e : answer.findings.at(0).evidence) out.push_back(e.text);
  return out;
}

bool has(const std::vector<std::string>& lines, std::string_view a, std::string_view b) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(a) != line.npos && line.find(b) != line.npos;
  });
}

TEST(Chain, FromTheFirstCauseToTheLastShout) {
  Pile p;
  p.root(gpu_oom, "CUDA out of memory").rank(3).at(10);
  p.cascade("broke").rank(1).at(12).host("n1");
  p.cascade("broke").rank(2).at(13).host("n2");
  p.timeouts(4, 9, 610);
  const auto lines = evidence(p);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("out of memory"), std::string::npos);
  EXPECT_TRUE(has({lines[1]}, "consequence, 2 ranks", "broke"));
  EXPECT_TRUE(has({lines[2]}, "consequence, 6 ranks", "timed out")) << lines[2];
}

TEST(Chain, WhatIsNotCertainlyLaterIsNoConsequence) {
  Pile p;
  p.source = "kern";
  p.xid(79, gpu_fell_off_bus, "0000:3b:00").host("n1").at(1000);
  p.source = "other";
  p.line("link_down", ib_link_faulty, EventRole::root, "link down")
      .host("n2")
      .at(900)
      .sure(Confidence::low);
  p.line("ecc", undetermined, EventRole::confirmation, "corrected").host("n2").at(5000);
  const auto lines = evidence(p);
  EXPECT_TRUE(has(lines, "beside it", "link down"));
  EXPECT_TRUE(has(lines, "consequence", "corrected"));
  EXPECT_FALSE(has(lines, "consequence", "link down"));
}

TEST(Chain, ACutLeavesWholeCharacters) {
  for (std::size_t front = 480; front < 500; ++front) {
    Pile p;
    std::string text(front, 'x');
    for (int i = 0; i < 20; ++i) text += "\xe2\x82\xac";
    p.root(gpu_oom, text).rank(3).at(10);
    const std::string line = evidence(p).at(0);
    const std::string_view tail = std::string_view(line).substr(line.size() - 3);
    EXPECT_TRUE(tail == "\xe2\x82\xac" || tail.ends_with('x')) << front;
    EXPECT_GE(line.size(), 510u);
  }
}

TEST(Chain, FactsStandBesideTheLinesThatTheyDecide) {
  Pile p;
  p.root(limit_too_low, "Too many open files").on(CulpritKind::config, "nofile");
  ResourceLimit limit;
  limit.name = "nofile";
  limit.soft = 1024;
  p.fact(limit);
  const Finding finding = explain(p.input).findings.at(0);
  ASSERT_EQ(finding.evidence.size(), 2u);
  EXPECT_EQ(finding.evidence[1].source, "site.txt");
}

TEST(Chain, NamesKeepTheirSpellingAndClausesBecomeSentences) {
  Pile named, sentence, here;
  named.root(rank_exception, "x").rank(3);
  EXPECT_TRUE(explain(named.input).findings.at(0).summary.starts_with("rank 3: "));
  sentence.timeout(6, 100);
  EXPECT_TRUE(explain(sentence.input).findings.at(0).summary.starts_with("1 rank waited"));
  here.fact(DriverVersion{true, "550.1"});
  here.fact(DriverVersion{false, "560.1"});
  EXPECT_TRUE(explain(here.input).findings.at(0).summary.starts_with("this host: "));
}

}  // namespace
}  // namespace muster
