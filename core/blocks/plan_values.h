#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/blocks/plan_facts.h"
#include "core/model/finding.h"

namespace muster::blocks {

// The settings of a plan by their role. One that is given twice with different values is not known.
class PlanValues {
 public:
  explicit PlanValues(const PlanFacts& facts);

  std::optional<std::uint64_t> get(PlanRole role) const;
  const PlanSetting* seen(PlanRole role) const;  // the first; nothing where get() has nothing
  const std::vector<const PlanSetting*>& contested() const { return contested_; }

  // Blocks or samples that one rank takes at once.
  std::optional<std::uint64_t> micro_batch() const;
  const PlanSetting* micro_batch_seen() const;

 private:
  std::array<const PlanSetting*, kPlanRoles> values_{};
  std::vector<const PlanSetting*> contested_;
};

// What each rank reads, its lines joined.
struct RankUnits {
  std::vector<std::uint64_t> ranks;  // rising
  std::vector<std::uint64_t> units;  // of each
  std::vector<const RankRow*> rows;  // the first of each
  enum class Kind : std::uint8_t { steps, batches, blocks, samples, bytes } kind = Kind::blocks;
  // Bytes, where what a block is is not known: equal ones are equal, others tell nothing.
};

// Nothing where no quantity is told for all ranks, or a rank comes twice with the same file. That,
// and what else is odd about the table (ranks that are missing, more than the world), is said in
// `blind`.
std::optional<RankUnits> rank_units(const PlanFacts& facts, const PlanValues& values,
                                    std::vector<Blind>& blind);

Evidence quoted(const PlanLine& line);
// "30,835"
std::string grouped(std::uint64_t number);
// "1 step", "30,835 steps"
std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace muster::blocks
