#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/flight/call.h"
#include "core/flight/dump.h"
#include "core/flight/dump_choice.h"

// All dumps of a run side by side: one numbering of ranks and groups, one meaning of "done", and
// for each rank and group the order of what was issued. Holds views: the dumps must outlive it.

namespace muster {

enum class FlightStatus : std::uint8_t {
  done,
  running,    // on the GPU; told only with timing on
  pending,    // issued; without timing it may as well run
  timed_out,  // given up, or "completed" only after its time-out by the abort
  given_up,   // "retired" while a member has not come: by an error, or that dump is older
  unknown,    // a back end that does not tell
};

struct FleetGroup {
  std::string name, description;
  std::string back_end;             // what its calls go through; empty: not told
  std::vector<std::int32_t> ranks;  // sorted
  bool members_told = false;        // false: inferred from who recorded it

  const std::string& title() const { return description.empty() ? name : description; }
};

// What one rank issued in one group, places in its dump's entries.
struct FlightLane {
  std::uint32_t group = 0;                 // place in FlightFleet::groups()
  std::vector<std::uint32_t> collectives;  // one for each number, rising
  std::vector<std::uint32_t> messages;     // sends and receives in the order of issue
  // From pg_status, where the numbers can be: garbage of old formats is left out.
  std::optional<std::int64_t> last_enqueued, last_completed;
  // A back end without completion events: "retired" is the end, by error too.
  bool ends_by_retirement = false;
};

// How a rank stands to one collective.
enum class Presence : std::uint8_t {
  present,
  passed,   // its ring has forgotten it: long done
  absent,   // not issued
  unknown,  // cannot be told from this dump
};

class FlightRank {
 public:
  FlightRank(const FlightDump& dump, std::size_t first_entry, std::vector<std::uint32_t> groups,
             const CallRules& rules);

  const FlightDump& dump() const { return *dump_; }
  std::int32_t rank() const { return *dump_->rank; }
  // The ring has lost entries, or an earlier life of the process.
  bool wrapped() const { return wrapped_; }
  // Holds the unfinished only: records between them are left out. The members of a batch have no
  // end of their own, so that those of finished batches are among them.
  bool filtered() const { return filtered_; }
  std::size_t first_entry() const { return first_; }
  FlightStatus status(std::uint32_t entry) const { return status_[entry]; }
  const std::vector<FlightLane>& lanes() const { return lanes_; }
  const FlightLane* lane(std::uint32_t group) const;
  // Place of the entry's group in FlightFleet::groups().
  std::uint32_t group_of(const FlightEntry& entry) const { return groups_[entry.group]; }

  const FlightEntry& entry(std::uint32_t index) const { return dump_->entries[index]; }
  const FlightSignature& signature(std::uint32_t index) const {
    return dump_->signatures[entry(index).signature];
  }
  const FlightStack& stack(std::uint32_t index) const { return dump_->stacks[entry(index).stack]; }
  const Call& call(std::uint32_t index) const { return calls_[entry(index).signature]; }

