#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/telemetry_row.h"
#include "edge/os/clock.h"

namespace muster {

// Writes "muster.recording/1" (core/telemetry/recording.h), compressed with zstd. Every second, and
// every 256 KiB of text, what has gathered is closed as a frame of its own with a checksum and
// written: a kill -9 loses at most the last second, and damage costs one frame. The file has mode
// 0600. One thread.
//
// A new file grows under its own name. One that is there is replaced by close() alone: until then
// the recording grows as PATH.part beside it. A device or pipe is written into, with `force`.
class RecordingWriter {
 public:
  // Refuses a file that is there (Errc::invalid_input) unless `force`, and with `force` a PATH.part
  // that another recording left or is writing.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path, bool force,
                                                         Clock& clock);
  // Without close() or discard() the file stays as a kill would leave it.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // `host` stands in where the row or note names none.
  void row(const TelemetryRow& row, std::string_view source, std::string_view host);
  void note(const TelemetryNote& note, std::string_view source, std::string_view host);
  void step(const StepRecord& record, std::string_view source);
  void event(const ProgressEvent& event, std::string_view source);
  // Writes what has gathered if a second has passed: call it where no rows come.
  void tick();
  // Writes what has gathered.
  void flush();
  // Writes the rest, fsyncs and puts the file in its place. The first failure of any write is the
  // answer; it says where what was written before lies.
  Status close();
  // Removes what was written: nothing came that is worth keeping.
  void discard();

  // The first failed write; nothing is written after it.
  const Status& status() const { return status_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  class Compressor;
  // Where the bytes go.
  struct Place {
    int fd = -1;
    std::string path;  // as asked for
    std::string file;  // where it grows; empty for a device or pipe
  };
  static Result<Place> open_place(const std::string& path, bool force);
  RecordingWriter(Place place, Clock& clock);
  void add(std::string_view line);
  void fail(std::string_view doing, int error_number);

  Place place_;
  std::string rest_;  // for a failed write: what is where
  Clock& clock_;
  std::unique_ptr<Compressor> compressor_;
  std::string pending_;
  MonoTime flushed_at_;
  Status status_;
  std::uint64_t rows_ = 0, bytes_ = 0;
};

}  // namespace muster
