#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// What a storage measurement reads: the rows, and for each row its streams with their offsets and
// order. Everything is read in blocks of one MiB: large enough that the cost of a call does not
// count, and what a loader reads ahead.

namespace muster::storage {

inline constexpr std::uint64_t kBlockBytes = 1024 * 1024;

enum class RowKind : std::uint8_t {
  warm,     // one thread copies the file out of the page cache
  streams,  // several readers past the page cache, one read in flight each: ranks that load
  queue,    // four readers with 32 reads in flight each: what the device can do at most
  single,   // one reader, one read in flight: what a single loader gets
  cold,     // one thread, the file dropped from the page cache: the first epoch
};

// In the order of the table that people read.
inline constexpr RowKind kRows[] = {RowKind::warm, RowKind::streams, RowKind::queue,
                                    RowKind::single, RowKind::cold};
// In the order of measuring: what fills the page cache comes last.
inline constexpr RowKind kRunOrder[] = {RowKind::streams, RowKind::queue, RowKind::single,
                                        RowKind::cold, RowKind::warm};

std::string_view row_name(RowKind kind);  // "cold", the word of the JSON

// Bytes [begin, end) of the file, whole blocks, read in order.
struct Segment {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

struct RowPlan {
  RowKind kind = RowKind::warm;
  bool direct = false;            // O_DIRECT
  bool once = false;              // ends with its segments; the others begin again until `length`
  std::uint32_t depth = 1;        // reads in flight of each stream
  std::vector<Segment> segments;  // one a stream, disjoint, of equal length
  Duration length{};              // `once`: at most so long
};

struct PlanRequest {
  std::uint64_t file_bytes = 0;
  std::uint32_t streams = 8;  // of the row `streams`
  Duration length = std::chrono::seconds(3);
};

// The largest request that makes sense, and how long the cold row may take: 4 GiB at 70 MB/s, the
// slowest disk that anybody trains from.
inline constexpr std::uint32_t kMostStreams = 256;
inline constexpr Duration kColdLength = std::chrono::seconds(60);

// The five rows in the order of the table. Errc::invalid_input where the file has less than a block
// for each stream, or a number is out of range; the text says which.
Result<std::vector<RowPlan>> plan_rows(const PlanRequest& request);

// Bytes of the file that the rows read: whole blocks. A tail shorter than a block is left.
std::uint64_t planned_bytes(std::uint64_t file_bytes);

}  // namespace muster::storage
