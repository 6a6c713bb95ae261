#include <string>
#include <vector>

#include "core/explain/log_rule.h"
#include "core/explain/rule_row.h"

namespace muster {
namespace {

LogRule make(const RuleRow& row) {
  LogRule rule;
  rule.name = row.name;
  rule.anchor = row.anchor;
  rule.pattern = row.pattern;
  rule.cause = row.cause;
  rule.role = row.role;
  rule.severity = row.severity;
  rule.subject_kind = row.subject_kind;
  rule.subject_id = row.subject_id;
  rule.meaning = row.meaning;
  rule.advice = row.advice;
  if (row.first != Action::none) rule.actions.push_back(row.first);
  if (row.then != Action::none) rule.actions.push_back(row.then);
  return rule;
}

}  // namespace

std::span<const LogRule> builtin_rules() {
  static const std::vector<LogRule> kRules = [] {
    std::vector<LogRule> rules;
    for (const auto rows :
         {harmless_rules(), slurm_rules(), kubernetes_rules(), nccl_rules(), network_rules(),
          checkpoint_rules(), loader_rules(), data_rules(), limit_rules(), storage_rules(),
          cuda_rules(), torch_rules(), signal_rules(), exception_rules()}) {
      for (const RuleRow& row : rows) rules.push_back(make(row));
    }
    return rules;
  }();
  return kRules;
}

}  // namespace muster
