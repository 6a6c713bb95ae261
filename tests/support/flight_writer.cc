#include "tests/support/flight_writer.h"

#include <fmt/core.h>

#include <bit>
#include <map>
#include <utility>

#include "core/model/json_writer.h"

namespace muster {
namespace {

// The encoder of torch::jit for the few types that a dump is made of.
class Pickle {
 public:
  Pickle() { out_ = "\x80\x02"; }

  void begin_dict() { out_ += "}("; }
  void end_dict() { out_ += 'u'; }
  void begin_list() { out_ += "]("; }
  void end_list() { out_ += 'e'; }
  void pair() { out_ += '\x86'; }  // of the two values before
  void none() { out_ += 'N'; }
  void truth(bool value) { out_ += value ? '\x88' : '\x89'; }
  void integer(std::int64_t n) {
    const auto bits = static_cast<std::uint64_t>(n);
    if (n >= 0 && n <= UINT8_MAX) {
      number('K', bits, 1);
    } else if (n >= 0 && n <= UINT16_MAX) {
      number('M', bits, 2);
    } else if (n >= INT32_MIN && n <= INT32_MAX) {
      number('J', bits, 4);
    } else {
      out_ += "\x8a\x08";
      little(bits, 8);
    }
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    out_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift & 0xFF);
  }
  void text(const std::string& s) {
    const auto [at, made] = strings_.try_emplace(s, next_);
    if (!made) return get(at->second);
    number('X', s.size(), 4);
    out_ += s;
    put();
  }
  // Gives the value before a number by which get() repeats it.
  std::uint32_t put() {
    if (next_ <= UINT8_MAX) {
      number('q', next_, 1);
    } else {
      number('r', next_, 4);
    }
    return next_++;
  }
  void get(std::uint32_t id) {
    if (id <= UINT8_MAX) {
      number('h', id, 1);
    } else {
      number('j', id, 4);
    }
  }
  std::string end() { return std::move(out_ += '.'); }

 private:
  void little(std::uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(bits >> (8 * i) & 0xFF);
  }
  void number(char opcode, std::uint64_t bits, int bytes) {
    out_ += opcode;
    little(bits, bytes);
  }

  std::string out_;
  std::map<std::string, std::uint32_t> strings_;
  std::uint32_t next_ = 0;
};

struct Version {
  int major = 0, minor = 0;  // 0: the bare list

  explicit Version(const std::string& text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string::npos) return;
    major = std::stoi(text.substr(0, dot));
    minor = std::stoi(text.substr(dot + 1));
  }
  bool at_least(int a, int b) const { return std::pair(major, minor) >= std::pair(a, b); }
};

std::string ranks_text(const FlightGroup& group) {
  std::string text = "[";
  if (group.ranks) {
    for (const std::int32_t rank : *group.ranks) {
      if (text.size() > 1) text += ", ";
      text += std::to_string(rank);
    }
  }
  return text + "]";
}

const char* state_name(FlightState state) {
  constexpr const char* kNames[] = {"scheduled", "started", "completed", "other"};
  return kNames[static_cast<std::size_t>(state)];
}

// Not in the values: made up where the recorder must have known it.
std::int64_t started_seen_ns(const FlightEntry& e) {
  const bool known = e.state == FlightState::started || e.duration_ms >= 0;
  return known ? e.created_ns + 50'000'000 : FlightEntry::kAbsent;
}

class DumpPickle {
 public:
  DumpPickle(const FlightDump& dump, FlightWriting writing)
      : dump_(dump), writing_(writing), version_(dump.version) {
    frame_uses_.assign(dump.frames.size(), 0);
    frame_ids_.assign(dump.frames.size(), kNotWritten);
    for (const FlightEntry& e : dump.entries) {
      if (skips(e)) continue;
      for (const std::uint32_t frame : dump.stacks[e.stack]) ++frame_uses_[frame];
    }
  }

  std::string write() {
    if (version_.major == 0) {
      write_entries();
    } else {
      write_top();
    }
    p_.put();  // nobody repeats the whole, but the recorder holds it twice while it writes
    return p_.end();
  }

 private:
  static constexpr std::uint32_t kNotWritten = UINT32_MAX;

