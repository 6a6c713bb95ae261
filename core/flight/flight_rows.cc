#include "core/flight/flight_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/limits.h"

namespace muster {
namespace {

constexpr std::int64_t kNoText = -1;
// Numbers and times are not larger, so that their neighbours and doubles are numbers too. As
// nanoseconds the year 2116.
constexpr std::int64_t kNumberMost = std::int64_t{1} << 62;

bool is_string(const FlightValue& value) {
  return value.kind == FlightKind::string;
}
bool is_list(const FlightValue& value) {
  return value.kind == FlightKind::list;
}

}  // namespace

struct FlightRows::Fields {
  FlightEntry entry;
  std::int64_t pg_id = FlightEntry::kAbsent;
  std::int64_t name = kNoText, group = kNoText, description = kNoText;
  FlightValue input_sizes, output_sizes, input_dtypes, output_dtypes, frames;
};

void FlightRows::reset(std::size_t keep) {
  entries_.clear();
  groups_.reset();
  signatures_.reset();
  frames_.reset();
  stacks_.reset();
  stacks_.intern({});  // 0: no frames
  strangers_ = 0;
  looked_at_ = 0;
  count_ = 0;
  keep_ = keep;
}

FlightRowSink::Taken FlightRows::row(const FlightValue& value, std::uint64_t place) {
  if (value.kind != FlightKind::dict) return stranger();
  Fields fields;
  values_.each_pair(value, [&](const FlightValue& key, const FlightValue& item) {
    ++looked_at_;
    if (is_string(key)) read_field(key, item, fields);
  });
  FlightEntry& entry = fields.entry;
  const bool numbered =
      entry.record_id != FlightEntry::kAbsent || entry.seq != FlightEntry::kAbsent;
  if (!numbered && fields.name == kNoText) return stranger();
  const std::int64_t group[] = {fields.group, fields.description, fields.pg_id};
  entry.group = groups_.intern(group);
  entry.signature = signature_of(fields);
  entry.stack = stack_of(fields.frames);
  if (beyond_bounds(place)) return Taken::enough;
  if (entries_.size() == 2 * keep_) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(keep_));
  }
  entries_.push_back(entry);
  ++count_;
  return Taken::record;
}

FlightRowSink::Taken FlightRows::stranger() {
  ++strangers_;
  return strangers_ < kStrangersFirst + count_ ? Taken::stranger : Taken::enough;
}

bool FlightRows::beyond_bounds(std::uint64_t place) const {
  const std::uint64_t look_at_most = std::min(place * kValuesPerByte + kSequence, kValuesMost);
  const std::size_t words =
      groups_.words() + signatures_.words() + frames_.words() + stacks_.words();
  return count_ >= limits::kFlightEntriesRead || looked_at_ > look_at_most ||
         words > limits::kFlightWords || groups_.size() > limits::kFlightGroups ||
         signatures_.size() > limits::kFlightShared || frames_.size() > limits::kFlightShared ||
         stacks_.size() > limits::kFlightShared;
}

void FlightRows::read_field(const FlightValue& key, const FlightValue& value, Fields& fields) {
  FlightEntry& entry = fields.entry;
  const auto word = static_cast<FlightWord>(key.ref);
  switch (word) {
    case FlightWord::record_id:
      return read_number(word, value, entry.record_id);
    case FlightWord::pg_id:
      return read_number(word, value, fields.pg_id);
    case FlightWord::collective_seq_id:
    case FlightWord::seq_id:
      return read_number(word, value, entry.seq);
    case FlightWord::p2p_seq_id:
      return read_number(word, value, entry.p2p_seq);
    case FlightWord::time_created_ns:
      return read_time(word, value, 1, entry.created_ns);
    case FlightWord::time_created_us:
      return read_time(word, value, 1000, entry.created_ns);
    case FlightWord::time_discovered_completed_ns:
      return read_time(word, value, 1, entry.completed_seen_ns);
    case FlightWord::profiling_name:
      return read_name(word, value, fields);
    case FlightWord::process_group:
      return read_group(value, fields);
    case FlightWord::input_sizes:
      fields.input_sizes = value;
      return;
    case FlightWord::output_sizes:
      fields.output_sizes = value;
      return;
    case FlightWord::input_dtypes:
      fields.input_dtypes = value;
      return;
    case FlightWord::output_dtypes:
      fields.output_dtypes = value;
      return;
    case FlightWord::frames:
      fields.frames = value;
      return;
    case FlightWord::state:
      return read_state(value, entry);
    case FlightWord::retired:
      return read_boolean(word, value, entry.retired);
    case FlightWord::is_p2p:
      return read_boolean(word, value, entry.is_p2p);
    case FlightWord::timeout_ms:
      return read_timeout(value, entry);
    case FlightWord::duration_ms:
      return read_duration(value, entry);
    default:
      return;
  }
}

