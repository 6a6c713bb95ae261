#include "core/flight/flight_values.h"

#define XXH_INLINE_ALL  // short keys: the call would cost more than the hash
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/limits.h"

namespace muster {
namespace {

constexpr std::size_t kWords = static_cast<std::size_t>(FlightWord::count);
constexpr std::array<std::string_view, kWords> kTexts = {
    "version",
    "entries",
    "pg_config",
    "pg_status",
    "nccl_version",
    "comm_lib_version",
    "name",
    "desc",
    "ranks",
    "last_enqueued_collective",
    "last_completed_collective",
    "record_id",
    "pg_id",
    "process_group",
    "collective_seq_id",
    "p2p_seq_id",
    "seq_id",
    "profiling_name",
    "time_created_ns",
    "time_created_us",
    "duration_ms",
    "input_sizes",
    "output_sizes",
    "input_dtypes",
    "output_dtypes",
    "state",
    "time_discovered_completed_ns",
    "retired",
    "timeout_ms",
    "is_p2p",
    "frames",
    "filename",
    "line",
    "scheduled",
    "started",
    "completed",
};

constexpr std::size_t kTableSlots = 1024;  // a dump has about 150 strings
constexpr std::size_t kCopyBytes = 256 * 1024;
// What is kept between files: the values of a row or two are a few hundred, of a file written by
// Python, whose rows all stay, some 200,000.
constexpr std::size_t kKeptValues = 1024 * 1024;

}  // namespace

std::string_view flight_word_text(FlightWord word) {
  return kTexts[static_cast<std::size_t>(word)];
}

FlightValues::FlightValues() {
  reset();
}

void FlightValues::reset() {
  items_.reset(kKeptValues);
  nodes_.reset(kKeptValues);
  strings_.clear();
  if (strings_.capacity() > kKeptValues) strings_.shrink_to_fit();
  if (table_.size() > kKeptValues || table_.empty()) {
    table_ = std::vector<std::uint32_t>(kTableSlots, kNoNode);
  } else {
    std::fill(table_.begin(), table_.end(), kNoNode);
  }
  copies_.clear();
  copy_left_ = 0;
  copied_ = 0;
  most_ = limits::kFlightRowValues;
  held_below_ = 0;
  held_ = false;
  for (const std::string_view text : kTexts) intern(text, true);
}

std::string_view FlightValues::copy(std::string_view text) {
  if (text.empty()) return {};
  copied_ += text.size();
  if (text.size() > copy_left_) {
    copy_left_ = std::max(kCopyBytes, text.size());
    copies_.push_back(std::make_unique<char[]>(copy_left_));
    copy_at_ = copies_.back().get();
  }
  std::memcpy(copy_at_, text.data(), text.size());
  const std::string_view copied(copy_at_, text.size());
  copy_at_ += text.size();
  copy_left_ -= text.size();
  return copied;
}

std::optional<std::uint32_t> FlightValues::intern(std::string_view text, bool stable) {
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::size_t slot = hash & (table_.size() - 1);
  for (; table_[slot] != kNoNode; slot = (slot + 1) & (table_.size() - 1)) {
    const String& there = strings_[table_[slot]];
    if (there.hash == hash && there.text == text) return table_[slot];
  }
  if (strings_.size() >= limits::kFlightStrings) return std::nullopt;
  if (!stable && text.size() > limits::kFlightTextBytes - copied_) return std::nullopt;
  const auto id = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back({stable ? text : copy(text), hash});
  table_[slot] = id;
  if (strings_.size() * 2 > table_.size()) grow_table();
  return id;
}

void FlightValues::grow_table() {
  table_ = std::vector<std::uint32_t>(table_.size() * 4, kNoNode);
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    std::size_t slot = strings_[id].hash & (table_.size() - 1);
    while (table_[slot] != kNoNode) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = id;
  }
}

FlightValues::Mark FlightValues::mark() {
  held_below_ = nodes_.size();
  held_ = false;
  return {nodes_.size(), items_.size()};
}

void FlightValues::release(Mark mark) {
  if (held_) return;
  nodes_.shrink(mark.nodes);
  items_.shrink(mark.items);
}

}  // namespace muster