  void write_top() {
    p_.begin_dict();
    key("version");
    p_.text(dump_.version);
    key("pg_config");
    write_groups();
    // Newer recorders name the library even where they do not know it.
    if (version_.at_least(2, dump_.library_version.empty() ? 8 : 6)) {
      key(version_.at_least(2, 8) ? "comm_lib_version" : "nccl_version");
      p_.text(dump_.library_version);
    }
    if (version_.at_least(2, 3)) {
      key("pg_status");
      write_status();
    }
    key("entries");
    write_entries();
    p_.end_dict();
  }
  void key(const char* name) { p_.text(name); }
  void number(const char* name, std::int64_t value) {
    if (value == FlightEntry::kAbsent) return;
    key(name);
    p_.integer(value);
  }
  bool skips(const FlightEntry& e) const {
    return writing_.only_active && e.state == FlightState::completed;
  }
  void write_groups();
  void write_status();
  void write_entries();
  void write_entry(const FlightEntry& e);
  void write_numbers(const FlightEntry& e);
  void write_tensors(const char* sizes_name, const std::vector<std::vector<std::int64_t>>& sizes,
                     const char* dtypes_name, const std::vector<std::string>& dtypes);
  void write_frames(const FlightStack& stack);

  const FlightDump& dump_;
  const FlightWriting writing_;
  const Version version_;
  Pickle p_;
  std::vector<std::uint32_t> frame_uses_, frame_ids_;
};

void DumpPickle::write_groups() {
  p_.begin_dict();
  for (const FlightGroup& group : dump_.groups) {
    if (version_.major == 1) {
      p_.integer(group.pg_id);
      p_.begin_list();
      for (const std::int32_t rank : *group.ranks) p_.integer(rank);
      p_.end_list();
      continue;
    }
    p_.text(group.name);
    p_.begin_dict();
    key("name");
    p_.text(group.name);
    key("desc");
    p_.text(group.description);
    key("ranks");
    p_.text(ranks_text(group));
    p_.end_dict();
  }
  p_.end_dict();
}

void DumpPickle::write_status() {
  p_.begin_dict();
  for (const FlightGroup& group : dump_.groups) {
    if (!group.last_enqueued) continue;
    p_.text(std::to_string(group.pg_id));
    p_.begin_dict();
    number("last_enqueued_collective", *group.last_enqueued);
    number("last_started_collective", -1);  // what it is without timing
    number("last_completed_collective", group.last_completed.value_or(-1));
    p_.end_dict();
  }
  p_.end_dict();
}

void DumpPickle::write_entries() {
  p_.begin_list();
  for (const FlightEntry& e : dump_.entries) {
    if (!skips(e)) write_entry(e);
  }
  p_.end_list();
}

void DumpPickle::write_numbers(const FlightEntry& e) {
  const FlightGroup& group = dump_.groups[e.group];
  number("record_id", e.record_id);
  number("pg_id", group.pg_id);
  if (version_.major < 2) return number("seq_id", e.seq);
  key("process_group");
  p_.text(group.name);
  p_.text(group.description);
  p_.pair();
  if (version_.at_least(2, 8)) {
    key("thread_name");
    p_.text("python");
    key("thread_id");
    p_.text("140226051544896");
  }
  number("collective_seq_id", e.seq);
  number("p2p_seq_id", e.p2p_seq);
  number("op_id", e.seq + (e.p2p_seq == FlightEntry::kAbsent ? 0 : e.p2p_seq));
}

void DumpPickle::write_tensors(const char* sizes_name,
                               const std::vector<std::vector<std::int64_t>>& sizes,
                               const char* dtypes_name, const std::vector<std::string>& dtypes) {
  key(sizes_name);
  p_.begin_list();
  for (const std::vector<std::int64_t>& tensor : sizes) {
    p_.begin_list();
    for (const std::int64_t n : tensor) p_.integer(n);
    p_.end_list();
  }
  p_.end_list();
  if (version_.major < 2) return;
  key(dtypes_name);
  p_.begin_list();
  for (const std::string& dtype : dtypes) p_.text(dtype);
  p_.end_list();
}

void DumpPickle::write_entry(const FlightEntry& e) {
  const FlightSignature& s = dump_.signatures[e.signature];
  const auto time = [this](const char* name, std::int64_t ns) {
    key(name);
    if (ns == FlightEntry::kAbsent) return p_.none();
    p_.integer(ns);
  };
  p_.begin_dict();
  if (writing_.frames) write_frames(dump_.stacks[e.stack]);
  write_numbers(e);
  key("profiling_name");
  p_.text(s.name);
  number("time_created_ns", e.created_ns);
  if (e.duration_ms >= 0) {
    key("duration_ms");
    p_.real(double{e.duration_ms});
  }
  write_tensors("input_sizes", s.input_sizes, "input_dtypes", s.input_dtypes);
  write_tensors("output_sizes", s.output_sizes, "output_dtypes", s.output_dtypes);
  key("state");
  p_.text(state_name(e.state));
  time("time_discovered_started_ns", started_seen_ns(e));
  time("time_discovered_completed_ns", e.completed_seen_ns);
  key("retired");
  p_.truth(e.retired);
  if (version_.at_least(2, 2)) {
    number("timeout_ms", e.timeout_ms);
    key("is_p2p");
    p_.truth(e.is_p2p);
  }
  p_.end_dict();
}

