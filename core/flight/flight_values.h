#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/limits.h"

// Values of one dump file before they become a FlightDump: None, truth values, integers, floating
// numbers, strings, lists (tuples too) and dicts, in a few flat arrays that are used again for the
// next file. No heap object per value; 16 bytes each. Both the pickle and the JSON reader fill it.
//
// Containers may be shared and may contain themselves (a hostile pickle can do that): whoever walks
// them follows only the keys that it knows and never to an unbounded depth.

namespace muster {

enum class FlightKind : std::uint8_t { none, boolean, integer, real, string, list, dict };

struct FlightValue {
  FlightKind kind = FlightKind::none;
  std::uint32_t ref = 0;  // string: its id; list, dict: its node
  std::int64_t bits = 0;  // boolean, integer; of a real its pattern

  double real() const { return std::bit_cast<double>(bits); }
  static FlightValue of_bool(bool b) { return {FlightKind::boolean, 0, b ? 1 : 0}; }
  static FlightValue of_int(std::int64_t i) { return {FlightKind::integer, 0, i}; }
  static FlightValue of_real(double d) {
    return {FlightKind::real, 0, std::bit_cast<std::int64_t>(d)};
  }
};

// Strings whose ids are the same in every file, so that a key is one number to switch on.
enum class FlightWord : std::uint32_t {
  version,
  entries,
  pg_config,
  pg_status,
  nccl_version,
  comm_lib_version,
  name,
  desc,
  ranks,
  last_enqueued,
  last_completed,
  record_id,
  pg_id,
  process_group,
  collective_seq_id,
  p2p_seq_id,
  seq_id,
  profiling_name,
  time_created_ns,
  time_created_us,
  duration_ms,
  input_sizes,
  output_sizes,
  input_dtypes,
  output_dtypes,
  state,
  time_discovered_completed_ns,
  retired,
  timeout_ms,
  is_p2p,
  frames,
  filename,
  line,
  scheduled,
  started,
  completed,
  count,
};
std::string_view flight_word_text(FlightWord word);
// Whether the id is that of a name at the top of a dump.
inline bool is_top_word(std::uint32_t id) {
  return id <= static_cast<std::uint32_t>(FlightWord::comm_lib_version);
}

class FlightValues {
 public:
  FlightValues();

  // Forgets all; keeps the memory, unless one large file made it large.
  void reset();

  // The id of this text. `stable`: the bytes outlive this object's use (they are the file's own),
  // so no copy is made. Nothing: more strings than limits::kFlightStrings.
  std::optional<std::uint32_t> intern(std::string_view text, bool stable);
  std::string_view text(std::uint32_t id) const { return strings_[id].text; }
  std::string_view text(const FlightValue& value) const { return text(value.ref); }

  // An empty list or dict. Nothing: too many values, here and in append().
  std::optional<FlightValue> make(FlightKind kind);
  // Values that may be held at one time: limits::kFlightRowValues, and so many more with each
  // grant(), up to limits::kFlightValues.
  void grant(std::size_t more) { most_ = std::min(most_ + more, limits::kFlightValues); }
  std::size_t most() const { return most_; }
  // Puts values behind those that the container has; of a dict, keys and values in turn.
  [[nodiscard]] bool append(const FlightValue& container, const FlightValue* first,
                            std::size_t count);

  // Calls f(const FlightValue*, count) for each run of values; the runs of a dict are even.
  template <typename F>
  void each_run(const FlightValue& container, F&& f) const {
    for (std::uint32_t at = container.ref; at != kNoNode; at = nodes_[at].next) {
      if (nodes_[at].count > 0) f(items_.data() + nodes_[at].first, nodes_[at].count);
    }
  }
  // f(value) for each value of a list, f(key, value) for each pair of a dict.
  template <typename F>
  void each(const FlightValue& list, F&& f) const {
    each_run(list, [&](const FlightValue* run, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) f(run[i]);
    });
  }
  template <typename F>
  void each_pair(const FlightValue& dict, F&& f) const {
    each_run(dict, [&](const FlightValue* run, std::size_t count) {
      for (std::size_t i = 0; i + 1 < count; i += 2) f(run[i], run[i + 1]);
    });
  }

  // Memory of a row that was taken is given back by release(mark()), unless something of the row
  // was pinned (it may be referred to later) or an older container changed meanwhile.
  struct Mark {
    std::size_t nodes = 0, items = 0;
  };
  Mark mark();
  void release(Mark mark);
  void pin(const FlightValue& container) { held_ = held_ || container.ref >= held_below_; }

