#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What people write down before a run: settings, and a table of what each rank will read.

namespace muster::blocks {

struct PlanLine {
  std::string source;
  std::uint64_t line = 0;  // from 1
  std::string text;        // at most limits::kEvidenceChars
};

// What a setting decides. Names are those of common trainers and loaders (plan_names.h).
enum class PlanRole : std::uint8_t {
  block_tokens,
  id_bytes,  // "dtype=int32": 4
  micro_batch,
  batch_size,    // where no micro batch is named: of one rank
  global_batch,  // of all ranks
  accumulation,
  world_size,
  even_steps,  // 1: the loader or trainer gives all ranks the same number of steps
  drop_last,   // 1: a batch that is not full is not made
  dataset_samples,
  rank_samples,
  max_steps,  // the run ends after so many, whatever is left of the data
  forgiving,  // 1: something that may make unequal counts harmless (joins, data that repeats)
};
inline constexpr std::size_t kPlanRoles = 13;

struct PlanSetting {
  PlanRole role = PlanRole::block_tokens;
  std::string name;  // as written
  std::uint64_t value = 0;
  PlanLine seen;
};

// One line of a table: a quantity of one rank. Several lines of a rank are parts of what it reads.
struct RankRow {
  std::uint64_t rank = 0;
  std::string file;  // empty: not named
  std::optional<std::uint64_t> bytes, samples, blocks, tokens, batches, steps;
  PlanLine seen;
};

struct PlanFacts {
  std::vector<PlanSetting> settings;
  std::vector<RankRow> rows;
  std::vector<PlanLine> unread;  // lines of a plan that say something which could not be read
};

}  // namespace muster::blocks
