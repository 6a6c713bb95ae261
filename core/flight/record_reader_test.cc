#include "core/flight/record_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/model/flight_record.h"

namespace muster {
namespace {

constexpr std::size_t kRing = 4;

struct Record {
  FlightRecordHeader header = {};
  std::array<FlightRecordGroup, kFlightRecordGroups> groups = {};
  std::array<FlightRecordRow, kRing> rows = {};

  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
};
static_assert(sizeof(Record) == kFlightRecordHeadBytes + kRing * sizeof(FlightRecordRow));

FlightRecordRow row_of(std::uint64_t number, std::uint8_t op, std::uint8_t purpose) {
  FlightRecordRow row = {};
  row.number = row.seq = number;
  row.posted_ns = 1'000'000'000 * static_cast<std::int64_t>(number);
  row.begun_ns = row.posted_ns + 1'000'000;
  row.ended_ns = row.begun_ns + 2'500'000;
  row.bytes = 4096;
  row.op = op;
  row.purpose = purpose;
  row.dtype = 1;
  return row;
}

// Rank 2 of 4: a gather and a reduction that ended, and a barrier in which it waits.
Record sample() {
  Record record;
  record.header.magic = kFlightRecordMagic;
  record.header.version = 1;
  record.header.header_bytes = kFlightRecordHeadBytes;
  record.header.row_bytes = sizeof(FlightRecordRow);
  record.header.rows = kRing;
  record.header.rank = 2;
  record.header.world = 4;
  record.header.groups = 2;
  record.header.posted = 3;
  record.header.seen_ns = 9'000'000'000;
  record.groups[0] = {{'w', 'o', 'r', 'l', 'd'}, 0, 1, 4, 0};
  record.groups[1] = {{'n', 'o', 'd', 'e'}, 2, 1, 2, 0};
  record.rows[0] = row_of(1, 0, 1);
  record.rows[0].unit = 3;
  record.rows[1] = row_of(2, 1, 2);
  record.rows[2] = row_of(3, 4, 6);
  record.rows[2].ended_ns = 0;
  return record;
}

Result<FlightDump> read(const std::string& bytes, const std::string& name = "r/rank-7.flight") {
  FlightReaderScratch scratch;
  FlightSource source;
  source.name = name;
  source.bytes = bytes;
  return read_flight_dump(source, scratch);
}

struct BadRecord {
  const char* name;
  std::function<void(Record&)> spoil;
  std::size_t entries;  // that are left; kRefused: none is read
  const char* text;     // of the refusal, or of a note
};
constexpr std::size_t kRefused = 99;

TEST(FlightRecord, WhatIsDamagedIsRefusedOrLeftOut) {
  const std::vector<BadRecord> rows = {
      {"a later version", [](Record& r) { r.header.version = 2; }, kRefused, "reads version 1"},
      {"no rows", [](Record& r) { r.header.rows = 0; }, kRefused, "cannot be"},
      {"rows beyond bounds", [](Record& r) { r.header.rows = 1u << 30; }, kRefused, "cannot be"},
      {"small rows", [](Record& r) { r.header.row_bytes = 8; }, kRefused, "cannot be"},
      {"huge rows", [](Record& r) { r.header.row_bytes = 1u << 31; }, kRefused, "cannot be"},
      {"small head", [](Record& r) { r.header.header_bytes = 100; }, kRefused, "cannot be"},
      {"huge head", [](Record& r) { r.header.header_bytes = ~0u; }, kRefused, "cannot be"},
      {"a ring that is not there", [](Record& r) { r.header.rows = 9; }, 0, "cut at"},
      {"being written", [](Record& r) { r.rows[1].number = 0; }, 2, ""},
      {"in another's place", [](Record& r) { r.rows[1].number = 3; }, 2, "1 rows make no sense"},
      {"a number too large", [](Record& r) { r.rows[1].number = ~0ull - 2; }, 2, "no sense"},
      {"no such op", [](Record& r) { r.rows[0].op = 9; }, 2, "no sense"},
      {"no such group", [](Record& r) { r.rows[0].group = 2; }, 2, "no sense"},
      {"a time before time", [](Record& r) { r.rows[0].posted_ns = -1; }, 2, "no sense"},
      {"a call without number", [](Record& r) { r.rows[0].seq = 0; }, 2, "no sense"},
  };
  for (const BadRecord& row : rows) {
    Record record = sample();
    row.spoil(record);
    const auto dump = read(record.bytes());
    ASSERT_EQ(dump.has_value(), row.entries != kRefused) << row.name;
    if (!dump) {
      EXPECT_NE(dump.error().context.find(row.text), std::string::npos) << dump.error().context;
      EXPECT_TRUE(dump.error().context.starts_with("r/rank-7.flight: ")) << row.name;
      continue;
    }
    if (row.entries > 0) {
      EXPECT_EQ(dump->entries.size(), row.entries) << row.name;
    }
    std::string notes;
    for (const std::string& note : dump->notes) notes += note + "\n";
    EXPECT_NE(notes.find(row.text), std::string::npos) << row.name << ": " << notes;
  }
}

TEST(FlightRecord, SaysWhatADumpWouldSay) {
  const auto dump = read(sample().bytes());
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->rank, 2);  // of the record, whatever the file is called
  ASSERT_EQ(dump->groups.size(), 2u);
  EXPECT_EQ(dump->groups[0].name, "world");
  EXPECT_EQ(dump->groups[0].ranks, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(dump->groups[1].ranks, (std::vector<std::int32_t>{2, 3}));
  ASSERT_EQ(dump->entries.size(), 3u);
  const FlightEntry& gather = dump->entries[0];
  EXPECT_EQ(gather.record_id, 0);
  EXPECT_EQ(gather.seq, 1);
  EXPECT_EQ(gather.created_ns, 1'000'000'000);
  EXPECT_FLOAT_EQ(gather.duration_ms, 2.5F);
  EXPECT_EQ(gather.state, FlightState::completed);
  const FlightSignature& called = dump->signatures[gather.signature];
  EXPECT_EQ(called.name, "muster:all_gather");
  EXPECT_EQ(called.input_sizes, (std::vector<std::vector<std::int64_t>>{{4096}}));
  EXPECT_EQ(called.output_sizes, (std::vector<std::vector<std::int64_t>>{{4 * 4096}}));
  const FlightSignature& reduced = dump->signatures[dump->entries[1].signature];
  EXPECT_EQ(reduced.input_sizes, (std::vector<std::vector<std::int64_t>>{{4096}}));
  EXPECT_EQ(reduced.output_sizes, (std::vector<std::vector<std::int64_t>>{{1024}}));
  EXPECT_EQ(reduced.input_dtypes, std::vector<std::string>{"Float"});
  const FlightEntry& barrier = dump->entries[2];
  EXPECT_EQ(barrier.state, FlightState::started);
  EXPECT_FALSE(barrier.retired);
  EXPECT_LT(barrier.duration_ms, 0);
  const auto frame = [&](const FlightEntry& entry) {
    return dump->frames[dump->stacks[entry.stack][0]];
  };
  EXPECT_EQ(frame(gather), (FlightFrame{"weights", "unit", 3}));
  EXPECT_EQ(frame(barrier), (FlightFrame{"save", "muster-train", 0}));
  EXPECT_EQ(dump->written_at, wall_from_ns(9'000'000'000));
  EXPECT_FALSE(dump->cut_at);
  EXPECT_TRUE(dump->notes.empty());
}

TEST(FlightRecord, WhatHadNotEndedAtAFailureIsPastItsTime) {
  Record record = sample();
  record.header.failure = 1;
  record.header.failed_ns = 20'000'000'000;
  const auto dump = read(record.bytes());
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->entries[2].state, FlightState::started);
  EXPECT_TRUE(dump->entries[2].retired);
  EXPECT_EQ(dump->written_at, wall_from_ns(20'000'000'000));
}

TEST(FlightRecord, ARingThatTurnedOverIsReadFromItsOldest) {
  Record record = sample();
  record.rows[0] = row_of(5, 0, 1);
  record.rows[1] = row_of(6, 0, 1);
  record.rows[3] = row_of(4, 0, 1);
  const auto dump = read(record.bytes());
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->entries.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(dump->entries[i].record_id, static_cast<std::int64_t>(2 + i));
  }
}

TEST(FlightRecord, CutAtEveryByteOnlyTheRestIsLost) {
  const std::string whole = sample().bytes();
  for (std::size_t size = kFlightRecordMagic.size(); size < whole.size(); ++size) {
    const auto dump = read(whole.substr(0, size));
    ASSERT_TRUE(dump) << size;
    EXPECT_EQ(dump->cut_at, size);
    const std::size_t rows =
        size < kFlightRecordHeadBytes ? 0 : (size - kFlightRecordHeadBytes) / 64;
    EXPECT_EQ(dump->entries.size(), std::min<std::size_t>(rows, 3)) << size;
  }
}

TEST(FlightRecord, FlippedAtEveryByteNothingIsMisplaced) {
  const std::string whole = sample().bytes();
  for (std::size_t i = 0; i < whole.size() * 3; ++i) {
    std::string bytes = whole;
    bytes[i / 3] = static_cast<char>(bytes[i / 3] ^ std::array{0x01, 0x80, 0xFF}[i % 3]);
    const auto dump = read(bytes);
    if (!dump) continue;
    for (const FlightEntry& entry : dump->entries) {
      ASSERT_LT(entry.group, dump->groups.size());
      ASSERT_LT(entry.signature, dump->signatures.size());
      ASSERT_LT(entry.stack, dump->stacks.size());
    }
  }
}

}  // namespace
}  // namespace muster
