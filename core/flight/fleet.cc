#include "core/flight/fleet.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/limits.h"
#include "core/flight/back_ends.h"
#include "core/flight/earlier_runs.h"

namespace muster {
namespace {

// A number beyond this in a file's name is no rank.
constexpr std::int32_t kRanksMost = 1 << 16;

// Whether numbers of records are left out.
bool has_gaps(const FlightDump& dump, std::size_t first) {
  for (std::size_t i = first + 1; i < dump.entries.size(); ++i) {
    const std::int64_t before = dump.entries[i - 1].record_id, now = dump.entries[i].record_id;
    const bool known = before != FlightEntry::kAbsent && now != FlightEntry::kAbsent;
    if (known && now - 1 > before) return true;
  }
  return false;
}

// The description may be missing on some ranks; name and members are the group, and what its calls
// go through.
std::string group_identity(const FlightGroup& group, std::string_view back_end) {
  std::string key = std::string(back_end) + '\0' + group.name + '\0';
  key.append(reinterpret_cast<const char*>(group.ranks->data()),
             group.ranks->size() * sizeof(std::int32_t));
  return key;
}

}  // namespace

// ---- one rank ----------------------------------------------------------------------------------

FlightRank::FlightRank(const FlightDump& dump, std::size_t first_entry,
                       std::vector<std::uint32_t> groups, const CallRules& rules)
    : dump_(&dump), rules_(rules), first_(first_entry), groups_(std::move(groups)) {
  const auto& entries = dump.entries;
  wrapped_ =
      first_ > 0 || dump.entries_let_go > 0 || (!entries.empty() && entries.front().record_id > 0);
  filtered_ = has_gaps(dump, first_);
  calls_.reserve(dump.signatures.size());
  for (const FlightSignature& signature : dump.signatures) {
    calls_.push_back(parse_call(signature.name));
    keys_.push_back(call_key(signature, rules));
  }
  entry_keys_.reserve(entries.size());
  for (const FlightEntry& entry : entries) entry_keys_.push_back(keys_[entry.signature]);
  set_status();
  inherit_from_batches();
  fill_lanes();
}

void FlightRank::set_status() {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  status_.resize(dump_->entries.size(), FlightStatus::unknown);
  for (std::size_t i = first_; i < dump_->entries.size(); ++i) {
    const FlightEntry& e = dump_->entries[i];
    const Call& call = calls_[e.signature];
    times_ = times_ || e.duration_ms >= 0 || e.state == FlightState::started;
    by_process_ = by_process_ || retired_means_done(call.library);
    for (const std::int64_t stamp : {e.created_ns, e.completed_seen_ns}) {
      if (stamp != FlightEntry::kAbsent) last_sign_ns_ = std::max(last_sign_ns_.value_or(0), stamp);
    }
    // An abort ends stuck kernels: what "completed" only after its time-out did not complete.
    const bool late = e.timeout_ms > 0 && e.created_ns != FlightEntry::kAbsent &&
                      e.completed_seen_ns != FlightEntry::kAbsent &&
                      e.completed_seen_ns - e.created_ns >= e.timeout_ms * kNsPerMs;
    FlightStatus status = FlightStatus::unknown;
    if (completion_is_unknown(call.library)) {
      status = FlightStatus::unknown;
    } else if (e.state == FlightState::completed) {
      status = late ? FlightStatus::timed_out : FlightStatus::done;
    } else if (e.retired) {
      status = retired_means_done(call.library) ? FlightStatus::done : FlightStatus::timed_out;
    } else if (e.state == FlightState::started) {
      status = FlightStatus::running;
    } else if (e.state == FlightState::scheduled) {
      status = FlightStatus::pending;
    }
    status_[i] = status;
  }
}

// Members of a batch have no events of their own: the entry that ends the batch speaks for them.
void FlightRank::inherit_from_batches() {
  const auto batch_of = [](const FlightEntry& e) { return e.is_p2p ? e.p2p_seq : e.seq; };
  const FlightEntry* end = nullptr;
  FlightStatus status = FlightStatus::unknown;
  for (std::size_t i = dump_->entries.size(); i-- > first_;) {
    const FlightEntry& e = dump_->entries[i];
    if (calls_[e.signature].family == CallFamily::coalesced) {
      end = &e;
      status = status_[i];
    } else if (end != nullptr) {
      const bool member =
          e.group == end->group && batch_of(e) == batch_of(*end) && e.is_p2p == end->is_p2p;
      if (member) {
        status_[i] = status;
      } else if (e.group == end->group) {
        end = nullptr;
      }
    }
  }
}

// The end of a batch stands for all entries of its number, and its key for all of theirs.
void FlightRank::add_collective(FlightLane& lane, std::uint32_t index) {
  auto& list = lane.collectives;
  const std::int64_t seq = entry(index).seq;
  if (list.empty() || entry(list.back()).seq < seq) {
    list.push_back(index);
  } else if (entry(list.back()).seq == seq) {
    if (rules_.batch_members) entry_keys_[index] ^= entry_keys_[list.back()] * 0x100000001b3ULL;
    list.back() = index;
  }
}

void FlightRank::fill_lanes() {
  std::vector<std::uint32_t> lane_of;
  std::vector<std::uint32_t> newest;  // of each lane: the group of the dump that it now stands for
  for (std::uint32_t g = 0; g < dump_->groups.size(); ++g) {
    const auto [same, added] =
        lane_of_group_.emplace(groups_[g], static_cast<std::uint32_t>(lanes_.size()));
    lane_of.push_back(same->second);
    if (added) {
      lanes_.emplace_back();
      lanes_.back().group = groups_[g];
      newest.push_back(g);
    } else if (dump_->groups[g].pg_id >= dump_->groups[newest[lane_of[g]]].pg_id) {
      newest[lane_of[g]] = g;  // made anew: its numbers start again
    }
  }
  for (auto i = static_cast<std::uint32_t>(first_); i < dump_->entries.size(); ++i) {
    const FlightEntry& e = entry(i);
    FlightLane& lane = lanes_[lane_of[e.group]];
    if (newest[lane_of[e.group]] != e.group) continue;
    const CallFamily family = call(i).family;
    const bool message = family == CallFamily::send || family == CallFamily::receive;
    // Old formats do not say which batches are of messages.
    const bool ends_messages =
        family == CallFamily::coalesced && !lane.messages.empty() && lane.messages.back() + 1 == i;
    if (message) {
      lane.messages.push_back(i);
    } else if (!e.is_p2p && !ends_messages && e.seq != FlightEntry::kAbsent) {
      add_collective(lane, i);
    }
  }
  for (FlightLane& lane : lanes_) {
    const auto retires = [&](std::uint32_t i) { return retired_means_done(call(i).library); };
    lane.ends_by_retirement =
        by_process_ && (std::any_of(lane.collectives.begin(), lane.collectives.end(), retires) ||
                        std::any_of(lane.messages.begin(), lane.messages.end(), retires));
  }
  trim_batches();
  read_status(newest);
}

// A ring that has turned over may begin inside a batch, a cut file may end in one.
void FlightRank::trim_batches() {
  for (FlightLane& lane : lanes_) {
    auto& list = lane.collectives;
    const bool batches = std::any_of(list.begin(), list.end(), [&](std::uint32_t index) {
      return call(index).family == CallFamily::coalesced;
    });
    if (batches && wrapped_) list.erase(list.begin());
    if (batches && dump_->cut_at && !list.empty()) list.pop_back();
    // Retirement comes late and out of order; calls of one group end in their order.
    bool later_done = false;
    for (std::size_t i = lane.ends_by_retirement ? list.size() : 0; i-- > 0;) {
      FlightStatus& status = status_[list[i]];
      later_done = later_done || status == FlightStatus::done;
      if (later_done && status == FlightStatus::pending) status = FlightStatus::done;
    }
  }
}

// Old formats write garbage: only what can be is kept. Hooks write numbers of the process, which
// compare with nothing.
void FlightRank::read_status(const std::vector<std::uint32_t>& group_of_lane) {
  constexpr std::int64_t kGarbage = 1'000'000'000'000;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    FlightLane& lane = lanes_[l];
    const bool silent = lane.collectives.empty() && lane.messages.empty();
    if (silent ? by_process_ : lane.ends_by_retirement) continue;
    const FlightGroup& told = dump_->groups[group_of_lane[l]];
    const std::int64_t newest =
        lane.collectives.empty() ? kGarbage : entry(lane.collectives.back()).seq;
    const auto possible = [&](std::optional<std::int64_t> v) {
      return v && *v >= -1 && *v - 2 <= newest;
    };
    if (possible(told.last_enqueued)) lane.last_enqueued = told.last_enqueued;
    if (possible(told.last_completed)) lane.last_completed = told.last_completed;
  }
}

