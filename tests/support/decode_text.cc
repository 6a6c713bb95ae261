#include "tests/support/decode_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/timestamp.h"

namespace muster {
namespace {

constexpr std::string_view kKinds[] = {"gpu", "port", "task", "node"};
constexpr std::string_view kNotes[] = {
    "gpu_lost",     "driver_mismatch", "driver_missing", "no_devices", "device_access",
    "reader_stuck", "source_error",    "damaged_line",   "truncated",  "schema"};

class TextSink final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    if (row.at)
      text += format_rfc3339(*row.at, row.at->time_since_epoch() % std::chrono::seconds(1) !=
                                          Duration::zero()) +
              (row.at_has_zone ? "+ " : " ");
    const SeriesKey& key = row.key;
    if (!key.host.empty()) text += fmt::format("{} ", key.host);
    text += kKinds[static_cast<int>(key.kind)];
    if (key.index) text += fmt::format(" {}", *key.index);
    if (key.rank) text += fmt::format(" rank {}", *key.rank);
    for (const std::string_view more : {key.uuid, key.pci, key.device, key.name, key.group}) {
      if (!more.empty()) text += fmt::format(" '{}'", more);
    }
    for (const MetricReading& r : row.readings) {
      const auto name = metric_row(r.metric).name;
      text += r.reading.has_value()
                  ? fmt::format(" {}={}", name, r.reading.value())
                  : fmt::format(" {}=({})", name, absence_name(r.reading.absence()));
    }
    text += '\n';
  }
  void note(const TelemetryNote& note) override {
    text += fmt::format("note {}@{}", kNotes[static_cast<int>(note.kind)], note.line);
    if (note.index) text += fmt::format(" gpu {}", *note.index);
    if (!note.pci.empty()) text += fmt::format(" {}", note.pci);
    text += fmt::format(": {}\n", note.text);
  }
  std::string text;
};

std::string rows_only(std::string_view text) {
  std::string rows;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    if (!text.starts_with("note ")) rows += text.substr(0, end);
    text.remove_prefix(end);
  }
  return rows;
}

}  // namespace

std::string decode_text(Dialect dialect, std::string_view text, std::size_t chunk,
                        const DecoderOptions& options) {
  TextSink sink;
  const auto decoder = make_decoder(dialect, options);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder->feed(text.substr(at, chunk), sink);
  }
  decoder->finish(sink);
  return sink.text;
}

void expect_holds_under_damage(Dialect dialect, std::string_view text) {
  const std::string whole = decode_text(dialect, text);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}}) {
    EXPECT_EQ(decode_text(dialect, text, chunk), whole) << "pieces of " << chunk << ": " << text;
  }
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const std::size_t line = text.substr(0, cut).rfind('\n');
    if (line == std::string_view::npos) continue;
    const std::string kept = rows_only(decode_text(dialect, text.substr(0, line + 1)));
    const std::string after = rows_only(decode_text(dialect, text.substr(0, cut)));
    EXPECT_TRUE(after.starts_with(kept) || dialect == Dialect::nvsmi_pmon) << text.substr(0, cut);
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped(text);
    for (const int bit : {0x01, 0x20, 0x80}) {
      flipped[at] = static_cast<char>(text[at] ^ bit);
      EXPECT_EQ(decode_text(dialect, flipped), decode_text(dialect, flipped, 7)) << flipped;
      recognise(flipped);
    }
  }
}

}  // namespace muster
