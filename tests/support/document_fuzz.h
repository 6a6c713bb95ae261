#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "core/telemetry/decoder.h"

// The body of the fuzz targets of documents (JSON, Prometheus text, XML).

namespace muster::testkit {

// Counts what is said, and holds the promise that no row is larger than the metrics there are.
class DocumentCounter : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    MUSTER_CHECK(row.readings.size() <= kMetricCount, "a metric comes once in a row");
    ++rows_;
    readings_ += row.readings.size();
  }
  void note(const TelemetryNote&) override { ++notes_; }
  bool operator==(const DocumentCounter& other) const {
    return rows_ == other.rows_ && readings_ == other.readings_ && notes_ == other.notes_;
  }

 private:
  std::size_t rows_ = 0, readings_ = 0, notes_ = 0;
};

// The first byte chooses where the rest is cut; the answer must not depend on it. Returns 0.
inline int fuzz_document(const std::uint8_t* data, std::size_t size,
                         bool (*looks_like)(std::string_view head),
                         std::unique_ptr<Decoder> (*make)(const DecoderOptions& options)) {
  if (size == 0) return 0;
  const std::string_view document(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto decode = [&](std::size_t chunk) {
    DocumentCounter counter;
    const auto decoder = make({});
    std::string_view text = document;
    for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size()))) {
      decoder->feed(text.substr(0, chunk), counter);
    }
    decoder->finish(counter);
    return counter;
  };
  looks_like(document);
  MUSTER_CHECK(decode(std::size_t{data[0]} + 1) == decode(size), "cuts change nothing");
  return 0;
}

}  // namespace muster::testkit
