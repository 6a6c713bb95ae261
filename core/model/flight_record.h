#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The flight record of Muster's own trainer: what one rank called, and how far each call came, in a
// file of fixed size that the rank keeps mapped (docs/FORMATS.md, "Flight records"). It can be read
// at any moment, also after a kill -9; muster trace reads it like a dump of PyTorch's recorder.
//
// Little-endian, as laid out here. Wall clock of the rank's host, nanoseconds since the epoch; 0:
// has not happened.

namespace muster {

inline constexpr std::array<char, 8> kFlightRecordMagic = {'M', 'U', 'S', 'T', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t kFlightRecordVersion = 1;
// Rows of the ring that the trainer writes, 1 MiB: ten steps of the largest model with 8 micro
// batches (66 units, gathered twice and reduced once in each: 1,584 calls a step).
inline constexpr std::uint32_t kFlightRows = 16384;
// Groups of one rank: all, those of a node and across nodes, of saves; with room.
inline constexpr std::uint32_t kFlightRecordGroups = 16;

struct FlightRecordHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;  // of this, with the groups: where the rows begin
  std::uint32_t row_bytes;
  std::uint32_t rows;  // of the ring
  std::uint32_t rank, world;
  std::uint32_t attempt;  // from 1
  std::uint32_t phase;    // RankPhase
  std::uint64_t pid;
  std::int64_t started_ns;  // the recorder
  std::uint64_t step;       // optimizer steps that are complete
  std::int64_t step_ns;     // when it was set
  std::uint64_t posted;     // calls so far; those beyond `rows` have turned over
  std::uint32_t groups;     // that are filled
  std::uint32_t failure;    // 0: none; else 1 + CollectiveFailure::Kind
  std::int64_t failed_ns;
  std::int64_t seen_ns;            // the rank waited then: set every tenth of a second of a wait
  std::array<char, 64> host, run;  // ends in zeros
  std::array<std::uint64_t, 3> unused;
};

// Members are first, first + stride, ...; count 0: no such row, or not told.
struct FlightRecordGroup {
  std::array<char, 48> name;
  std::uint32_t first, stride, count, unused;
};

struct FlightRecordRow {
  std::uint64_t number;  // of the call in the process, from 1; written last; 0: being written
  std::uint64_t seq;     // of the call in its group, from 1
  std::int64_t posted_ns, begun_ns, ended_ns;
  std::uint64_t bytes;  // that one rank brings
  std::uint64_t step;
  std::uint32_t unit;
  std::uint8_t op, purpose, dtype, group;
};

static_assert(sizeof(FlightRecordHeader) == 256);
static_assert(sizeof(FlightRecordGroup) == 64);
static_assert(sizeof(FlightRecordRow) == 64);

inline constexpr std::size_t kFlightRecordHeadBytes =
    sizeof(FlightRecordHeader) + kFlightRecordGroups * sizeof(FlightRecordGroup);
inline constexpr std::size_t kFlightRecordBytes =
    kFlightRecordHeadBytes + kFlightRows * sizeof(FlightRecordRow);
static_assert(kFlightRecordHeadBytes % 64 == 0, "a row is one cache line");

// Words of the numbers in a row, which are those of CollectiveOp, Purpose and Dtype of the trainer;
// empty: a later one.
std::string_view flight_record_op(std::uint8_t op);             // "all_gather"
std::string_view flight_record_purpose(std::uint8_t purpose);   // "weights"
std::string_view flight_record_failure(std::uint32_t failure);  // "desync"
// Bytes of one number; 1 where the type is not known.
std::uint64_t flight_record_item_bytes(std::uint8_t dtype);

bool looks_like_flight_record(std::string_view head);

}  // namespace muster
