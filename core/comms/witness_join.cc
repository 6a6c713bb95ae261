#include "core/comms/witness_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"
#include "core/comms/process_ranks.h"

namespace muster {
namespace {

ProcessRanks processes_of(const std::vector<LogReading>& logs) {
  std::vector<RankProcess> all;
  for (const LogReading& log : logs) {
    all.insert(all.end(), log.processes.begin(), log.processes.end());
  }
  ProcessRanks out(all);
  for (const LogReading& log : logs) {
    for (const LogWitness& w : log.witnesses) {
      if (w.placed && w.pid) out.add(w.host, *w.pid, w.value.rank);
    }
  }
  return out;
}

}  // namespace

JoinedWitnesses join_witnesses(std::vector<LogReading> logs) {
  const ProcessRanks processes = processes_of(logs);
  JoinedWitnesses out;
  std::vector<LogWitness> placed;
  for (LogReading& log : logs) {
    std::move(log.notes.begin(), log.notes.end(), std::back_inserter(out.notes));
    std::size_t told = 0;
    for (LogWitness& w : log.witnesses) {
      if (const auto rank = w.placed || !w.pid ? std::nullopt : processes.rank_of(w.host, *w.pid)) {
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