void DumpPickle::write_frames(const FlightStack& stack) {
  key("frames");
  p_.begin_list();
  for (const std::uint32_t place : stack) {
    if (frame_ids_[place] != kNotWritten) {
      p_.get(frame_ids_[place]);
      continue;
    }
    const FlightFrame& frame = dump_.frames[place];
    p_.begin_dict();
    key("name");
    p_.text(frame.function);
    key("filename");
    p_.text(frame.file);
    number("line", frame.line);
    p_.end_dict();
    // Only what several lists hold gets a number.
    if (frame_uses_[place] > 1) frame_ids_[place] = p_.put();
  }
  p_.end_list();
}

void json_sizes(JsonWriter& w, const std::vector<std::vector<std::int64_t>>& sizes) {
  w.begin_array();
  for (const std::vector<std::int64_t>& tensor : sizes) {
    w.begin_array();
    for (const std::int64_t n : tensor) w.value(n);
    w.end_array();
  }
  w.end_array();
}

void json_words(JsonWriter& w, const std::vector<std::string>& words) {
  w.begin_array();
  for (const std::string& word : words) w.value(word);
  w.end_array();
}

void json_entry(JsonWriter& w, const FlightDump& dump, const FlightEntry& e, bool threads) {
  const FlightGroup& group = dump.groups[e.group];
  const FlightSignature& s = dump.signatures[e.signature];
  const auto or_zero = [](std::int64_t ns) { return ns == FlightEntry::kAbsent ? 0 : ns; };
  w.begin_object().key("collective_seq_id").value(e.seq);
  if (e.duration_ms >= 0) w.key("duration_ms").value(double{e.duration_ms});
  w.key("input_dtypes");
  json_words(w, s.input_dtypes);
  w.key("input_sizes");
  json_sizes(w, s.input_sizes);
  w.key("is_p2p").value(e.is_p2p).key("op_id").value(e.seq + or_zero(e.p2p_seq));
  w.key("output_dtypes");
  json_words(w, s.output_dtypes);
  w.key("output_sizes");
  json_sizes(w, s.output_sizes);
  w.key("p2p_seq_id").value(or_zero(e.p2p_seq)).key("pg_id").value(group.pg_id);
  w.key("process_group");
  json_words(w, {group.name, group.description});
  w.key("profiling_name").value(s.name).key("record_id").value(e.record_id);
  w.key("retired").value(e.retired).key("state").value(state_name(e.state));
  if (threads) w.key("thread_id").value("140226051544896").key("thread_name").value("python");
  w.key("time_created_ns").value(e.created_ns);
  w.key("time_discovered_completed_ns").value(or_zero(e.completed_seen_ns));
  w.key("time_discovered_started_ns").value(or_zero(started_seen_ns(e)));
  w.key("timeout_ms").value(e.timeout_ms).end_object();
}

void json_groups(JsonWriter& w, const FlightDump& dump) {
  std::map<std::string, const FlightGroup*> by_name, by_number;
  for (const FlightGroup& group : dump.groups) {
    by_name[group.name] = &group;
    if (group.last_enqueued) by_number[std::to_string(group.pg_id)] = &group;
  }
  w.key("pg_config").begin_object();
  for (const auto& [name, group] : by_name) {
    w.key(name).begin_object().key("desc").value(group->description).key("name").value(name);
    w.key("ranks").value(ranks_text(*group)).end_object();
  }
  w.end_object().key("pg_status").begin_object();
  for (const auto& [number, group] : by_number) {
    w.key(number).begin_object();
    w.key("last_completed_collective").value(std::to_string(group->last_completed.value_or(-1)));
    w.key("last_enqueued_collective").value(std::to_string(*group->last_enqueued));
    w.key("last_started_collective").value("-1");
    w.end_object();
  }
  w.end_object();
}

}  // namespace

std::string flight_pickle(const FlightDump& dump, FlightWriting writing) {
  return DumpPickle(dump, writing).write();
}

std::string flight_json(const FlightDump& dump, bool only_active) {
  const bool threads = Version(dump.version).at_least(2, 8);
  std::vector<const FlightEntry*> shown;
  for (const FlightEntry& e : dump.entries) {
    if (!only_active || e.state != FlightState::completed) shown.push_back(&e);
  }
  JsonWriter w;
  w.begin_object();
  if (threads) w.key("comm_lib_version").value(dump.library_version);
  if (!shown.empty()) {
    w.key("entries").begin_array();
    for (const FlightEntry* e : shown) json_entry(w, dump, *e, threads);
    w.end_array();
  }
  if (threads) w.key("nccl_comm_state").begin_object().end_object();
  json_groups(w, dump);
  w.key("version").value(dump.version).end_object();
  return w.take();
}

}  // namespace muster
