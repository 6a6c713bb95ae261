#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/culprit.h"
#include "core/model/log_event.h"

// The built-in rules as tables: one row is one LogRule (log_rule.h says what its fields mean), one
// table is one subject. Tables are tried in the order of this list, rows in theirs, and the first
// match wins: what quotes another failure stands before what it quotes.

namespace muster {

struct RuleRow {
  std::string_view name, anchor, pattern;
  Cause cause = Cause::undetermined;
  EventRole role = EventRole::root;
  CulpritKind subject_kind = CulpritKind::none;
  std::string_view subject_id = "";
  std::string_view meaning = "", advice = "";
  Action first = Action::none, then = Action::none;
  std::optional<Severity> severity = std::nullopt;
};

// Lines that look like an error and are none, and the shouts of ranks that only lost another.
std::span<const RuleRow> harmless_rules();
std::span<const RuleRow> slurm_rules();
std::span<const RuleRow> kubernetes_rules();
std::span<const RuleRow> nccl_rules();
std::span<const RuleRow>
network_rules();  // the fabric beside NCCL: UFM, NVSHMEM, UCX, gloo's ports
std::span<const RuleRow> checkpoint_rules();
std::span<const RuleRow> loader_rules();
std::span<const RuleRow> data_rules();
std::span<const RuleRow> limit_rules();
std::span<const RuleRow> storage_rules();
std::span<const RuleRow> cuda_rules();
std::span<const RuleRow> torch_rules();
std::span<const RuleRow> signal_rules();
// "SomeError: text" of any program: what no other rule knows better.
std::span<const RuleRow> exception_rules();

}  // namespace muster
