// Any bytes as a recording: never a crash, the same in two chunkings, and what was read is written
// and read again as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/telemetry/recording.h"

namespace {

class Again final : public muster::TelemetrySink {
 public:
  void row(const muster::TelemetryRow& row) override {
    text += muster::encode_recording_row(row, "", "");
  }
  void note(const muster::TelemetryNote& note) override {
    text += muster::encode_recording_note(note, "", "");
  }
  void step(const muster::StepRecord& record, std::string_view source) override {
    text += muster::encode_recording_step(record, source);
  }
  void event(const muster::ProgressEvent& event, std::string_view source) override {
    text += muster::encode_recording_event(event, source);
  }
  std::string text;
};

std::string again(std::string_view text, std::size_t chunk) {
  Again out;
  const auto decoder = muster::make_recording_decoder({});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder->feed(text.substr(at, chunk), out);
  }
  decoder->finish(out);
  return out.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::looks_like_recording(text);
  const std::string once = again(text, size);
  MUSTER_CHECK(again(text, 7) == once, "chunks make no difference");
  MUSTER_CHECK(again(once, once.size() + 1) == once, "what was read is written as it was");
  return 0;
}