std::optional<std::int64_t> FlightRank::age_ns(std::uint32_t index) const {
  std::int64_t age = 0;
  if (!dump_->written_at || entry(index).created_ns == FlightEntry::kAbsent) return {};
  if (__builtin_sub_overflow(wall_to_ns(*dump_->written_at), entry(index).created_ns, &age)) {
    return {};
  }
  return age;
}

const FlightLane* FlightRank::lane(std::uint32_t group) const {
  const auto at = lane_of_group_.find(group);
  return at == lane_of_group_.end() ? nullptr : &lanes_[at->second];
}

std::optional<std::uint32_t> FlightRank::find(std::uint32_t group, std::int64_t seq) const {
  const FlightLane* lane = this->lane(group);
  if (lane == nullptr) return {};
  const auto at = std::lower_bound(
      lane->collectives.begin(), lane->collectives.end(), seq,
      [&](std::uint32_t index, std::int64_t wanted) { return entry(index).seq < wanted; });
  if (at == lane->collectives.end() || entry(*at).seq != seq) return {};
  return *at;
}

Presence FlightRank::presence(std::uint32_t group, std::int64_t seq) const {
  if (find(group, seq)) return Presence::present;
  const FlightLane* lane = this->lane(group);
  if (lane == nullptr || lane->collectives.empty()) {
    if (dump_->cut_at || hides(group)) return Presence::unknown;
    if (lane != nullptr && lane->last_enqueued) {
      return *lane->last_enqueued >= seq ? Presence::passed : Presence::absent;
    }
    // A ring that has turned over may have held it. A group that it does not know it never made.
    const bool knows_its_groups = lane == nullptr && !lanes_.empty();
    return wrapped_ && !knows_its_groups ? Presence::unknown : Presence::absent;
  }
  if (entry(lane->collectives.back()).seq < seq) {
    return dump_->cut_at ? Presence::unknown : Presence::absent;
  }
  // Forgotten; where the oldest that is kept has not ended either, this one may not have.
  return unfinished(lane->collectives.front()) ? Presence::unknown : Presence::passed;
}

