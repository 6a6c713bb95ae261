#include "core/blocks/plan_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace muster::blocks {
namespace {

using Kind = RankUnits::Kind;

struct Units {
  Kind kind;
  std::uint64_t value;
};

// The quantity of one line that is nearest to steps. Blocks of a file are whole: the rest of it is
// not read.
std::optional<Units> units_of(const RankRow& row, const PlanValues& values) {
  const auto block = values.get(PlanRole::block_tokens);
  if (row.steps) return Units{Kind::steps, *row.steps};
  if (row.batches) return Units{Kind::batches, *row.batches};
  if (row.blocks) return Units{Kind::blocks, *row.blocks};
  if (row.samples) return Units{Kind::samples, *row.samples};
  if (row.tokens && block && *block > 0) return Units{Kind::blocks, *row.tokens / *block};
  if (!row.bytes) return std::nullopt;
  auto id_bytes = values.get(PlanRole::id_bytes);
  if (!id_bytes && (row.file.ends_with(".i32") || row.file.ends_with(".u32"))) id_bytes = 4;
  if (!id_bytes || !block || *block == 0) return Units{Kind::bytes, *row.bytes};
  return Units{Kind::blocks, *row.bytes / *id_bytes / *block};
}

struct Joined {
  Units units{};
  const RankRow* row = nullptr;
  std::set<std::string> files;
};

void say_ranks(const std::map<std::uint64_t, Joined>& ranks, const PlanValues& values,
               const std::string& source, std::vector<Blind>& blind) {
  const auto world = values.get(PlanRole::world_size);
  const std::uint64_t expected = world.value_or(ranks.rbegin()->first + 1);
  if (ranks.rbegin()->first >= expected) {
    blind.push_back({source,
                     fmt::format("the table has rank {}, the settings a world of {}: they are not "
                                 "of one run",
                                 ranks.rbegin()->first, expected),
                     true});
  } else if (ranks.size() < expected) {
    std::uint64_t missing = 0;
    while (ranks.contains(missing)) ++missing;
    blind.push_back({source,
                     fmt::format("{} of {} ranks are in the table; rank {} is not", ranks.size(),
                                 expected, missing),
                     true});
  }
}

// Of settings with one role the stronger counts: "block" is that of the pack where "max_seq_len" is
// of the model; "world_size" is of the run where "num_gpus" may be of a host, and of its ranks only
// those of data parallelism read data of their own.
int strength(const PlanSetting& setting) {
  if (setting.name.starts_with("dp_") || setting.name.starts_with("data_parallel")) return 2;
  return setting.name.starts_with("block") || setting.name.starts_with("world") ? 1 : 0;
}

}  // namespace

PlanValues::PlanValues(const PlanFacts& facts) {
  std::array<bool, kPlanRoles> contested{};
  for (const PlanSetting& setting : facts.settings) {
    const auto at = static_cast<std::size_t>(setting.role);
    if (values_[at] == nullptr || strength(setting) > strength(*values_[at])) {
      values_[at] = &setting;
      contested[at] = false;
    } else if (strength(setting) == strength(*values_[at]) && values_[at]->value != setting.value) {
      contested[at] = true;
    }
  }
  for (std::size_t i = 0; i < kPlanRoles; ++i) {
    if (!contested[i]) continue;
    contested_.push_back(values_[i]);
    values_[i] = nullptr;
  }
}

std::optional<std::uint64_t> PlanValues::get(PlanRole role) const {
  const PlanSetting* setting = seen(role);
  return setting != nullptr ? std::optional(setting->value) : std::nullopt;
}

const PlanSetting* PlanValues::seen(PlanRole role) const {
  return values_[static_cast<std::size_t>(role)];
}

const PlanSetting* PlanValues::micro_batch_seen() const {
  for (const PlanRole role :
       {PlanRole::micro_batch, PlanRole::batch_size, PlanRole::global_batch}) {
    if (seen(role) != nullptr) return seen(role);
  }
  return nullptr;
}

std::optional<std::uint64_t> PlanValues::micro_batch() const {
  if (const auto micro = get(PlanRole::micro_batch)) return micro;
  if (const auto batch = get(PlanRole::batch_size)) return batch;
  const auto global = get(PlanRole::global_batch), world = get(PlanRole::world_size);
  if (!global || !world || *world == 0) return std::nullopt;
  const std::uint64_t accumulation = get(PlanRole::accumulation).value_or(1);
  if (accumulation == 0 || *global % *world != 0 || *global / *world % accumulation != 0) {
    return std::nullopt;
  }
  return *global / *world / accumulation;
}

std::optional<RankUnits> rank_units(const PlanFacts& facts, const PlanValues& values,
                                    std::vector<Blind>& blind) {
  std::map<std::uint64_t, Joined> ranks;
  std::optional<Kind> kind;
  for (const RankRow& row : facts.rows) {
    const auto units = units_of(row, values);
    if (!units || (kind && *kind != units->kind)) {
      blind.push_back(
          {row.seen.source,
           fmt::format("line {}: another quantity than the lines before it tell", row.seen.line),
           true});
      return std::nullopt;
    }
    kind = units->kind;
    const auto [at, fresh] = ranks.try_emplace(row.rank);
    Joined& joined = at->second;
    if (fresh) {
      joined.units = *units;
      joined.row = &row;
    } else if (row.file.empty() || joined.files.contains(row.file)) {
      blind.push_back({row.seen.source,
                       fmt::format("line {}: rank {} comes twice", row.seen.line, row.rank), true});
      return std::nullopt;
    } else {
      joined.units.value = std::max(joined.units.value + units->value, joined.units.value);
    }
    joined.files.insert(row.file);
  }
  if (ranks.empty()) return std::nullopt;
  say_ranks(ranks, values, facts.rows.front().seen.source, blind);
  RankUnits out;
  out.kind = *kind;
  for (const auto& [rank, joined] : ranks) {
    out.ranks.push_back(rank);
    out.units.push_back(joined.units.value);
    out.rows.push_back(joined.row);
  }
  return out;
}

Evidence quoted(const PlanLine& line) {
  return {line.source, line.line != 0 ? std::optional(line.line) : std::nullopt, line.text};
}

std::string grouped(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
  return out;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace muster::blocks
