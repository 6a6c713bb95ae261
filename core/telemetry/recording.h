#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/telemetry/decoder.h"

// "muster.recording/1": telemetry as lines of JSON, one a row or note, as the sources said it.
//
//   {"schema":"muster.recording/1","at":1785592925000000000}
//   {"src":"nvml","at":1785592925000000000,"zone":true,"kind":"gpu","host":"n1","index":3,
//    "m":{"power_w":986.25,"util_gpu_percent":"not reported"}}
//   {"src":"nvml","note":"gpu_lost","host":"n1","text":"..."}
//   {"src":"train.log","step":{"n":120,"loss":2.25},"at":1785592925000000000,"zone":true,"line":7}
//   {"src":"train.log","event":{"kind":"save_begin","n":120},"text":"saving ...","line":8}
//
// `src` comes back as the source of what is read, so that evidence names where it came from first.
// `at` is in nanoseconds since 1970. A reading is a number, the reason for its absence
// (absence_name), or for NaN and infinities the 64 bits as "0x7ff8000000000000"; keys that are not
// there were not told. A double reads back bit for bit. Text that is not UTF-8 keeps its letters
// and has U+FFFD for the rest. Recordings may be joined with cat: a first line in the middle is
// skipped. The file around it is compressed (edge/record/); the lines alone are read as well.

namespace muster {

// Lines with their newline.
std::string encode_recording_head(WallTime at);
// `host` stands in where the row or note names none, `source` likewise.
std::string encode_recording_row(const TelemetryRow& row, std::string_view source,
                                 std::string_view host);
std::string encode_recording_note(const TelemetryNote& note, std::string_view source,
                                  std::string_view host);
std::string encode_recording_step(const StepRecord& record, std::string_view source);
std::string encode_recording_event(const ProgressEvent& event, std::string_view source);

bool looks_like_recording(std::string_view head);

// Lines of a newer version with metrics or notes that are not known here lose those alone, with one
// note of kind schema. A damaged line is lost with a note; a torn last line is `truncated`.
std::unique_ptr<Decoder> make_recording_decoder(const DecoderOptions& options);

}  // namespace muster
