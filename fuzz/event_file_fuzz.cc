// Any bytes as an event file of TensorBoard, in two chunkings: the same records. Checksums keep
// random bytes out, so they are read as one payload as well.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/progress/event_file.h"

namespace {

class Checked : public muster::ProgressSink {
 public:
  void step(const muster::StepRecord& record) override {
    MUSTER_CHECK(record.step >= 0, "steps are counted from 0");
    MUSTER_CHECK(!record.step_s || *record.step_s > 0, "a step takes time");
    sum = sum * 31 + static_cast<std::uint64_t>(record.step) + record.line;
  }
  void event(const muster::ProgressEvent&) override {}
  std::uint64_t sum = 0;
};

std::uint64_t read(std::string_view bytes, std::size_t chunk) {
  Checked sink;
  muster::EventFileDecoder decoder;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    decoder.feed(bytes.substr(at, chunk), sink);
  }
  return sink.sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  MUSTER_CHECK(read(bytes, size + 1) == read(bytes, 7), "chunks make no difference");
  muster::looks_like_event_file(bytes);
  Checked sink;
  muster::read_event_payload(bytes, sink);
  return 0;
}