std::optional<std::uint32_t> FlightRank::first_unfinished(const FlightLane& lane) const {
  for (const std::uint32_t index : lane.collectives) {
    if (unfinished(index)) return index;
  }
  return {};
}

void FlightRank::end_by_error(std::uint32_t group, std::int64_t seq) {
  const FlightLane* lane = this->lane(group);
  for (std::size_t i = lane->collectives.size(); i-- > 0;) {
    const std::uint32_t index = lane->collectives[i];
    if (entry(index).seq <= seq) return;
    const bool over = status_[index] == FlightStatus::done;
    if (over && is_synchronising(call(index).family)) status_[index] = FlightStatus::given_up;
  }
}

void FlightRank::complete_up_to(std::uint32_t group, std::int64_t seq) {
  for (const std::uint32_t index : lane(group)->collectives) {
    if (entry(index).seq > seq) return;
    const bool open = status_[index] == FlightStatus::pending;
    if (open && is_synchronising(call(index).family)) status_[index] = FlightStatus::done;
  }
}

bool FlightRank::forgot_unfinished(const FlightLane& lane) const {
  if (!wrapped_ || (lane.collectives.empty() && lane.messages.empty())) return false;
  std::uint32_t oldest = UINT32_MAX;
  if (!lane.collectives.empty()) oldest = lane.collectives.front();
  if (!lane.messages.empty()) oldest = std::min(oldest, lane.messages.front());
  if (!unfinished(oldest)) return false;
  // The status still knows how far the group had come.
  const bool only_collectives = lane.messages.empty() && lane.last_completed.has_value();
  if (only_collectives && *lane.last_completed == entry(oldest).seq - 1) return false;
  // Something older that has ended is still there: what went before it had ended too.
  for (std::size_t i = first_; i < oldest; ++i) {
    if (status_[i] == FlightStatus::done) return false;
  }
  return true;
}

// ---- all ranks ---------------------------------------------------------------------------------

FlightFleet::FlightFleet(std::span<const FlightDump> dumps,
                         std::span<const std::int32_t> heard_of) {
  choice_ = choose_dumps(dumps);
  notes_ = choice_.notes;
  const std::vector<const FlightDump*>& chosen = choice_.dumps;
  std::vector<std::vector<std::uint32_t>> local;
  number_groups(chosen, local);
  const CallRules rules = common_rules(chosen);
  std::size_t earlier_lives = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t first = last_life_of(*chosen[i]);
    if (first > 0) earlier_lives += 1;
    ranks_.emplace_back(*chosen[i], first, local[i], rules);
  }
  if (earlier_lives > 0) {
    notes_.push_back(fmt::format(
        "records of an earlier life of the process are left out in {} dumps", earlier_lives));
  }
  find_ends_by_error();
  find_missing(heard_of);
  hide_other_back_ends();
}

