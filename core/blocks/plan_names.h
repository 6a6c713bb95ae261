#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/blocks/plan_facts.h"

namespace muster::blocks {

// The role of a setting by its name in lower case with '_' for '-', without leading dashes and
// without what stands in front of its last dot.
std::optional<PlanRole> plan_role(std::string_view name);

// The columns of a table of ranks.
enum class PlanColumn : std::uint8_t { rank, file, bytes, samples, blocks, tokens, batches, steps };
std::optional<PlanColumn> plan_column(std::string_view name);

// A value in its role: numbers, words of yes and no, types of ids. Nothing: it cannot be read, or
// is of something else ("dtype=bfloat16" is the model's).
std::optional<std::uint64_t> plan_value(PlanRole role, std::string_view text);
// A whole number below 2^63: "252715008", "252,715,008", "252_715_008".
std::optional<std::uint64_t> plan_number(std::string_view text);

}  // namespace muster::blocks
