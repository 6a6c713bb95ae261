#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/decoder.h"

// For the tests of the document readers: what a decoder said, owned, and the two tortures that
// every one of them must stand.

namespace muster::testkit {

struct SeenRow {
  SeriesKind kind = SeriesKind::gpu;
  std::string host, uuid, pci, device, name;
  std::optional<int> index, rank;
  std::optional<WallTime> at;
  bool at_has_zone = false;
  std::vector<MetricReading> readings;

  std::optional<Reading> get(Metric metric) const {
    for (const MetricReading& r : readings) {
      if (r.metric == metric) return r.reading;
    }
    return std::nullopt;
  }
  double value(Metric metric) const {
    const auto reading = get(metric);
    return reading && reading->has_value() ? reading->value() : -12345;
  }
  std::string absence(Metric metric) const {
    const auto reading = get(metric);
    if (!reading) return "no reading";
    return reading->has_value() ? "a value" : std::string(absence_name(reading->absence()));
  }
};

struct SeenNote {
  NoteKind kind;
  std::string text, pci;
};

class Seen : public TelemetrySink {
 public:
  void row(const TelemetryRow& r) override {
    const SeriesKey& k = r.key;
    rows.push_back({k.kind,
                    std::string(k.host),
                    std::string(k.uuid),
                    std::string(k.pci),
                    std::string(k.device),
                    std::string(k.name),
                    k.index,
                    k.rank,
                    r.at,
                    r.at_has_zone,
                    {r.readings.begin(), r.readings.end()}});
  }
  void note(const TelemetryNote& n) override {
    notes.push_back({n.kind, std::string(n.text), std::string(n.pci)});
  }
  int count(NoteKind kind) const {
    int n = 0;
    for (const SeenNote& note : notes) n += note.kind == kind ? 1 : 0;
    return n;
  }
  std::vector<SeenRow> rows;
  std::vector<SeenNote> notes;
};

using Make = std::unique_ptr<Decoder> (*)(const DecoderOptions&);

// Feeds `text` in pieces of `chunk` bytes.
inline Seen decode(Make make, std::string_view text, std::size_t chunk = 1 << 20) {
  Seen seen;
  const auto decoder = make({});
  for (std::size_t i = 0; i < text.size(); i += chunk) decoder->feed(text.substr(i, chunk), seen);
  decoder->finish(seen);
  return seen;
}

// Cut at every byte: no crash, never more rows than the whole has, and each of them is one of its
// readings or an absence: a cut never makes a number.
inline void cut_everywhere(Make make, const std::string& text) {
  const Seen whole = decode(make, text);
  for (std::size_t n = 0; n < text.size(); ++n) {
    const Seen part = decode(make, text.substr(0, n), 7);
    ASSERT_LE(part.rows.size(), whole.rows.size()) << "cut at " << n;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      for (const MetricReading& r : part.rows[i].readings) {
        if (!r.reading.has_value()) continue;
        ASSERT_EQ(whole.rows[i].value(r.metric), r.reading.value())
            << "cut at " << n << ": " << metric_row(r.metric).name;
      }
    }
  }
}

// Three flips of every byte: no crash, and every value that comes is a number.
inline void flip_everywhere(Make make, const std::string& text) {
  for (std::size_t n = 0; n < text.size(); ++n) {
    for (const int flip : {0x01, 0x20, 0x80}) {
      std::string bad = text;
      bad[n] = static_cast<char>(bad[n] ^ flip);
      const Seen seen = decode(make, bad);
      ASSERT_LE(seen.rows.size(), 16U) << "flip at " << n;
    }
  }
}

}  // namespace muster::testkit
