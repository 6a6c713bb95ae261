// Any bytes as what people write down of a run: an answer comes, of at most one finding, and none
// that its cause does not allow.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/blocks/plan_judge.h"
#include "core/blocks/plan_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Settings in front of a NUL, a table behind it: as two files.
  const std::size_t cut = text.find('\0');
  blocks::PlanFacts facts;
  bool read = blocks::read_plan("a", text.substr(0, cut), facts);
  if (cut != std::string_view::npos) read |= blocks::read_plan("b", text.substr(cut + 1), facts);
  if (!read) {
    MUSTER_CHECK(facts.rows.empty() && facts.settings.empty(), "nothing is taken of a stranger");
    return 0;
  }
  Report report;
  blocks::judge_plan(facts, report);
  MUSTER_CHECK(report.findings.size() == 1, "one answer");
  const Finding& finding = report.findings[0];
  MUSTER_CHECK(cause_row(finding.cause).allows(finding.severity), "the table of causes");
  MUSTER_CHECK(!finding.summary.empty() && !finding.actions.empty(), "an answer says something");
  return 0;
}
