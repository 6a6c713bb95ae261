#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/model/progress.h"

// Event files of TensorBoard (events.out.tfevents.*), as PyTorch, TensorFlow and Lightning write
// them: records of u64 length, masked CRC32C of it, payload, masked CRC32C of that; little endian.
// The payload is the message Event; its scalars become step records by the names of their tags
// (step_table.h: "train/step_time", "throughput/tokens_per_sec", "loss"). Tags that say nothing of
// training steps, histograms, graphs and pictures are passed over.
//
// A torn last record is normal: writers flush every two minutes. A damaged record loses itself; if
// its length is what was damaged, the next length whose checksum is right goes on.

namespace muster {

class EventFileDecoder {
 public:
  EventFileDecoder();
  EventFileDecoder(EventFileDecoder&&) noexcept;
  EventFileDecoder& operator=(EventFileDecoder&&) noexcept;
  ~EventFileDecoder();

  // Chunks may be cut anywhere. Holds at most one record of limits::kEventRecordBytes.
  // StepRecord::line is the number of the record, from 1.
  void feed(std::string_view chunk, ProgressSink& sink);

  std::uint64_t damaged() const;  // records, or stretches of bytes without one

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One payload, without its length and checksums: what a fuzz target cannot reach through them.
void read_event_payload(std::string_view payload, ProgressSink& sink);

// The first 12 bytes are a length and its checksum.
bool looks_like_event_file(std::string_view head);

}  // namespace muster