  // The entry of collective `seq`, if this rank holds it.
  std::optional<std::uint32_t> find(std::uint32_t group, std::int64_t seq) const;
  Presence presence(std::uint32_t group, std::int64_t seq) const;
  // Lowest collective of the lane that is not done.
  std::optional<std::uint32_t> first_unfinished(const FlightLane& lane) const;
  // Whether the ring may have forgotten something unfinished of this lane: it has turned over, and
  // the oldest that it keeps has not ended.
  bool forgot_unfinished(const FlightLane& lane) const;
  // What must be equal on all members: of the end of a batch, that of the whole batch.
  std::uint64_t key(std::uint32_t index) const { return entry_keys_[index]; }
  // The same of the entry alone.
  std::uint64_t own_key(std::uint32_t index) const { return keys_[entry(index).signature]; }
  // Newest time stamp in the dump, on this host's clock.
  std::optional<std::int64_t> last_sign_ns() const { return last_sign_ns_; }
  // Its collectives of the group after `seq` did not complete, whatever their state says.
  void end_by_error(std::uint32_t group, std::int64_t seq);
  // Its collectives of the group up to `seq` did complete: others went on after them.
  void complete_up_to(std::uint32_t group, std::int64_t seq);
  // How old the entry was when the file was written; nothing where either time is not known.
  std::optional<std::int64_t> age_ns(std::uint32_t index) const;
  // Whether its dump tells when a call starts on the GPU.
  bool times() const { return times_; }
  // Whether the dump tells nothing of the back end of this group, and of any group.
  bool hides(std::uint32_t group) const {
    return std::binary_search(hidden_.begin(), hidden_.end(), group);
  }
  bool hides_any() const { return !hidden_.empty(); }
  // Groups are hidden in rising order.
  void hide(std::uint32_t group) { hidden_.push_back(group); }
  bool unfinished(std::uint32_t index) const {
    return status_[index] != FlightStatus::done && status_[index] != FlightStatus::unknown;
  }

 private:
  void set_status();
  void inherit_from_batches();
  void fill_lanes();
  void add_collective(FlightLane& lane, std::uint32_t index);
  void trim_batches();
  void read_status(const std::vector<std::uint32_t>& group_of_lane);

  const FlightDump* dump_;
  CallRules rules_;
  std::size_t first_;
  std::vector<std::uint32_t> groups_;  // of the dump -> of the fleet
  bool wrapped_ = false, filtered_ = false;
  // Some calls go through a back end whose numbers in pg_status count the works of the process, not
  // of the group.
  bool by_process_ = false;
  bool times_ = false;
  std::vector<FlightStatus> status_;
  std::vector<Call> calls_;                // of each signature
  std::vector<std::uint64_t> keys_;        // of each signature
  std::vector<std::uint64_t> entry_keys_;  // of each entry
  std::vector<FlightLane> lanes_;
  std::unordered_map<std::uint32_t, std::uint32_t> lane_of_group_;
  std::vector<std::uint32_t> hidden_;  // groups, sorted
  std::optional<std::int64_t> last_sign_ns_;
};

class FlightFleet {
 public:
  // Of the dumps those that choose_dumps() takes. `heard_of`: ranks that others than the dumps tell
  // of; where no dump tells the members, they are members.
  explicit FlightFleet(std::span<const FlightDump> dumps,
                       std::span<const std::int32_t> heard_of = {});

  const std::vector<FlightRank>& ranks() const { return ranks_; }
  const std::vector<FleetGroup>& groups() const { return groups_; }
  const FlightRank* find(std::int32_t rank) const;
  // Members of all groups without a dump.
  const std::vector<std::int32_t>& missing() const { return missing_; }
  // Whether the ranks of the job are known: by members that dumps tell, or by a gap.
  bool size_told() const { return size_told_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // What shows that these are dumps of two jobs; empty: they are of one.
  const std::string& two_jobs() const { return choice_.two_jobs; }
  // Some dump tells nothing of a back end that others tell of.
  bool hides() const { return hides_; }

 private:
  using BackEnds = std::unordered_map<std::string, std::set<std::string_view>>;  // of a group
  using GroupName = std::pair<std::string, std::string>;  // and its description
  void find_ends_by_error();
  void find_missing(std::span<const std::int32_t> heard_of);
  void hide_other_back_ends();
  std::string_view back_end_for(const FlightGroup& group, const BackEnds& told,
                                const std::vector<std::string_view>& own) const;
  void number_groups(const std::vector<const FlightDump*>& chosen,
                     std::vector<std::vector<std::uint32_t>>& local);

  DumpChoice choice_;
  std::set<std::string_view> back_ends_;  // of all entries
  bool hides_ = false;
  std::vector<FlightRank> ranks_;  // by rank
  std::vector<FleetGroup> groups_;
  std::vector<std::int32_t> missing_;
  bool size_told_ = true;
  std::vector<std::string> notes_;
};

}  // namespace muster
