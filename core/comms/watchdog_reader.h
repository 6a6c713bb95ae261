#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/model/rank_witness.h"

// A log of one rank, of one host or of the whole job -> what it tells about ranks.
//
//   WatchdogReader reader({.source = "rank5.log", .rank = 5, .written = mtime});
//   reader.line(text, number);  // every line, from 1
//   LogReading reading = reader.finish();
//   JoinedWitnesses all = join_witnesses({...});  // witness_join.h: over all files
//
// Read are the watchdog and heartbeat of PyTorch from 2.0 on, tracebacks, CUDA errors and memory,
// NCCL WARN, RAS-free NCCL INFO of the init, summaries of torchelastic and srun, the kernel's OOM
// and Xid lines. Teardown notices, resets of the store and what else only follows from the end of
// another rank give no witness. A line that is true of the job and of no known rank gives a note.
//
// Lines are bounded by whoever cuts them (LineSplitter); what is kept is bounded here: the first
// limits::kWitnessesOfRank of a kind and rank, limits::kWitnesses of a file.

namespace muster {

// A process of the job, as a line shows it; joins lines that name a process with its rank.
struct RankProcess {
  std::string host;
  std::int64_t pid = 0;
  std::int32_t rank = 0;
  std::int64_t of_ranks = 0;  // size of the communicator in which it has this rank; 0: the job
};

struct LogWitness {
  RankWitness value;
  bool placed = false;  // value.rank is known
  // Only the exit status of a process, so no news where its rank tells anything else.
  bool only_exit = false;
  std::string host = {};
  std::optional<std::int64_t> pid = std::nullopt;
};

struct LogReading {
  std::vector<LogWitness> witnesses;  // in the order of the lines
  std::vector<RankProcess> processes;
  std::vector<std::string> notes;
};

class WatchdogReader {
 public:
  struct Options {
    std::string source;                // for evidence
    std::optional<std::int32_t> rank;  // of a file that is one rank's by its name
    WallTime written{};                // gives stamps without a year theirs
  };
  explicit WatchdogReader(Options options);
  ~WatchdogReader();
  WatchdogReader(WatchdogReader&&) noexcept;
  WatchdogReader& operator=(WatchdogReader&&) noexcept;

  // Every line, or only those that hold one of watchdog_anchors() and those that come while
  // wants_next().
  void line(std::string_view text, std::uint64_t number);
  // Goes up with each line that told something new: a line that leaves it as it was may come again
  // as often as it likes.
  std::uint64_t news() const;
  // A traceback is open: the next line may be of it.
  bool wants_next() const;
  // Once, at the end: places the lines whose prefix was explained only later.
  LogReading finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Every line that the reader takes by itself holds one of them.
std::span<const std::string_view> watchdog_anchors();

}  // namespace muster
