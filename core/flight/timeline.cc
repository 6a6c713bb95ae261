#include "core/flight/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/flight/frames.h"
#include "core/flight/verdict_text.h"

namespace muster {
namespace {

// Numbers before and after the one in question; rows that are shown.
constexpr std::int64_t kBefore = 2, kAfter = 1;
constexpr std::size_t kRows = 24;

std::string cell_of(const FlightRank* rank, std::uint32_t group, std::int64_t seq) {
  if (rank == nullptr) return "?";
  const auto entry = rank->find(group, seq);
  if (!entry) return rank->presence(group, seq) == Presence::absent ? "-" : ".";
  constexpr std::string_view kMarks[] = {"", " *run", " *", " *late", " *left", " ?"};
  return describe_call(rank->signature(*entry)) +
         std::string(kMarks[static_cast<int>(rank->status(*entry))]);
}

std::string place_of(const FlightRank* rank, std::uint32_t group, std::int64_t seq) {
  if (rank == nullptr || rank->dump().entries.empty()) return "";
  const auto last = static_cast<std::uint32_t>(rank->dump().entries.size() - 1);
  const std::uint32_t entry = rank->find(group, seq).value_or(last);
  return describe_frame(user_frame(rank->dump(), rank->stack(entry)));
}

// The numbers that are shown; fewer at the ends of what a number can be.
std::vector<std::int64_t> numbers_around(std::int64_t seq) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t by = -kBefore; by <= kAfter; ++by) {
    const bool fits = by < 0 ? seq > FlightEntry::kAbsent - by : seq <= INT64_MAX - by;
    if (fits) numbers.push_back(seq + by);
  }
  return numbers;
}

// One rank of each side: they are all members of the group in question.
std::vector<std::int32_t> ranks_told(const FlightVerdict& verdict) {
  std::vector<std::int32_t> ranks;
  for (const FlightSide& side : verdict.sides) {
    if (!side.ranks.empty()) ranks.push_back(side.ranks.front());
  }
  return ranks;
}

// Several groups may have one title and one size: the one with these members that knows the number.
std::optional<std::uint32_t> group_in_question(const FlightFleet& fleet,
                                               const FlightVerdict& verdict) {
  const std::vector<std::int32_t> told = ranks_told(verdict);
  const auto is_member = [](const FleetGroup& group, std::int32_t rank) {
    return std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
  };
  for (std::uint32_t id = 0; id < fleet.groups().size(); ++id) {
    const FleetGroup& group = fleet.groups()[id];
    if (group.title() != verdict.group) continue;
    const bool holds_all =
        std::all_of(told.begin(), told.end(), [&](std::int32_t r) { return is_member(group, r); });
    const bool knows = std::any_of(group.ranks.begin(), group.ranks.end(), [&](std::int32_t r) {
      const FlightRank* rank = fleet.find(r);
      return rank != nullptr && rank->find(id, *verdict.seq).has_value();
    });
    if (holds_all && knows) return id;
  }
  return {};
}

}  // namespace

Grid flight_timeline(const FlightFleet& fleet, const FlightVerdict& verdict) {
  Grid grid;
  if (!verdict.seq) return grid;
  const auto id = group_in_question(fleet, verdict);
  if (!id) return grid;
  const FleetGroup& group = fleet.groups()[*id];
  grid.title =
      fmt::format("{} ({} ranks), collectives by number", verdict.group, group.ranks.size());
  const std::vector<std::int64_t> numbers = numbers_around(*verdict.seq);
  grid.columns = {"ranks"};
  for (const std::int64_t number : numbers) grid.columns.push_back(std::to_string(number));
  grid.columns.push_back("at");
  std::map<std::vector<std::string>, std::vector<std::int32_t>> alike;
  for (const std::int32_t member : group.ranks) {
    const FlightRank* rank = fleet.find(member);
    const bool odd = std::binary_search(verdict.culprits.begin(), verdict.culprits.end(), member);
    std::vector<std::string> cells = {odd ? "0" : "1"};  // culprits sort first
    for (const std::int64_t number : numbers) cells.push_back(cell_of(rank, *id, number));
    cells.push_back(place_of(rank, *id, *verdict.seq));
    alike[std::move(cells)].push_back(member);
  }
  for (const auto& [cells, ranks] : alike) {
    if (grid.rows.size() == kRows) break;
    grid.rows.push_back(cells);
    grid.rows.back().front() = describe_ranks(ranks);
  }
  grid.legend = "* waits   - not issued   . not in the ring   ? no dump";
  return grid;
}

}  // namespace muster
