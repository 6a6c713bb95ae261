#include "core/flight/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/flight/fleet.h"
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

}  // namespace

Grid flight_timeline(std::span<const FlightDump> dumps, const FlightVerdict& verdict) {
  Grid grid;
  const FlightFleet fleet(dumps);
  if (!verdict.seq) return grid;
  const auto holds_culprit = [&](const FleetGroup& group) {
    return group.title() == verdict.group && group.ranks.size() == verdict.group_size &&
           (verdict.culprits.empty() ||
            std::any_of(verdict.culprits.begin(), verdict.culprits.end(), [&](std::int32_t r) {
              return std::binary_search(group.ranks.begin(), group.ranks.end(), r);
            }));
  };
  const auto found = std::find_if(fleet.groups().begin(), fleet.groups().end(), holds_culprit);
  if (found == fleet.groups().end()) return grid;
  const auto id = static_cast<std::uint32_t>(found - fleet.groups().begin());
  grid.title =
      fmt::format("{} ({} ranks), collectives by number", verdict.group, found->ranks.size());
  grid.columns = {"ranks"};
  for (std::int64_t s = *verdict.seq - kBefore; s <= *verdict.seq + kAfter; ++s) {
    grid.columns.push_back(std::to_string(s));
  }
  grid.columns.push_back("at");
  std::map<std::vector<std::string>, std::vector<std::int32_t>> alike;
  for (const std::int32_t member : found->ranks) {
    const FlightRank* rank = fleet.find(member);
    const bool odd = std::binary_search(verdict.culprits.begin(), verdict.culprits.end(), member);
    std::vector<std::string> cells = {odd ? "0" : "1"};  // culprits sort first
    for (std::int64_t s = *verdict.seq - kBefore; s <= *verdict.seq + kAfter; ++s) {
      cells.push_back(cell_of(rank, id, s));
    }
    cells.push_back(place_of(rank, id, *verdict.seq));
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
