#pragma once

#include <atomic>
#include <cstdint>

#include "core/storage/read_plan.h"
#include "core/storage/row_result.h"
#include "edge/os/clock.h"
#include "edge/storage/read_queue.h"

namespace muster {

// Shared by the streams of a row and by whoever watches them.
struct StreamSignals {
  std::atomic<bool> stop{false};        // no further read is started
  std::atomic<std::uint64_t> bytes{0};  // read so far, all streams
  std::atomic<std::uint64_t> ended{0};  // reads, all streams
};

struct StreamTask {
  storage::Segment segment;
  std::uint32_t depth = 1;
  bool once = false;  // ends with the segment
  Duration length{};  // no read is started after this
};

// Reads the segment in order, `depth` blocks at a time, over and over until the time is over, and
// waits for what is then in flight. At least one block is read. A read that fails ends the stream
// and is the answer: Errc::unsupported for EINVAL (O_DIRECT that was refused late),
// Errc::corrupt where the file ended early. A stream that was told to stop has what it read.
Result<storage::StreamRun> read_stream(storage::ReadQueue& queue, const StreamTask& task,
                                       Clock& clock, StreamSignals& signals);

}  // namespace muster
