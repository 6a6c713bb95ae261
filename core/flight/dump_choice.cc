#include "core/flight/dump_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "core/flight/back_ends.h"
#include "core/flight/earlier_runs.h"

namespace muster {
namespace {

// A group in which the dump has entries although its rank is no member: the name misled us.
const FlightGroup* group_without(const FlightDump& dump) {
  for (const FlightEntry& entry : dump.entries) {
    const FlightGroup& group = dump.groups[entry.group];
    if (group.tells_members() &&
        !std::binary_search(group.ranks->begin(), group.ranks->end(), *dump.rank)) {
      return &group;
    }
  }
  return nullptr;
}

// The same bytes, read from two files.
bool is_copy(const FlightDump& a, const FlightDump& b) {
  return a.bytes == b.bytes && a.version == b.version && a.cut_at == b.cut_at &&
         a.entries == b.entries && a.signatures == b.signatures && a.groups == b.groups &&
         a.frames == b.frames && a.stacks == b.stacks;
}

// Of two dumps of one rank. JSON holds no stacks, and may be written a moment after its pickle.
bool is_better(const FlightDump& dump, const FlightDump& than) {
  if (same_ring(dump, than) && dump.frames.empty() != than.frames.empty()) {
    return !dump.frames.empty();
  }
  const auto worth = [](const FlightDump& d) {
    return std::tuple(newest_stamp(d), !d.cut_at.has_value(), d.entries.size());
  };
  return worth(dump) > worth(than);
}

// Counts dumps that are left out, and names the first.
struct LeftOut {
  std::size_t count = 0;
  std::string first;

  void add(const FlightDump& dump) {
    if (count++ == 0) first = dump.source.substr(0, 200);
  }
  std::string named() const { return count > 1 ? first + " and others" : first; }
};

class Chooser {
 public:
  explicit Chooser(std::span<const FlightDump> dumps) : dumps_(dumps), earlier_(dumps) {}

  DumpChoice choose() {
    if (std::string note = earlier_.note(); !note.empty()) out_.notes.push_back(std::move(note));
    for (const FlightDump& dump : dumps_) {
      if (!earlier_.holds(dump) && may_be_judged(dump)) take(dump);
    }
    join();
    compare_worlds();
    tell();
    return std::move(out_);
  }

 private:
  void leave_out(std::string why) {
    if (++left_out_ <= limits::kNotesOfLog) out_.notes.push_back(std::move(why));
  }

  bool may_be_judged(const FlightDump& dump) {
    if (!dump.rank) {
      leave_out(dump.source + ": its name holds no rank; left out");
      return false;
    }
    if (dump.entries.empty() && dump.cut_at) {
      leave_out(fmt::format("{}: begun and not written; as good as none", dump.source));
      return false;
    }
    if (const FlightGroup* stranger = group_without(dump)) {
      leave_out(
          fmt::format("{}: rank {} by its name, but it is no member of its group {}; left out",
                      dump.source, *dump.rank, stranger->name));
      return false;
    }
    return true;
  }

  // Keeps the best of each rank and back end.
  void take(const FlightDump& dump) {
    const FlightDump*& place = best_[*dump.rank][main_back_end_of(dump)];
    if (place == nullptr) {
      place = &dump;
      return;
    }
    if (is_copy(dump, *place)) return copies_.add(dump);
    const bool better = is_better(dump, *place);
    const FlightDump& other = better ? *place : dump;
    if (out_.two_jobs.empty() && alive_at_once(dump, *place)) {
      out_.two_jobs =
          fmt::format("rank {} has dumps of two processes that ran at one time ({} and {})",
                      *dump.rank, place->source.substr(0, 200), dump.source.substr(0, 200));
    }
    second_.add(other);
    if (better) place = &dump;
  }

  // One dump of each rank.
  void join() {
    for (auto& [rank, of_back_end] : best_) {
      // A recorder that has seen nothing adds nothing to one that has.
      if (of_back_end.size() > 1) of_back_end.erase(std::string_view());
      std::vector<const FlightDump*> parts;
      for (const auto& [back_end, dump] : of_back_end) parts.push_back(dump);
      const auto newer = [](const FlightDump* a, const FlightDump* b) {
        return newest_stamp(*a) > newest_stamp(*b);
      };
      std::stable_sort(parts.begin(), parts.end(), newer);
      const auto apart = std::find_if(parts.begin(), parts.end(), [&](const FlightDump* dump) {
        return !of_one_moment(*dump, *parts.front());
      });
      for (auto at = apart; at != parts.end(); ++at) other_moment_.add(**at);
      parts.erase(apart, parts.end());
      if (parts.size() == 1 && !mixes_back_ends(*parts.front())) {
        out_.dumps.push_back(parts.front());
        continue;
      }
      out_.made.push_back(join_back_ends(parts));
      out_.dumps.push_back(&out_.made.back());
    }
  }

  // Whether both files were written at about one time, as far as they tell.
  static bool of_one_moment(const FlightDump& a, const FlightDump& b) {
    if (!a.written_at || !b.written_at) return true;
    std::int64_t apart = 0;
    return !__builtin_sub_overflow(wall_to_ns(*a.written_at), wall_to_ns(*b.written_at), &apart) &&
           apart >= -limits::kFlightLongWaitNs && apart <= limits::kFlightLongWaitNs;
  }

  // A job has one group of all ranks.
  void compare_worlds() {
    const FlightDump* first = nullptr;
    for (const FlightDump* dump : out_.dumps) {
      const std::vector<std::int32_t>* world = world_of(*dump);
      if (world == nullptr) continue;
      if (first == nullptr) first = dump;
      if (*world == *world_of(*first) || !out_.two_jobs.empty()) continue;
      out_.two_jobs = fmt::format("the group of all ranks has {} members by {} and {} by {}",
                                  world_of(*first)->size(), first->source.substr(0, 200),
                                  world->size(), dump->source.substr(0, 200));
    }
  }

  void tell() {
    if (copies_.count > 0) {
      out_.notes.push_back(fmt::format("{} of another dump that is here, counted once ({})",
                                       copies_.count == 1
                                           ? "1 file is a copy"
                                           : fmt::format("{} files are copies", copies_.count),
                                       copies_.named()));
    }
    if (second_.count > 0) {
      out_.notes.push_back(fmt::format(
          "{} left out, of ranks with two: the newer counts, of equal ones "
          "the one with stacks ({})",
          second_.count == 1 ? "1 dump" : fmt::format("{} dumps", second_.count), second_.named()));
    }
    if (other_moment_.count > 0) {
      out_.notes.push_back(fmt::format(
          "{} of another back end left out, written at another time than the newest of its rank "
          "({})",
          other_moment_.count == 1 ? "1 dump" : fmt::format("{} dumps", other_moment_.count),
          other_moment_.named()));
    }
    if (left_out_ > limits::kNotesOfLog) {
      out_.notes.push_back(
          fmt::format("and {} more dumps are left out", left_out_ - limits::kNotesOfLog));
    }
  }

  std::span<const FlightDump> dumps_;
  EarlierRuns earlier_;
  DumpChoice out_;
  std::size_t left_out_ = 0;
  LeftOut copies_, second_, other_moment_;
  std::map<std::int32_t, std::map<std::string_view, const FlightDump*>> best_;
};

}  // namespace

DumpChoice choose_dumps(std::span<const FlightDump> dumps) {
  return Chooser(dumps).choose();
}

}  // namespace muster
