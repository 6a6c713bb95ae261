#include "core/model/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/model/report_json.h"

namespace muster {
namespace {

TEST(JsonWriter, QuotesEverythingThatComesFromOutside) {
  struct Row {
    std::string_view in, out;
  };
  const Row rows[] = {
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\x1b[31m\n\t", "\"\\u001b[31m\\n\\t\""},
      {std::string_view("\0", 1), R"("\u0000")"},
      {"\xff", "\"\xef\xbf\xbd\""},
      {"\xe2\x82\xac", "\"\xe2\x82\xac\""},
      {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      // C1 controls, marks and overrides of direction, an invisible tag.
      {"\xc2\x80\xc2\x9b\xc2\x9f", R"("\u0080\u009b\u009f")"},
      {"\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xae", R"("\u200e\u200f\u202a\u202e")"},
      {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", R"("\u2066\u2069\u061c")"},
      {"\xf3\xa0\x81\x81", R"("\udb40\udc41")"},
      {"\xc2\xa0\xf0\x9f\x98\x80", "\"\xc2\xa0\xf0\x9f\x98\x80\""},
      {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
  };
  for (const Row& row : rows) {
    JsonWriter w;
    w.value(row.in);
    EXPECT_EQ(w.text(), row.out);
  }
}

TEST(JsonWriter, NumbersKeepTheirValue) {
  JsonWriter w;
  w.begin_array()
      .value(std::int64_t{-9223372036854775807 - 1})
      .value(std::uint64_t{18446744073709551615u})
      .value(0.1)
      .value(std::nan(""))
      .value(std::numeric_limits<double>::infinity())
      .value(true)
      .begin_object()
      .end_object()
      .end_array();
  EXPECT_EQ(w.text(), "[-9223372036854775808,18446744073709551615,0.1,null,null,true,{}]");
}

TEST(EncodeReport, HasTheFrozenKeys) {
  Report report;
  report.verb = "triage";
  Finding f;
  f.severity = Severity::critical;
  f.confidence = Confidence::medium;
  f.cause = Cause::collective_hang;
  f.culprits = {{CulpritKind::rank, "3"}, {CulpritKind::unknown, ""}};
  f.summary = "rank 3 apart";
  f.evidence = {{"n1.csv", 7, "0 %"}, {"n2", std::nullopt, "x"}};
  f.actions = {Action::collect_evidence};
  f.next = "muster trace";
  report.findings = {f};
  report.blind = {{"n2:/dev/kmsg", "permission denied", true}};
  EXPECT_EQ(encode_report(report),
            R"({"schema":"muster.report/1","verb":"triage","findings":[{"severity":"critical",)"
            R"("confidence":"medium","cause":"collective_hang","culprits":[{"kind":"rank",)"
            R"("id":"3"},{"kind":"unknown"}],"summary":"rank 3 apart","since":null,"evidence":[)"
            R"({"source":"n1.csv","line":7,"text":"0 %"},{"source":"n2","line":null,"text":"x"}],)"
            R"("actions":["collect_evidence"],"next":"muster trace"}],"blind":[{"source":)"
            R"("n2:/dev/kmsg","reason":"permission denied","hides_critical":true}],)"
            R"("notes":[]})");
}

}  // namespace
}  // namespace muster