void FlightRows::read_integer(FlightWord key, const FlightValue& value, std::int64_t& out) {
  if (value.kind == FlightKind::integer) {
    out = value.bits;
  } else if (value.kind != FlightKind::none) {
    misfits_.count(key);
  }
}

void FlightRows::read_number(FlightWord key, const FlightValue& value, std::int64_t& out) {
  std::int64_t number = FlightEntry::kAbsent;
  read_integer(key, value, number);
  if (number == FlightEntry::kAbsent && value.kind != FlightKind::integer) return;
  if (number < -kNumberMost || number > kNumberMost) return misfits_.count(key);
  out = number;
}

// 0 is how the JSON variant says None.
void FlightRows::read_time(FlightWord key, const FlightValue& value, std::int64_t unit_ns,
                           std::int64_t& out) {
  std::int64_t time = 0;
  read_integer(key, value, time);
  if (time < 0 || time > kNumberMost / unit_ns) {
    misfits_.count(key);
  } else if (time > 0) {
    out = time * unit_ns;
  }
}

void FlightRows::read_boolean(FlightWord key, const FlightValue& value, bool& out) {
  if (value.kind == FlightKind::boolean) {
    out = value.bits != 0;
  } else {
    misfits_.count(key);
  }
}

void FlightRows::read_timeout(const FlightValue& value, FlightEntry& entry) {
  std::int64_t timeout = -1;
  read_integer(FlightWord::timeout_ms, value, timeout);
  if (timeout > INT32_MAX || timeout < -1) {
    misfits_.count(FlightWord::timeout_ms);
  } else {
    entry.timeout_ms = static_cast<std::int32_t>(timeout);
  }
}

void FlightRows::read_duration(const FlightValue& value, FlightEntry& entry) {
  double duration = -1;
  if (value.kind == FlightKind::real) duration = value.real();
  if (value.kind == FlightKind::integer) duration = static_cast<double>(value.bits);
  if (duration >= 0 && std::isfinite(static_cast<float>(duration))) {
    entry.duration_ms = static_cast<float>(duration);
  } else if (value.kind != FlightKind::none) {
    misfits_.count(FlightWord::duration_ms);
  }
}

void FlightRows::read_state(const FlightValue& value, FlightEntry& entry) {
  if (!is_string(value)) return misfits_.count(FlightWord::state);
  switch (static_cast<FlightWord>(value.ref)) {
    case FlightWord::scheduled:
      entry.state = FlightState::scheduled;
      return;
    case FlightWord::started:
      entry.state = FlightState::started;
      return;
    case FlightWord::completed:
      entry.state = FlightState::completed;
      return;
    default:
      entry.state = FlightState::other;
  }
}

void FlightRows::read_name(FlightWord key, const FlightValue& value, Fields& fields) {
  if (is_string(value)) {
    fields.name = value.ref;
  } else {
    misfits_.count(key);
  }
}

void FlightRows::read_group(const FlightValue& value, Fields& fields) {
  std::int64_t texts[] = {kNoText, kNoText};
  std::size_t count = 0;
  bool fits = is_list(value);
  if (fits) {
    values_.each(value, [&](const FlightValue& item) {
      ++looked_at_;
      if (count < 2 && is_string(item)) texts[count] = item.ref;
      fits = fits && is_string(item);
      ++count;
    });
  }
  if (!fits || count != 2) return misfits_.count(FlightWord::process_group);
  fields.group = texts[0];
  fields.description = texts[1];
}

std::uint32_t FlightRows::signature_of(const Fields& fields) {
  words_.clear();
  words_.push_back(fields.name);
  add_sizes(FlightWord::input_sizes, fields.input_sizes);
  add_sizes(FlightWord::output_sizes, fields.output_sizes);
  add_types(FlightWord::input_dtypes, fields.input_dtypes);
  add_types(FlightWord::output_dtypes, fields.output_dtypes);
  return signatures_.intern(words_);
}

// Number of tensors, then of each its dimensions with their number in front.
void FlightRows::add_sizes(FlightWord key, const FlightValue& value) {
  const std::size_t start = words_.size();
  words_.push_back(0);
  if (value.kind == FlightKind::none) return;
  bool fits = is_list(value);
  if (fits) {
    values_.each(value, [&](const FlightValue& tensor) {
      ++looked_at_;
      fits = fits && is_list(tensor) && words_.size() < kSequence;
      if (!fits) return;
      ++words_[start];
      const std::size_t head = words_.size();
      words_.push_back(0);
      values_.each(tensor, [&](const FlightValue& size) {
        ++looked_at_;
        fits = fits && size.kind == FlightKind::integer && words_.size() < kSequence;
        if (fits) words_.push_back(size.bits);
      });
      words_[head] = static_cast<std::int64_t>(words_.size() - head - 1);
    });
  }
  if (fits) return;
  misfits_.count(key);
  words_.resize(start + 1);
  words_[start] = 0;
}

