#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/flight/dump.h"
#include "core/model/grid.h"
#include "core/model/rank_witness.h"
#include "core/model/severity.h"

// Who hung the run: matches the collectives of all ranks, builds the graph of who waits for whom,
// and names what nobody else explains. Majority decides, never "the first rank"; a tie is said.
// Linear in the entries of all dumps together.

namespace muster {

enum class FlightVerdictKind : std::uint8_t {
  behind,             // a rank has not entered what the others wait in, and waits in nothing itself
  in_launch,          // the same; its thread is inside the call (record written, call not back)
  comm_init,          // the same, and it never issued anything in that group
  no_dump,            // a rank without a dump is what the others wait for
  mismatch,           // at one number of one group a minority called something else
  ahead_left_loop,    // such a minority that has left the training loop: uneven steps
  extra_op,           // a minority called something that the others never call there
  out_of_order,       // the ranks went through the groups in another order than all others
  deadlock_cycle,     // a ring of waits without a minority
  fabric_all,         // all members are in, all the same, nobody got out
  fabric_partial,     // all members are in, some got out
  fabric_p2p,         // both ends of a message are posted and it does not move
  p2p_size_mismatch,  // both ends are posted with different sizes
  never_started,      // nobody issued anything
  silent_mismatch,    // different calls completed with each other: garbage in the results
  straggler,          // nothing hangs; one rank is last, nearly always
  undecided,          // the evidence fits two hypotheses
};

std::string_view flight_verdict_name(FlightVerdictKind kind);

// Ranks that stand at the same place: the same call, from the same line.
struct FlightSide {
  std::vector<std::int32_t> ranks;  // sorted
  std::string call;                 // "all_reduce [1] Float"; "nothing" or "no dump" where so
  std::string frame;                // innermost frame of the user: "save_checkpoint train.py:310"
  std::optional<std::int64_t> seq;
  std::string source;  // dump of the first of the ranks
  std::string about;   // "waits", "left the loop", "last call before it went silent"
};

struct FlightVerdict {
  FlightVerdictKind kind = FlightVerdictKind::undecided;
  Confidence confidence = Confidence::low;
  std::vector<std::int32_t> culprits;  // sorted ranks; empty: nobody, or unknown
  std::string group;                   // "default_pg", name where there is no description
  std::size_t group_size = 0;
  std::optional<std::int64_t> seq;        // of the collective in question
  std::vector<FlightSide> sides;          // culprits first
  std::size_t explained = 0;              // waiting ranks that this explains ...
  std::size_t waiting = 0;                // ... of so many
  std::optional<WallTime> waiting_since;  // earliest, on the clock of its own rank
  std::string summary;                    // one line
  std::string why;                        // what decided, or what would decide
  std::vector<RankWitness> witnesses;     // second witnesses that speak of the culprits
};

// What was there to judge from.
struct FlightCoverage {
  std::size_t expected = 0;           // ranks of all groups together
  bool size_told = true;              // how many ranks the job has is known
  std::vector<std::int32_t> missing;  // members without a dump
  std::vector<std::int32_t> cut;      // ranks whose dump ends in the middle
  std::size_t entries = 0;
  std::size_t wrapped = 0;            // dumps whose ring lost its oldest entries
  std::optional<Duration> history;    // median length of time that the rings cover
  bool timing = false;                // "started" is told apart from "scheduled"
  std::vector<std::string> versions;  // of the formats met
};

struct FlightAnalysis {
  std::vector<FlightVerdict> verdicts;  // [0] is the answer; empty: nothing hangs
  FlightCoverage coverage;
  std::vector<std::string> notes;
  bool logs_given = false;
  Grid timeline;  // of the answer; without rows unless asked for
};

struct FlightAsked {
  bool logs_given = false;  // logs of the ranks were read, whatever they told: not asked for again
  bool timeline = false;
};

// Dumps in any order; which of several of a rank counts: dump_choice.h. `witnesses` may be empty.
// Where the dumps are of two jobs that ran at one time, that is the answer, and nobody is named.
FlightAnalysis analyze_flight(std::span<const FlightDump> dumps,
                              std::span<const RankWitness> witnesses, FlightAsked asked = {});

}  // namespace muster
