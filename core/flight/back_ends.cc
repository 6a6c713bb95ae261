#include "core/flight/back_ends.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/flight/call.h"
#include "core/flight/earlier_runs.h"

namespace muster {
namespace {

std::vector<std::string_view> back_ends_of_signatures(const FlightDump& dump) {
  std::vector<std::string_view> out;
  out.reserve(dump.signatures.size());
  for (const FlightSignature& signature : dump.signatures) {
    out.push_back(back_end_of(parse_call(signature.name).library));
  }
  return out;
}

// Whether records were left out between this one and the one before.
bool gap_before(const FlightDump& dump, std::size_t first, std::size_t index) {
  if (index == first) return false;
  const std::int64_t before = dump.entries[index - 1].record_id;
  const std::int64_t now = dump.entries[index].record_id;
  const bool known = before != FlightEntry::kAbsent && now != FlightEntry::kAbsent;
  return known && now - 1 > before;
}

class Joiner {
 public:
  explicit Joiner(std::span<const FlightDump* const> parts) : parts_(parts) {}

  FlightDump join() {
    out_.stacks.emplace_back();
    for (std::size_t part = 0; part < parts_.size(); ++part) add_part(part);
    if (timed_) {
      std::stable_sort(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
        return entry(a).created_ns < entry(b).created_ns;
      });
    }
    add_entries();
    add_groups_without_entries();
    return std::move(out_);
  }

 private:
  // Where the pieces of a part begin in the whole.
  struct Base {
    std::size_t first_entry = 0;
    std::uint32_t signatures = 0, stacks = 0;
    std::vector<std::string_view> of_signature, of_group;  // back ends
  };
  struct Record {
    std::size_t part = 0, entry = 0;
  };

  const FlightEntry& entry(const Record& r) const { return parts_[r.part]->entries[r.entry]; }

  void add_part(std::size_t part) {
    const FlightDump& dump = *parts_[part];
    Base base;
    base.first_entry = last_life_of(dump);
    base.signatures = static_cast<std::uint32_t>(out_.signatures.size());
    base.stacks = static_cast<std::uint32_t>(out_.stacks.size()) - 1;
    base.of_signature = back_ends_of_signatures(dump);
    base.of_group = back_ends_of_groups(dump);
    const auto frames = static_cast<std::uint32_t>(out_.frames.size());
    out_.signatures.insert(out_.signatures.end(), dump.signatures.begin(), dump.signatures.end());
    out_.frames.insert(out_.frames.end(), dump.frames.begin(), dump.frames.end());
    for (std::size_t i = 1; i < dump.stacks.size(); ++i) {
      out_.stacks.push_back(dump.stacks[i]);
      for (std::uint32_t& frame : out_.stacks.back()) frame += frames;
    }
    if (part == 0) {
      out_.source = dump.source;
      out_.rank = dump.rank;
      out_.version = dump.version;
      out_.library_version = dump.library_version;
    }
    if (dump.written_at) {
      out_.written_at = std::max(out_.written_at.value_or(*dump.written_at), *dump.written_at);
    }
    out_.bytes += dump.bytes;
    if (!out_.cut_at) out_.cut_at = dump.cut_at;
    out_.notes.insert(out_.notes.end(), dump.notes.begin(), dump.notes.end());
    lost_ = lost_ || base.first_entry > 0 || dump.entries_let_go > 0 ||
            (!dump.entries.empty() && dump.entries.front().record_id > 0);
    for (std::size_t i = base.first_entry; i < dump.entries.size(); ++i) {
      timed_ = timed_ && dump.entries[i].created_ns != FlightEntry::kAbsent;
      records_.push_back({part, i});
    }
    bases_.push_back(std::move(base));
  }

  std::uint32_t group_of(std::size_t part, const FlightEntry& entry) {
    const FlightGroup& group = parts_[part]->groups[entry.group];
    std::string_view back_end = bases_[part].of_signature[entry.signature];
    if (back_end.empty()) back_end = bases_[part].of_group[entry.group];
    const auto place = static_cast<std::uint32_t>(out_.groups.size());
    const auto [at, added] = groups_.emplace(std::tuple(part, entry.group, back_end), place);
    if (!added) return at->second;
    out_.groups.push_back(group);
    // The status of a group does not say of which of its back ends it speaks.
    const auto forget_status = [&](auto other) {
      if (std::get<0>(other->first) != part || std::get<1>(other->first) != entry.group) return;
      for (const std::uint32_t i : {place, other->second}) {
        out_.groups[i].last_enqueued = out_.groups[i].last_completed = std::nullopt;
      }
    };
    if (at != groups_.begin()) forget_status(std::prev(at));
    if (std::next(at) != groups_.end()) forget_status(std::next(at));
    return place;
  }

  // Those of which another part has entries are there.
  void add_groups_without_entries() {
    using Known = std::pair<std::string, std::optional<std::vector<std::int32_t>>>;
    std::set<Known> known;
    for (const FlightGroup& group : out_.groups) known.insert({group.name, group.ranks});
    for (const FlightDump* dump : parts_) {
      for (const FlightGroup& group : dump->groups) {
        if (known.insert({group.name, group.ranks}).second) out_.groups.push_back(group);
      }
    }
  }

  void add_entries() {
    std::int64_t id = lost_ ? 1 : 0;
    for (const Record& record : records_) {
      const FlightDump& dump = *parts_[record.part];
      const Base& base = bases_[record.part];
      FlightEntry copy = entry(record);
      copy.group = group_of(record.part, copy);
      copy.signature += base.signatures;
      if (copy.stack > 0) copy.stack += base.stacks;
      if (gap_before(dump, base.first_entry, record.entry)) ++id;
      copy.record_id = id++;
      out_.entries.push_back(copy);
    }
  }

  std::span<const FlightDump* const> parts_;
  std::vector<Base> bases_;
  std::vector<Record> records_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::string_view>, std::uint32_t> groups_;
  bool lost_ = false, timed_ = true;
  FlightDump out_;
};

}  // namespace

std::string_view back_end_of(std::string_view library) {
  return library.starts_with("nccl") ? library.substr(0, 4) : library;
}

std::string_view main_back_end_of(const FlightDump& dump) {
  const std::vector<std::string_view> of_signature = back_ends_of_signatures(dump);
  for (const FlightEntry& entry : dump.entries) {
    if (!of_signature[entry.signature].empty()) return of_signature[entry.signature];
  }
  return {};
}

std::vector<std::string_view> back_ends_of_groups(const FlightDump& dump) {
  const std::vector<std::string_view> of_signature = back_ends_of_signatures(dump);
  std::vector<std::string_view> out(dump.groups.size());
  for (const FlightEntry& entry : dump.entries) {
    if (out[entry.group].empty()) out[entry.group] = of_signature[entry.signature];
  }
  return out;
}

bool mixes_back_ends(const FlightDump& dump) {
  const std::vector<std::string_view> of_signature = back_ends_of_signatures(dump);
  std::vector<std::string_view> seen(dump.groups.size());
  for (const FlightEntry& entry : dump.entries) {
    const std::string_view now = of_signature[entry.signature];
    std::string_view& before = seen[entry.group];
    if (before.empty()) before = now;
    if (!now.empty() && now != before) return true;
  }
  return false;
}

FlightDump join_back_ends(std::span<const FlightDump* const> parts) {
  return Joiner(parts).join();
}

}  // namespace muster
