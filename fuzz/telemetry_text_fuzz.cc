// Any bytes to every line dialect: never a crash, and the same rows and notes in two chunkings. The
// first byte picks the dialect.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/check.h"
#include "core/telemetry/decoder.h"

namespace {

constexpr muster::Dialect kDialects[] = {
    muster::Dialect::nvsmi_csv,  muster::Dialect::table_csv,  muster::Dialect::nvsmi_dmon,
    muster::Dialect::nvsmi_pmon, muster::Dialect::dcgmi_dmon, muster::Dialect::nvsmi_list,
};

class Sum : public muster::TelemetrySink {
 public:
  void row(const muster::TelemetryRow& row) override {
    add(row.line);
    add(static_cast<std::uint64_t>(row.key.index.value_or(-1)));
    add(static_cast<std::uint64_t>(row.key.rank.value_or(-1)));
    add(row.at ? static_cast<std::uint64_t>(muster::wall_to_ns(*row.at)) : 1);
    for (const std::string_view text :
         {row.key.host, row.key.uuid, row.key.pci, row.key.device, row.key.name, row.key.group}) {
      add(text);
    }
    for (const muster::MetricReading& r : row.readings) {
      add(static_cast<std::uint64_t>(r.metric));
      if (r.reading.has_value()) {
        MUSTER_CHECK(r.reading.value() == r.reading.value(), "a value is a number");
      } else {
        add(static_cast<std::uint64_t>(r.reading.absence()) + 100);
      }
    }
  }
  void note(const muster::TelemetryNote& note) override {
    add(static_cast<std::uint64_t>(note.kind));
    add(note.line);
    add(note.text);
    add(note.pci);
  }
  std::uint64_t sum() const { return sum_; }

 private:
  void add(std::uint64_t n) { sum_ = sum_ * 1099511628211U + n + 1; }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  std::uint64_t sum_ = 0;
};

std::uint64_t read(muster::Dialect dialect, std::string_view text, std::size_t chunk) {
  Sum sink;
  const auto decoder = muster::make_decoder(dialect, {});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder->feed(text.substr(at, chunk), sink);
  }
  decoder->finish(sink);
  return sink.sum();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const muster::Dialect dialect = kDialects[data[0] % std::size(kDialects)];
  MUSTER_CHECK(read(dialect, text, size) == read(dialect, text, 7), "chunks make no difference");
  muster::recognise(text);
  return 0;
}
