#pragma once

#include <cstdint>
#include <string_view>

#include "base/line_splitter.h"
#include "core/telemetry/decoder.h"

namespace muster {

// What the decoders of tables have in common: bytes become numbered lines, and lines that are lost
// become notes.
class LineDecoder : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) final {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { take(line, sink, false); });
  }
  void finish(TelemetrySink& sink) final {
    lines_.finish([&](std::string_view line, std::uint64_t) { take(line, sink, true); });
    on_end(sink);
    if (lines_.dropped() > 0) sink.note({NoteKind::damaged_line, "a line was too long", 0, {}, {}});
  }

 protected:
  // `torn`: the last line, without a newline behind it.
  virtual void on_line(std::string_view line, TelemetrySink& sink, bool torn) = 0;
  // Behind the last line.
  virtual void on_end(TelemetrySink&) {}

  // Of the line at hand, from 1; lines too long to be read count.
  std::uint64_t line_number() const { return number_; }
  void damaged(TelemetrySink& sink, NoteKind kind, std::string_view why) const {
    sink.note({kind, why, number_, {}, {}});
  }

 private:
  void take(std::string_view line, TelemetrySink& sink, bool torn) {
    number_ = ++seen_ + lines_.dropped();
    on_line(line, sink, torn);
  }

  LineSplitter lines_;
  std::uint64_t seen_ = 0, number_ = 0;
};

}  // namespace muster
