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
class RecordingWriter {
 public:
  // Refuses a file that is there (Errc::invalid_input) unless `force`.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path, bool force,
                                                         Clock& clock);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // `host` stands in where the row names none.
  void row(const TelemetryRow& row, std::string_view source, std::string_view host);
  void note(const TelemetryNote& note, std::string_view source);
  // Writes what has gathered if a second has passed: call it where no rows come.
  void tick();
  // Writes the rest and fsyncs. The first failure of any write is the answer.
  Status close();

  // The first failed write; nothing is written after it.
  const Status& status() const { return status_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  class Compressor;
  RecordingWriter(int fd, std::string path, Clock& clock);
  void add(std::string_view line);
  void flush();

  int fd_;
  std::string path_;
  Clock& clock_;
  std::unique_ptr<Compressor> compressor_;
  std::string pending_;
  MonoTime flushed_at_;
  Status status_;
  std::uint64_t rows_ = 0, bytes_ = 0;
};

}  // namespace muster
