// Any bytes, in two chunkings: never a crash, the same steps and events, lines in rising order.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/progress/progress_decoder.h"

namespace {

class Checked : public muster::ProgressSink {
 public:
  void step(const muster::StepRecord& record) override {
    MUSTER_CHECK(record.step >= 0, "steps are counted from 0");
    MUSTER_CHECK(!record.step_s || *record.step_s > 0, "a step takes time");
    MUSTER_CHECK(!record.mfu_ratio || (*record.mfu_ratio >= 0 && *record.mfu_ratio <= 1),
                 "a ratio");
    MUSTER_CHECK(record.line >= last_line_, "records come in the order of the lines");
    last_line_ = record.line;
    sum_ = sum_ * 31 + static_cast<std::uint64_t>(record.step) + record.line;
  }
  void event(const muster::ProgressEvent& event) override {
    MUSTER_CHECK(!event.duration || *event.duration >= muster::Duration::zero(), "no time back");
    MUSTER_CHECK(event.line >= last_line_, "events come in the order of the lines");
    last_line_ = event.line;
    sum_ = sum_ * 37 + static_cast<std::uint64_t>(event.kind) + event.line;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t last_line_ = 0;
  std::uint64_t sum_ = 0;
};

std::uint64_t read(std::string_view log, std::size_t chunk) {
  Checked sink;
  muster::ProgressDecoder decoder;
  for (std::size_t at = 0; at < log.size(); at += chunk) decoder.feed(log.substr(at, chunk), sink);
  decoder.finish(sink);
  return sink.sum();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  MUSTER_CHECK(read(log, size + 1) == read(log, 7), "chunks make no difference");
  muster::looks_like_progress(log);
  return 0;
}