// Where "retired" is all that is known, an error looks like the end, and the end may show late.
// Whoever went on to a next call had ended the one before, and with it all members; what a member
// never issued cannot have ended well.
void FlightFleet::find_ends_by_error() {
  for (std::uint32_t id = 0; id < groups_.size(); ++id) {
    std::optional<std::int64_t> least;
    std::int64_t passed = FlightEntry::kAbsent;
    std::vector<FlightRank*> members;
    for (FlightRank& rank : ranks_) {
      const FlightLane* lane = rank.lane(id);
      if (lane == nullptr || !lane->ends_by_retirement || rank.dump().cut_at) continue;
      if (lane->collectives.empty()) continue;
      const std::int64_t last = rank.entry(lane->collectives.back()).seq;
      least = std::min(least.value_or(last), last);
      members.push_back(&rank);
      for (std::size_t i = lane->collectives.size() - 1; i-- > 0;) {
        const std::uint32_t index = lane->collectives[i];
        if (rank.status(index) != FlightStatus::done) continue;
        passed = std::max(passed, rank.entry(index).seq);
        break;
      }
    }
    for (FlightRank* rank : members) {
      rank->end_by_error(id, *least);
      rank->complete_up_to(id, passed);
    }
  }
}

void FlightFleet::find_missing(std::span<const std::int32_t> heard_of) {
  const bool told = std::any_of(groups_.begin(), groups_.end(),
                                [](const FleetGroup& group) { return group.members_told; });
  std::set<std::int32_t> missing;
  if (!told && !ranks_.empty()) {
    // Where nobody tells the members, the numbers of the ranks run from 0 without a gap.
    for (std::int32_t r = 0; r < std::min(ranks_.back().rank(), kRanksMost); ++r) {
      if (find(r) == nullptr) missing.insert(r);
    }
    // A rank known from elsewhere extends them by no more than one: a log of another job may lie
    // here.
    std::int32_t most = ranks_.back().rank();
    std::vector<std::int32_t> heard(heard_of.begin(), heard_of.end());
    std::sort(heard.begin(), heard.end());
    for (const std::int32_t r : heard) {
      if (r != most + 1) continue;
      missing.insert(r);
      most = r;
    }
    // All of them are in the group of all.
    for (FleetGroup& group : groups_) {
      if (group.description != "default_pg") continue;
      group.ranks.insert(group.ranks.end(), missing.begin(), missing.end());
      std::sort(group.ranks.begin(), group.ranks.end());
    }
    size_told_ = !missing.empty();
    if (!size_told_) notes_.push_back("these dumps do not tell how many ranks there are");
  }
  for (const FleetGroup& group : groups_) {
    for (const std::int32_t rank : group.ranks) {
      if (find(rank) == nullptr) missing.insert(rank);
    }
  }
  missing_.assign(missing.begin(), missing.end());
}

// A group without entries in a dump is the one that others speak through: where those are several,
// through a back end that this dump knows.
std::string_view FlightFleet::back_end_for(const FlightGroup& group, const BackEnds& told,
                                           const std::vector<std::string_view>& own) const {
  const auto at = told.find(group_identity(group, {}));
  if (at == told.end() || at->second.empty()) return {};
  const auto known = std::find_if(at->second.begin(), at->second.end(), [&](std::string_view name) {
    return std::find(own.begin(), own.end(), name) != own.end();
  });
  return known == at->second.end() ? *at->second.begin() : *known;
}

