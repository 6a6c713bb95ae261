// Any bytes as an answer of Prometheus about training steps: records rise in time.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/progress/step_metrics.h"

namespace {

class Checked : public muster::ProgressSink {
 public:
  void step(const muster::StepRecord& record) override {
    MUSTER_CHECK(record.step >= 0, "steps are counted from 0");
    MUSTER_CHECK(record.at && (!last || *record.at > *last), "in order of time");
    last = record.at;
  }
  void event(const muster::ProgressEvent&) override {}
  std::optional<muster::WallTime> last;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  muster::looks_like_step_metrics(json);
  Checked sink;
  const auto read = muster::read_step_metrics(json, sink);
  MUSTER_CHECK(read || !read.error().context.empty(), "a failure has a reason");
  return 0;
}
