#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::train {

// What a rank says of itself before the first step.
struct VoteRecord {
  std::uint64_t blocks = 0;  // of data that it has
  std::uint64_t steps = 0;   // of one epoch, as far as these go
  std::uint64_t data = 0;    // names the data itself, by its content
  // By name, in the same order on all ranks: "config", "tokenizer", "code", "dtype", "seed" ...
  // Whoever differs in any of these would train another model.
  std::vector<std::pair<std::string, std::string>> same;

  bool operator==(const VoteRecord&) const = default;
};

std::string encode_vote(const VoteRecord& record);
Result<VoteRecord> decode_vote(std::string_view text);

struct Vote {
  std::uint64_t steps = 0;             // of one epoch on every rank: the least
  std::optional<std::string> warning;  // ranks have different numbers of blocks, with the numbers
  // Why the run must not start, with the ranks that differ from the majority. Where there is no
  // majority both sides are named, and no side is called wrong.
  std::optional<std::string> refusal;
};

// In the order of ranks, one at least. Pure: every rank comes to the same.
Vote judge_vote(std::span<const VoteRecord> records);

// Names the data of all ranks where each has its own: what a resumed run must find again. Other
// files, or the same ones on other ranks, give another number.
std::uint64_t data_of_ranks(std::span<const VoteRecord> records);

// "3", "0-2", "0-2,4-7"; rising numbers.
std::string rank_ranges(std::span<const std::size_t> ranks);

}  // namespace muster::train