  // A number that the owner of the values may leave at a container, for when it meets it again.
  std::uint32_t tag(const FlightValue& container) const { return nodes_[container.ref].tag; }
  void set_tag(const FlightValue& container, std::uint32_t tag) { nodes_[container.ref].tag = tag; }

 private:
  static constexpr std::uint32_t kNoNode = UINT32_MAX;
  // A run of values. The first node of a container knows its last, so that adding one by one stays
  // linear.
  struct Node {
    std::uint32_t first = 0, count = 0, next = kNoNode, last = 0;
    std::uint32_t tag = 0;
  };
  struct String {
    std::string_view text;
    std::uint64_t hash = 0;
  };

  void grow_table();
  std::string_view copy(std::string_view text);

  // An array that is never made smaller within a file. A std::vector would fill and check more.
  template <typename T>
  class Pool {
   public:
    std::size_t size() const { return size_; }
    const T* data() const { return pool_.data(); }
    T& operator[](std::size_t at) { return pool_[at]; }
    const T& operator[](std::size_t at) const { return pool_[at]; }
    void shrink(std::size_t size) { size_ = size; }
    // Room for so many more at the end.
    T* extend(std::size_t count) {
      if (pool_.size() - size_ < count) pool_.resize(size_ + count + pool_.size());
      size_ += count;
      return pool_.data() + (size_ - count);
    }
    void reset(std::size_t kept) {
      size_ = 0;
      if (pool_.size() > kept) pool_ = std::vector<T>();
    }

   private:
    std::vector<T> pool_;
    std::size_t size_ = 0;
  };

  Pool<FlightValue> items_;
  Pool<Node> nodes_;
  std::vector<String> strings_;
  std::vector<std::uint32_t> table_;  // string ids by hash, open addressing; kNoNode: free
  std::vector<std::unique_ptr<char[]>> copies_;
  char* copy_at_ = nullptr;  // in the last of them, with copy_left_ bytes free
  std::size_t copy_left_ = 0;
  std::size_t copied_ = 0;  // bytes in all of them
  std::size_t most_ = limits::kFlightRowValues;
  std::size_t held_below_ = 0;  // nodes before the row under way
  bool held_ = false;           // the row under way must stay
};

// In the inner loop of the reader, so inline.
inline std::optional<FlightValue> FlightValues::make(FlightKind kind) {
  if (nodes_.size() >= most_) return std::nullopt;
  const auto at = static_cast<std::uint32_t>(nodes_.size());
  *nodes_.extend(1) = {0, 0, kNoNode, at, 0};
  return FlightValue{kind, at, 0};
}

inline bool FlightValues::append(const FlightValue& container, const FlightValue* first,
                                 std::size_t count) {
  if (count == 0) return true;
  if (items_.size() + count > most_) return false;
  if (container.ref < held_below_) held_ = true;
  const auto begin = static_cast<std::uint32_t>(items_.size());
  const auto length = static_cast<std::uint32_t>(count);
  Node& tail = nodes_[nodes_[container.ref].last];
  if (tail.count == 0) {
    tail.first = begin;
    tail.count = length;
  } else if (tail.first + tail.count == begin) {
    tail.count += length;
  } else {
    if (nodes_.size() >= most_) return false;
    const auto more = static_cast<std::uint32_t>(nodes_.size());
    tail.next = more;
    nodes_[container.ref].last = more;
    *nodes_.extend(1) = {begin, length, kNoNode, more, 0};
  }
  std::copy_n(first, count, items_.extend(count));
  return true;
}

// Where the rows of the list `entries` go as soon as each is complete; the readers forget them
// then.
class FlightRowSink {
 public:
  virtual ~FlightRowSink() = default;
  enum class Taken : std::uint8_t {
    record,
    stranger,  // an item that is no record
    enough,    // stop reading
  };
  // `place`: bytes of the file up to here.
  virtual Taken row(const FlightValue& value, std::uint64_t place) = 0;
};

// What a reader found beside the rows.
struct FlightDocument {
  FlightValue root;                     // dict without its rows, or list (the bare list of 2.2)
  std::optional<std::uint64_t> cut_at;  // nothing behind this byte was understood
  std::string_view damage;              // why, where the file does not just end there
  bool trailing = false;                // bytes stand after the end of the value
};

}  // namespace muster
