#include "core/flight/flight_top.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

// A pickle may name one list of members in many groups, at two bytes each.
constexpr std::uint64_t kLooksPerByte = 2;

class TopReader {
 public:
  TopReader(const FlightValues& values, std::uint64_t bytes, FlightMisfits& misfits,
            FlightDump& dump)
      : values_(values),
        misfits_(misfits),
        dump_(dump),
        looks_left_(std::min(bytes * kLooksPerByte, limits::kFlightMembers)) {}

  void read(const FlightValue& root) {
    FlightValue config, status;
    values_.each_pair(root, [&](const FlightValue& key, const FlightValue& value) {
      if (key.kind != FlightKind::string) return;
      switch (static_cast<FlightWord>(key.ref)) {
        case FlightWord::version:
          return read_text(FlightWord::version, value, dump_.version);
        case FlightWord::nccl_version:
          return read_text(FlightWord::nccl_version, value, dump_.library_version);
        case FlightWord::comm_lib_version:
          return read_text(FlightWord::comm_lib_version, value, dump_.library_version);
        case FlightWord::pg_config:
          config = value;
          return;
        case FlightWord::pg_status:
          status = value;
          return;
        default:
          return;
      }
    });
    read_config(config);
    read_status(status);
  }

 private:
  void read_text(FlightWord key, const FlightValue& value, std::string& out) {
    if (value.kind == FlightKind::string) {
      out = values_.text(value);
    } else if (value.kind != FlightKind::none) {
      misfits_.count(key);
    }
  }

  // A group's name or number: a string in 2.x, an integer in 1.x.
  std::optional<std::string> name_of(const FlightValue& key) const {
    if (key.kind == FlightKind::string) return std::string(values_.text(key));
    if (key.kind == FlightKind::integer) return std::to_string(key.bits);
    return std::nullopt;
  }

  void read_config(const FlightValue& config) {
    if (config.kind == FlightKind::none) return;
    if (config.kind != FlightKind::dict) return misfits_.count(FlightWord::pg_config);
    // Of each name the group that was made last: pg_config holds no other.
    std::unordered_map<std::string, std::size_t> latest;
    for (std::size_t i = 0; i < dump_.groups.size(); ++i) {
      const auto [at, fresh] = latest.emplace(dump_.groups[i].name, i);
      if (!fresh && dump_.groups[i].pg_id > dump_.groups[at->second].pg_id) at->second = i;
    }
    values_.each_pair(config, [&](const FlightValue& key, const FlightValue& value) {
      const auto name = name_of(key);
      const bool full = dump_.groups.size() >= limits::kFlightGroups;
      if (!name || full) return misfits_.count(FlightWord::pg_config);
      const auto [at, fresh] = latest.emplace(*name, dump_.groups.size());
      if (fresh) {
        dump_.groups.emplace_back();
        dump_.groups.back().name = *name;
        // 1.x: the key is the number.
        if (key.kind == FlightKind::integer) dump_.groups.back().pg_id = key.bits;
      }
      read_group(value, dump_.groups[at->second]);
    });
  }

  // Counts a value that is looked at inside of a group; false: there were enough.
  bool look() {
    if (looks_left_ > 0) --looks_left_;
    return looks_left_ > 0;
  }

  void read_group(const FlightValue& value, FlightGroup& group) {
    if (looks_left_ == 0) return misfits_.count(FlightWord::pg_config);
    if (value.kind == FlightKind::list) return read_ranks(value, group);
    if (value.kind != FlightKind::dict) return misfits_.count(FlightWord::pg_config);
    FlightValue ranks;
    std::string description;
    values_.each_pair(value, [&](const FlightValue& key, const FlightValue& item) {
      if (!look() || key.kind != FlightKind::string) return;
      const auto word = static_cast<FlightWord>(key.ref);
      if (word == FlightWord::desc) read_text(word, item, description);
      if (word == FlightWord::ranks) ranks = item;
    });
    if (!group.description.empty() && !description.empty() && group.description != description) {
      // A later group of the same name, without entries.
      FlightGroup other;
      other.name = group.name;
      other.description = description;
      read_ranks(ranks, other);
      dump_.groups.push_back(std::move(other));
      return;
    }
    if (group.description.empty()) group.description = description;
    read_ranks(ranks, group);
  }

