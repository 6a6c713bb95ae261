#include "core/blocks/plan_judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/blocks/plan_verdicts.h"

namespace muster::blocks {
namespace {

// Numbers that no run has are as good as not named.
PlanFacts without_zeros(PlanFacts facts) {
  std::erase_if(facts.settings, [&](const PlanSetting& setting) {
    switch (setting.role) {
      case PlanRole::even_steps:
      case PlanRole::drop_last:
      case PlanRole::forgiving:
      case PlanRole::dataset_samples:
      case PlanRole::rank_samples:
        return false;
      default:
        break;
    }
    if (setting.value != 0) return false;
    facts.unread.push_back(setting.seen);
    return true;
  });
  return facts;
}

}  // namespace

void ask_for_more(std::string missing, std::string next, const std::string& source,
                  Report& report) {
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = Confidence::low;
  finding.cause = Cause::evidence_missing;
  finding.summary = "cannot tell whether all ranks make the same steps: " + missing;
  finding.actions = {Action::collect_evidence};
  finding.next = std::move(next);
  report.blind.push_back({source, std::move(missing), true});
  report.findings.push_back(std::move(finding));
}

void quote_settings(const PlanValues& values, Finding& finding) {
  std::vector<std::pair<std::string, std::uint64_t>> quoted_lines;
  for (const PlanRole role :
       {PlanRole::micro_batch, PlanRole::batch_size, PlanRole::global_batch, PlanRole::accumulation,
        PlanRole::world_size, PlanRole::even_steps, PlanRole::drop_last, PlanRole::dataset_samples,
        PlanRole::rank_samples, PlanRole::block_tokens, PlanRole::max_steps, PlanRole::forgiving}) {
    const PlanSetting* setting = values.seen(role);
    if (setting == nullptr) continue;
    const std::pair line(setting->seen.source, setting->seen.line);
    if (line.second != 0 &&
        std::find(quoted_lines.begin(), quoted_lines.end(), line) != quoted_lines.end()) {
      continue;
    }
    quoted_lines.push_back(line);
    finding.evidence.push_back(quoted(setting->seen));
  }
}

void judge_plan(const PlanFacts& given, Report& report) {
  const PlanFacts facts = without_zeros(given);
  const PlanValues values(facts);
  for (const PlanLine& line : facts.unread) {
    report.blind.push_back(
        {line.source, fmt::format("line {} is not understood: {}", line.line, line.text), true});
  }
  for (const PlanSetting* setting : values.contested()) {
    report.blind.push_back(
        {setting->seen.source,
         fmt::format("line {}: {} has two values", setting->seen.line, setting->name), true});
  }
  if (!facts.rows.empty()) {
    const auto units = rank_units(facts, values, report.blind);
    if (units) return judge_table(*units, values, report);
    return ask_for_more("the lines of the table do not tell the same quantity",
                        "Name one quantity for every rank: bytes, blocks, samples or steps.",
                        facts.rows.front().seen.source, report);
  }
  judge_samples(values, report);
}

}  // namespace muster::blocks