void FlightFleet::number_groups(const std::vector<const FlightDump*>& chosen,
                                std::vector<std::vector<std::uint32_t>>& local) {
  BackEnds told;
  std::vector<std::vector<std::string_view>> back_ends;  // of the groups of each dump
  for (const FlightDump* dump : chosen) {
    back_ends.push_back(back_ends_of_groups(*dump));
    for (std::size_t g = 0; g < dump->groups.size(); ++g) {
      const std::string_view name = back_ends.back()[g];
      if (name.empty()) continue;
      back_ends_.insert(name);
      if (dump->groups[g].tells_members()) told[group_identity(dump->groups[g], {})].insert(name);
    }
  }
  std::unordered_map<std::string, std::uint32_t> known;
  std::map<GroupName, std::vector<std::uint32_t>> by_name;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t g = 0; g < chosen[i]->groups.size(); ++g) {
      const FlightGroup& group = chosen[i]->groups[g];
      if (!group.tells_members()) continue;
      std::string_view& back_end = back_ends[i][g];
      if (back_end.empty()) back_end = back_end_for(group, told, back_ends[i]);
      const auto id = static_cast<std::uint32_t>(groups_.size());
      const auto [place, added] = known.emplace(group_identity(group, back_end), id);
      if (!added) {
        std::string& description = groups_[place->second].description;
        if (description.empty()) description = group.description;
        continue;
      }
      groups_.push_back({group.name, group.description, std::string(back_end), *group.ranks, true});
      by_name[{group.name, group.description}].push_back(id);
    }
  }
  local.resize(chosen.size());
  std::map<std::pair<GroupName, std::string_view>, std::uint32_t> inferred;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t g = 0; g < chosen[i]->groups.size(); ++g) {
      const FlightGroup& group = chosen[i]->groups[g];
      const std::string_view back_end = back_ends[i][g];
      if (group.tells_members()) {
        local[i].push_back(known.at(group_identity(group, back_end)));
        continue;
      }
      // Members are not told here: a group of this name that holds the rank, else who records it.
      const GroupName name(group.name, group.description);
      const auto& candidates = by_name[name];
      const auto holds = std::find_if(candidates.begin(), candidates.end(), [&](std::uint32_t id) {
        const FleetGroup& other = groups_[id];
        const bool meets = back_end.empty() || other.back_end.empty() || other.back_end == back_end;
        return other.members_told && meets &&
               std::binary_search(other.ranks.begin(), other.ranks.end(), *chosen[i]->rank);
      });
      if (holds != candidates.end()) {
        local[i].push_back(*holds);
        continue;
      }
      const auto [place, added] =
          inferred.emplace(std::pair(name, back_end), static_cast<std::uint32_t>(groups_.size()));
      if (added) {
        groups_.push_back({group.name, group.description, std::string(back_end), {}, false});
      }
      groups_[place->second].ranks.push_back(*chosen[i]->rank);
      local[i].push_back(place->second);
    }
  }
}

// Of calls through a back end of which a dump holds nothing it says neither that they were made nor
// that they were not.
void FlightFleet::hide_other_back_ends() {
  if (back_ends_.size() < 2) return;
  std::map<std::int32_t, std::set<std::string_view>> own;  // of a rank
  for (const FlightRank& rank : ranks_) {
    for (const std::string_view name : back_ends_of_groups(rank.dump()))
      own[rank.rank()].insert(name);
  }
  for (std::uint32_t id = 0; id < groups_.size(); ++id) {
    const std::string& back_end = groups_[id].back_end;
    for (const std::int32_t member : groups_[id].ranks) {
      const auto at = std::lower_bound(
          ranks_.begin(), ranks_.end(), member,
          [](const FlightRank& r, std::int32_t wanted) { return r.rank() < wanted; });
      if (at == ranks_.end() || at->rank() != member || back_end.empty()) continue;
      if (!own[member].contains(back_end)) at->hide(id);
    }
  }
  const auto partly = std::count_if(ranks_.begin(), ranks_.end(),
                                    [](const FlightRank& rank) { return rank.hides_any(); });
  hides_ = partly > 0;
  std::string names;
  for (const std::string_view name : back_ends_) {
    names += (names.empty() ? "" : ", ") + std::string(name.substr(0, 32));
  }
  notes_.push_back(
      fmt::format("calls go through several back ends ({}); those of one are not "
                  "compared with those of another{}",
                  names,
                  partly == 0 ? std::string()
                              : fmt::format(", and {} dumps tell nothing of one that "
                                            "others tell of",
                                            partly)));
  // Groups of one name would look alike in the answer.
  std::map<std::string, std::size_t> titles;
  for (const FleetGroup& group : groups_) ++titles[group.title()];
  for (FleetGroup& group : groups_) {
    const bool twin = titles[group.title()] > 1 && !group.back_end.empty();
    if (twin) group.description = fmt::format("{} of {}", group.title(), group.back_end);
  }
}

const FlightRank* FlightFleet::find(std::int32_t rank) const {
  const auto at =
      std::lower_bound(ranks_.begin(), ranks_.end(), rank,
                       [](const FlightRank& r, std::int32_t wanted) { return r.rank() < wanted; });
  return at == ranks_.end() || at->rank() != rank ? nullptr : &*at;
}

}  // namespace muster
