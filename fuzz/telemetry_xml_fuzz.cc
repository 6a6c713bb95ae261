#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/telemetry/nvsmi_xml.h"

namespace {

// Counts what is said, and holds the promise that no row is larger than the metrics there are.
class Counter : public muster::TelemetrySink {
 public:
  void row(const muster::TelemetryRow& row) override {
    MUSTER_CHECK(row.readings.size() <= muster::kMetricCount, "a metric comes once in a row");
    ++rows_;
    readings_ += row.readings.size();
  }
  void note(const muster::TelemetryNote&) override { ++notes_; }
  bool operator==(const Counter& other) const {
    return rows_ == other.rows_ && readings_ == other.readings_ && notes_ == other.notes_;
  }

 private:
  std::size_t rows_ = 0, readings_ = 0, notes_ = 0;
};

Counter decode(std::string_view text, std::size_t chunk) {
  Counter counter;
  const auto decoder = muster::make_nvsmi_xml_decoder({});
  for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size()))) {
    decoder->feed(text.substr(0, chunk), counter);
  }
  decoder->finish(counter);
  return counter;
}

}  // namespace

// The first byte chooses where the rest is cut; the answer must not depend on it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  muster::looks_like_nvsmi_xml(text);
  const Counter whole = decode(text, text.size() + 1);
  MUSTER_CHECK(decode(text, static_cast<std::size_t>(data[0]) + 1) == whole, "cuts change nothing");
  return 0;
}