  // "[0, 1]" or a list of integers. An empty one tells nothing.
  void read_ranks(const FlightValue& value, FlightGroup& group) {
    if (value.kind == FlightKind::none) return;
    std::vector<std::int32_t> ranks;
    bool fits = true;
    const auto add = [&](std::optional<std::int64_t> rank) {
      fits = look() && fits && rank && *rank >= 0 && *rank <= INT32_MAX;
      if (!fits) return;
      ranks.push_back(static_cast<std::int32_t>(*rank));
    };
    if (value.kind == FlightKind::string) {
      std::string_view text = trim(values_.text(value));
      fits = text.size() >= 2 && text.front() == '[' && text.back() == ']';
      if (fits) text = trim(text.substr(1, text.size() - 2));
      while (fits && !text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        add(parse_int(trim(text.substr(0, comma))));
        text.remove_prefix(std::min(comma + 1, text.size()));
      }
    } else if (value.kind == FlightKind::list) {
      values_.each(value, [&](const FlightValue& item) {
        add(item.kind == FlightKind::integer ? std::optional(item.bits) : std::nullopt);
      });
    } else {
      fits = false;
    }
    if (!fits) return misfits_.count(FlightWord::ranks);
    if (ranks.empty()) return;
    std::ranges::sort(ranks);
    const auto twice = std::ranges::unique(ranks);
    ranks.erase(twice.begin(), twice.end());
    group.ranks = std::move(ranks);
  }

  void read_status(const FlightValue& status) {
    if (status.kind == FlightKind::none) return;
    if (status.kind != FlightKind::dict) return misfits_.count(FlightWord::pg_status);
    std::unordered_map<std::string, std::vector<std::size_t>> by_number;
    for (std::size_t i = 0; i < dump_.groups.size(); ++i) {
      const std::int64_t number = dump_.groups[i].pg_id;
      if (number != FlightEntry::kAbsent) by_number[std::to_string(number)].push_back(i);
    }
    values_.each_pair(status, [&](const FlightValue& key, const FlightValue& value) {
      const auto number = name_of(key);
      if (!number || value.kind != FlightKind::dict) return misfits_.count(FlightWord::pg_status);
      const auto at = by_number.find(*number);
      if (at == by_number.end()) return;
      for (const std::size_t i : at->second) read_numbers(value, dump_.groups[i]);
      by_number.erase(at);
    });
  }

  void read_numbers(const FlightValue& value, FlightGroup& group) {
    if (looks_left_ == 0) return misfits_.count(FlightWord::pg_status);
    values_.each_pair(value, [&](const FlightValue& key, const FlightValue& item) {
      if (!look() || key.kind != FlightKind::string) return;
      const auto word = static_cast<FlightWord>(key.ref);
      if (word == FlightWord::last_enqueued) read_number(word, item, group.last_enqueued);
      if (word == FlightWord::last_completed) read_number(word, item, group.last_completed);
    });
  }

  // The JSON variant writes them as strings.
  void read_number(FlightWord key, const FlightValue& value, std::optional<std::int64_t>& out) {
    if (value.kind == FlightKind::integer) {
      out = value.bits;
    } else if (value.kind == FlightKind::string && parse_int(values_.text(value))) {
      out = parse_int(values_.text(value));
    } else if (value.kind != FlightKind::none) {
      misfits_.count(key);
    }
  }

  const FlightValues& values_;
  FlightMisfits& misfits_;
  FlightDump& dump_;
  std::uint64_t looks_left_;
};

}  // namespace

void add_flight_top(const FlightValue& root, const FlightValues& values, std::uint64_t bytes,
                    FlightMisfits& misfits, FlightDump& dump) {
  if (root.kind != FlightKind::dict) return;
  TopReader(values, bytes, misfits, dump).read(root);
}

bool has_flight_key(const FlightValue& root, const FlightValues& values, bool cut) {
  bool found = false, empty = true;
  values.each_pair(root, [&](const FlightValue& key, const FlightValue&) {
    empty = false;
    if (key.kind != FlightKind::string) return;
    const auto word = static_cast<FlightWord>(key.ref);
    found = found || word == FlightWord::entries || word == FlightWord::pg_config ||
            word == FlightWord::pg_status || (cut && word == FlightWord::version);
  });
  return found || (cut && empty);
}

}  // namespace muster