void FlightRows::add_types(FlightWord key, const FlightValue& value) {
  const std::size_t start = words_.size();
  words_.push_back(0);
  if (value.kind == FlightKind::none) return;
  bool fits = is_list(value);
  if (fits) {
    values_.each(value, [&](const FlightValue& type) {
      ++looked_at_;
      fits = fits && is_string(type) && words_.size() < kSequence;
      if (fits) words_.push_back(type.ref);
    });
  }
  if (!fits) {
    misfits_.count(key);
    words_.resize(start + 1);
  }
  words_[start] = static_cast<std::int64_t>(words_.size() - start - 1);
}

std::uint32_t FlightRows::stack_of(const FlightValue& frames) {
  if (frames.kind == FlightKind::none) return 0;
  if (!is_list(frames)) {
    misfits_.count(FlightWord::frames);
    return 0;
  }
  words_.clear();
  values_.each(frames, [&](const FlightValue& frame) {
    ++looked_at_;
    if (frame.kind == FlightKind::dict && words_.size() < kSequence) {
      words_.push_back(frame_of(frame));
    } else {
      misfits_.count(FlightWord::frames);
    }
  });
  return stacks_.intern(words_);
}

std::uint32_t FlightRows::frame_of(const FlightValue& frame) {
  const std::uint32_t seen = values_.tag(frame);  // frame + 1; 0: not looked at yet
  if (seen != 0) return seen - 1;
  std::int64_t words[] = {kNoText, kNoText, 0};
  values_.each_pair(frame, [&](const FlightValue& key, const FlightValue& value) {
    if (!is_string(key)) return;
    const auto word = static_cast<FlightWord>(key.ref);
    if (word == FlightWord::name && is_string(value)) words[0] = value.ref;
    if (word == FlightWord::filename && is_string(value)) words[1] = value.ref;
    if (word == FlightWord::line) read_integer(word, value, words[2]);
  });
  const std::uint32_t id = frames_.intern(words);
  values_.set_tag(frame, id + 1);
  return id;
}

// ---- what the entries share --------------------------------------------------------------------

std::string_view FlightRows::text_of(std::int64_t word) const {
  if (word == kNoText) return {};
  return values_.text(static_cast<std::uint32_t>(word));
}

void FlightRows::move_to(FlightDump& dump) const {
  const std::size_t kept = std::min(entries_.size(), keep_);
  dump.entries.assign(entries_.end() - static_cast<std::ptrdiff_t>(kept), entries_.end());
  dump.entries_let_go = count_ - kept;
  move_groups(dump);
  move_signatures(dump);
  move_stacks(dump);
}

void FlightRows::move_groups(FlightDump& dump) const {
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    const auto words = groups_[id];
    FlightGroup group;
    group.name = text_of(words[0]);
    group.description = text_of(words[1]);
    group.pg_id = words[2];
    if (words[0] == kNoText && group.pg_id != FlightEntry::kAbsent) {
      group.name = std::to_string(group.pg_id);  // 1.x knows groups by number alone
    }
    dump.groups.push_back(std::move(group));
  }
}

void FlightRows::move_signatures(FlightDump& dump) const {
  for (std::size_t id = 0; id < signatures_.size(); ++id) {
    const auto words = signatures_[id];
    std::size_t at = 0;
    const auto sizes = [&] {
      std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(words[at++]));
      for (auto& tensor : out) {
        const auto count = static_cast<std::size_t>(words[at++]);
        tensor.assign(words.data() + at, words.data() + at + count);
        at += count;
      }
      return out;
    };
    const auto types = [&] {
      std::vector<std::string> out(static_cast<std::size_t>(words[at++]));
      for (auto& type : out) type = text_of(words[at++]);
      return out;
    };
    FlightSignature signature;
    signature.name = text_of(words[at++]);
    signature.input_sizes = sizes();
    signature.output_sizes = sizes();
    signature.input_dtypes = types();
    signature.output_dtypes = types();
    dump.signatures.push_back(std::move(signature));
  }
}

void FlightRows::move_stacks(FlightDump& dump) const {
  for (std::size_t id = 0; id < frames_.size(); ++id) {
    const auto words = frames_[id];
    dump.frames.push_back(
        {std::string(text_of(words[0])), std::string(text_of(words[1])), words[2]});
  }
  for (std::size_t id = 0; id < stacks_.size(); ++id) {
    const auto words = stacks_[id];
    FlightStack stack;
    stack.reserve(words.size());
    for (const std::int64_t word : words) stack.push_back(static_cast<std::uint32_t>(word));
    dump.stacks.push_back(std::move(stack));
  }
}

}  // namespace muster
