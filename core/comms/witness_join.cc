#include "core/comms/witness_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

// "n3.cluster.example" and "n3" are one host; addresses stay whole.
std::string host_key(std::string_view host) {
  const bool name = host.find_first_not_of("0123456789.:") != std::string_view::npos;
  return to_lower(name ? host.substr(0, host.find('.')) : host);
}

// Process -> rank, from what the lines themselves show.
class Processes {
 public:
  explicit Processes(const std::vector<LogReading>& logs) {
    std::int64_t largest = 0;
    const auto each = [&logs](auto&& visit) {
      for (const LogReading& log : logs) {
        for (const RankProcess& process : log.processes) visit(process);
      }
    };
    each([&](const RankProcess& p) { largest = std::max(largest, p.of_ranks); });
    each([&](const RankProcess& p) {
      if (p.of_ranks == 0 || p.of_ranks == largest) add(p.host, p.pid, p.rank);
    });
    for (const LogReading& log : logs) {
      for (const LogWitness& w : log.witnesses) {
        if (w.placed && w.pid) add(w.host, *w.pid, w.value.rank);
      }
    }
  }

  std::optional<std::int32_t> rank_of(const LogWitness& w) const {
    if (!w.pid) return std::nullopt;
    const auto found = by_pid_.find(*w.pid);
    if (found == by_pid_.end()) return std::nullopt;
    std::set<std::int32_t> ranks;
    for (const auto& [host, rank] : found->second) {
      // A process number without a host is one of any host: only sure where nobody else has it.
      if (w.host.empty() || host.empty() || host == host_key(w.host)) ranks.insert(rank);
    }
    return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
  }

 private:
  void add(std::string_view host, std::int64_t pid, std::int32_t rank) {
    by_pid_[pid].emplace(host_key(host), rank);
  }

  std::map<std::int64_t, std::set<std::pair<std::string, std::int32_t>>> by_pid_;
};

}  // namespace

JoinedWitnesses join_witnesses(std::vector<LogReading> logs) {
  const Processes processes(logs);
  JoinedWitnesses out;
  std::vector<LogWitness> placed;
  for (LogReading& log : logs) {
    std::move(log.notes.begin(), log.notes.end(), std::back_inserter(out.notes));
    std::size_t told = 0;
    for (LogWitness& w : log.witnesses) {
      if (const auto rank = w.placed ? std::nullopt : processes.rank_of(w)) {
        w.value.rank = *rank;
        w.placed = true;
      }
      if (w.placed) {
        placed.push_back(std::move(w));
      } else if (++told <= limits::kNotesOfLog) {
        out.notes.push_back(fmt::format("{}:{}: no line says whose this is: {}", w.value.source,
                                        w.value.line.value_or(0), w.value.text.substr(0, 200)));
      }
    }
    if (told > limits::kNotesOfLog) {
      out.notes.push_back(
          fmt::format("{} more lines of this log name no rank", told - limits::kNotesOfLog));
    }
  }
  std::set<std::int32_t> telling, starved;
  for (const LogWitness& w : placed) {
    if (!w.only_exit) telling.insert(w.value.rank);
    if (w.value.kind == WitnessKind::host_oom_killed) starved.insert(w.value.rank);
  }
  for (LogWitness& w : placed) {
    const std::int32_t rank = w.value.rank;
    if (w.only_exit && telling.contains(rank)) continue;
    // The kernel's own line says why.
    if (w.value.kind == WitnessKind::killed && w.value.code == 9 && starved.contains(rank))
      continue;
    out.witnesses.push_back(std::move(w.value));
  }
  return out;
}

}  // namespace muster
