#pragma once

#include <cstdint>
#include <vector>

#include "core/flight/dump.h"
#include "core/flight/flight_misfits.h"
#include "core/flight/flight_values.h"
#include "core/flight/sequence_table.h"

// The items of the list `entries` -> FlightEntry, with what they share numbered. The inner loop of
// the reader: no allocation per row.
//
// A pickle may name one long list in every row, at two bytes each. So the values looked at in all
// are bounded by a multiple of what was read (kValuesPerByte): a real dump has one value in two
// bytes, and one whose rows share their stacks of a hundred frames about one in one.
//
// Of a long file the last entries are kept, as a ring of that length would.

namespace muster {

class FlightRows final : public FlightRowSink {
 public:
  // `values` holds what row() is given.
  FlightRows(FlightValues& values, FlightMisfits& misfits) : values_(values), misfits_(misfits) {}

  // Before the first row of a file, of which the last `keep` are kept.
  void reset(std::size_t keep);
  Taken row(const FlightValue& value, std::uint64_t place) override;

  // Puts entries, signatures, groups (name, description, number), frames and stacks into the dump.
  void move_to(FlightDump& dump) const;
  std::uint64_t strangers() const { return strangers_; }  // items that are no records
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::uint64_t kValuesPerByte = 16;
  static constexpr std::uint64_t kValuesMost = 512 * 1024 * 1024;  // a second's work
  static constexpr std::size_t kSequence = 256 * 1024;  // words; 5,000 tensors are 25,000

  // So many items more than records: this is no list of records.
  static constexpr std::uint64_t kStrangersFirst = 1000;

  struct Fields;
  Taken stranger();
  bool beyond_bounds(std::uint64_t place) const;
  void read_field(const FlightValue& key, const FlightValue& value, Fields& fields);
  void read_name(FlightWord key, const FlightValue& value, Fields& fields);
  void read_integer(FlightWord key, const FlightValue& value, std::int64_t& out);
  void read_number(FlightWord key, const FlightValue& value, std::int64_t& out);
  void read_time(FlightWord key, const FlightValue& value, std::int64_t unit_ns, std::int64_t& out);
  void read_boolean(FlightWord key, const FlightValue& value, bool& out);
  void read_timeout(const FlightValue& value, FlightEntry& entry);
  void read_duration(const FlightValue& value, FlightEntry& entry);
  void read_state(const FlightValue& value, FlightEntry& entry);
  void read_group(const FlightValue& value, Fields& fields);

  std::uint32_t signature_of(const Fields& fields);
  void add_sizes(FlightWord key, const FlightValue& value);
  void add_types(FlightWord key, const FlightValue& value);
  std::uint32_t stack_of(const FlightValue& frames);
  std::uint32_t frame_of(const FlightValue& frame);

  void move_signatures(FlightDump& dump) const;
  void move_groups(FlightDump& dump) const;
  void move_stacks(FlightDump& dump) const;
  std::string_view text_of(std::int64_t word) const;

  FlightValues& values_;
  FlightMisfits& misfits_;
  std::vector<FlightEntry> entries_;  // at most twice as many as are kept
  // Sequences of words; a word of a text is its id, or kNoText.
  SequenceTable groups_;             // name, description, number
  SequenceTable signatures_;         // name, then four lists with their lengths in front
  SequenceTable frames_;             // function, file, line
  SequenceTable stacks_;             // frames
  std::vector<std::int64_t> words_;  // of the sequence under way
  std::uint64_t strangers_ = 0;
  std::uint64_t count_ = 0;      // of entries, with those that were let go
  std::uint64_t looked_at_ = 0;  // values
  std::size_t keep_ = 0;
};

}  // namespace muster
