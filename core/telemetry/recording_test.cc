#include "core/telemetry/recording.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/limits.h"

namespace muster {
namespace {

// What came out, as text that two sides can be compared by: doubles by their bits.
class Collect final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override { rows.push_back(describe(row)); }
  void note(const TelemetryNote& note) override {
    notes.push_back(note.kind);
    texts.emplace_back(note.text);
    origins.push_back(std::string(note.source) + "@" + std::string(note.host));
  }
  void step(const StepRecord& s, std::string_view source) override {
    steps.push_back(describe(s, source));
  }
  void event(const ProgressEvent& e, std::string_view source) override {
    steps.push_back(describe(e, source));
  }
  static std::string describe(const StepRecord& s, std::string_view source) {
    std::string out = std::string(source) + " step " + std::to_string(s.step) + place(s) +
                      number(s.target_step) + number(s.rank);
    for (const auto& n :
         {s.loss, s.grad_norm, s.learning_rate, s.tokens_per_s, s.step_s, s.mfu_ratio}) {
      out += n ? " " + std::to_string(std::bit_cast<std::uint64_t>(*n)) : " none";
    }
    return out;
  }
  static std::string describe(const ProgressEvent& e, std::string_view source) {
    return std::string(source) + " event " + std::to_string(static_cast<int>(e.kind)) + place(e) +
           number(e.step) + (e.duration ? std::to_string(e.duration->count()) : "none") +
           std::string(e.text);
  }
  static std::string describe(const TelemetryRow& r) {
    std::string out = std::to_string(static_cast<int>(r.key.kind)) + "|";
    for (const std::string_view s :
         {r.key.host, r.key.uuid, r.key.pci, r.key.device, r.key.name, r.key.group}) {
      out += std::string(s) + "|";
    }
    out += (r.key.index ? std::to_string(*r.key.index) : "none") + "|";
    out += (r.key.rank ? std::to_string(*r.key.rank) : "none") + "|";
    out += (r.at ? std::to_string(wall_to_ns(*r.at)) : "none") + (r.at_has_zone ? "z|" : "|");
    out += std::to_string(r.line) + "|" + std::string(r.source);
    for (const MetricReading& m : r.readings) {
      out += " " + std::string(metric_row(m.metric).name) + "=";
      out += m.reading.has_value() ? std::to_string(std::bit_cast<std::uint64_t>(m.reading.value()))
                                   : std::string(absence_name(m.reading.absence()));
    }
    return out;
  }
  std::vector<std::string> rows, texts, origins, steps;
  std::vector<NoteKind> notes;

 private:
  template <typename T>
  static std::string number(const std::optional<T>& n) {
    return n ? " " + std::to_string(*n) : " none";
  }
  template <typename T>
  static std::string place(const T& said) {
    return (said.at ? " " + std::to_string(wall_to_ns(*said.at)) : " none") +
           (said.at_has_zone ? "z" : "") + (said.at_has_date ? "d" : "") + ":" +
           std::to_string(said.line);
  }
};

Collect decode(std::string_view text, std::size_t chunk = 1 << 20) {
  Collect out;
  const auto decoder = make_recording_decoder({});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder->feed(text.substr(at, chunk), out);
  }
  decoder->finish(out);
  return out;
}

// Rows of every kind, with every field there or not and doubles of any bits.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}
  StepRecord step() {
    StepRecord s;
    s.step = static_cast<std::int64_t>(rng_());
    place(s);
    if (rng_() % 2) s.target_step = static_cast<std::int64_t>(rng_());
    if (rng_() % 2) s.rank = static_cast<int>(rng_());
    for (auto* n :
         {&s.loss, &s.grad_norm, &s.learning_rate, &s.tokens_per_s, &s.step_s, &s.mfu_ratio}) {
      const Reading r = reading();
      if (r.has_value()) *n = r.value();
    }
    return s;
  }
  ProgressEvent event() {
    ProgressEvent e;
    e.kind = static_cast<ProgressKind>(rng_() % 12);
    place(e);
    if (rng_() % 2) e.step = static_cast<std::int64_t>(rng_());
    if (rng_() % 2) e.duration = Duration(static_cast<std::int64_t>(rng_()));
    e.text = kTexts[rng_() % std::size(kTexts)];
    return e;
  }
  TelemetryRow next() {
    TelemetryRow row;
    row.key.kind = static_cast<SeriesKind>(rng_() % 4);
    for (std::string_view* s : {&row.key.host, &row.key.uuid, &row.key.pci, &row.key.device,
                                &row.key.name, &row.key.group}) {
      *s = kTexts[rng_() % std::size(kTexts)];
    }
    if (rng_() % 2) row.key.index = static_cast<int>(rng_());
    if (rng_() % 2) row.key.rank = static_cast<int>(rng_());
    if (rng_() % 4) row.at = wall_from_ns(static_cast<std::int64_t>(rng_()));
    row.at_has_zone = rng_() % 2;
    row.line = rng_() % 1000;
    readings_.clear();
    for (std::size_t n = rng_() % 9; n > 0; --n) {
      readings_.push_back({static_cast<Metric>(rng_() % kMetricCount), reading()});
    }
    row.readings = readings_;
    return row;
  }

 private:
  static constexpr std::string_view kTexts[] = {
      "", "n1", "GPU-5f\"\\/", "\n\t\x01{}[]:,", "\xe2\x82\xac \xf0\x9f\x98\x80", "rack=7"};
  template <typename T>
  void place(T& said) {
    if (rng_() % 4) said.at = wall_from_ns(static_cast<std::int64_t>(rng_()));
    said.at_has_zone = rng_() % 2;
    said.at_has_date = rng_() % 2;
    said.line = rng_() % 1000;
  }
  Reading reading() {
    switch (rng_() % 5) {
      case 0:
        return Reading::absent(static_cast<Absence>(rng_() % 10));
      case 1:
        return Reading::of(std::bit_cast<double>(rng_()));
      case 2:
        return Reading::of(static_cast<double>(rng_() % 2000) / 100);
      case 3: {
        constexpr double kCorners[] = {0.0,
                                       -0.0,
                                       std::numeric_limits<double>::denorm_min(),
                                       std::numeric_limits<double>::max(),
                                       -std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(),
                                       1e22,
                                       9007199254740993.0};
        return Reading::of(kCorners[rng_() % std::size(kCorners)]);
      }
      default:
        return Reading::of(static_cast<double>(rng_()));
    }
  }
  std::mt19937_64 rng_;
  std::vector<MetricReading> readings_;
};

TEST(Recording, ReadsBackEveryRowBitForBit) {
  Generator generator(7);
  std::string text = encode_recording_head(wall_from_ns(1));
  std::vector<std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    TelemetryRow row = generator.next();
    row.source = "nvml";
    expected.push_back(Collect::describe(row));
    text += encode_recording_row(row, "nvml", "");
  }
  for (const std::size_t chunk : {1u << 20, 7u}) {
    const Collect out = decode(text, chunk);
    EXPECT_TRUE(out.notes.empty());
    EXPECT_EQ(out.rows, expected);
  }
}

TEST(Recording, ReadsBackEveryNote) {
  std::string text = encode_recording_head(wall_from_ns(1));
  for (int i = 0; i <= static_cast<int>(NoteKind::schema); ++i) {
    text +=
        encode_recording_note({static_cast<NoteKind>(i), "why\n", 3, "0000:3b:00", 2}, "s", "n1");
  }
  const Collect out = decode(text);
  ASSERT_EQ(out.notes.size(), 10u);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(out.notes[static_cast<std::size_t>(i)], static_cast<NoteKind>(i));
  EXPECT_EQ(out.texts[0], "why\n");
  EXPECT_EQ(out.origins, std::vector<std::string>(10, "s@n1"));
  // What was recorded from a recording keeps its first source.
  TelemetryNote again{NoteKind::gpu_lost, "", 0, {}, {}, "first", "n7"};
  EXPECT_EQ(decode(encode_recording_note(again, "s", "n1")).origins[0], "first@n7");
}

TEST(Recording, ReadsBackEveryStepAndEvent) {
  Generator generator(11);
  std::string text = encode_recording_head(wall_from_ns(1));
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const StepRecord step = generator.step();
    const ProgressEvent event = generator.event();
    expected.push_back(Collect::describe(step, "a.log"));
    expected.push_back(Collect::describe(event, "b.log"));
    text += encode_recording_step(step, "a.log") + encode_recording_event(event, "b.log");
  }
  const Collect out = decode(text);
  EXPECT_TRUE(out.notes.empty());
  EXPECT_TRUE(out.rows.empty());
  EXPECT_EQ(out.steps, expected);
}

TEST(Recording, IsKnownByItsFirstLineAndTakesTheHostOfItsSource) {
  EXPECT_TRUE(looks_like_recording(encode_recording_head(wall_from_ns(1))));
  EXPECT_EQ(recognise(encode_recording_head(wall_from_ns(1))), Dialect::recording);
  EXPECT_FALSE(looks_like_recording("{\"schema\":\"muster.report/1\"}"));
  EXPECT_FALSE(looks_like_recording(""));
  EXPECT_NE(encode_recording_row({}, "s", "n7").find("\"host\":\"n7\""), std::string::npos);
}

TEST(Recording, LosesDamagedLinesAlone) {
  const std::string good = encode_recording_row({}, "s", "n1");
  for (const std::string_view bad : {"x",
                                     "{",
                                     "[]",
                                     "{}",
                                     "null",
                                     "{\"m\":1}",
                                     "{\"m\":{\"power_w\":null}}",
                                     "{\"m\":{\"power_w\":\"no such reason\"}}",
                                     "{\"m\":{\"power_w\":1}} x",
                                     "{\"m\":{},\"index\":99999999999}",
                                     "{\"m\":{},\"index\":1.5}",
                                     "{\"m\":{},\"at\":\"1\"}",
                                     "{\"m\":{},\"kind\":\"cpu\"}",
                                     "{\"m\":{},\"host\":7}",
                                     "{\"m\":{},\"zone\":1}",
                                     "{\"m\":{\"power_w\":\"0x0000000000000000\"}}",
                                     "{\"m\":{\"power_w\":1e999}}",
                                     "{\"m\":{\"power_w\":01}}",
                                     "{\"m\":{\"power_w\":[1]}}",
                                     "{\"note\":1}",
                                     "{\"step\":1}",
                                     "{\"step\":{\"n\":1.5}}",
                                     "{\"step\":{\"n\":1,\"loss\":\"lost\"}}",
                                     "{\"step\":{\"n\":1},\"date\":0}",
                                     "{\"event\":{\"kind\":7}}",
                                     "{\"event\":[]}",
                                     "{\"m\":{},\"host\":\"\xff\"}"}) {
    const Collect out = decode(good + std::string(bad) + "\n" + good);
    EXPECT_EQ(out.rows.size(), 2u) << bad;
    ASSERT_EQ(out.notes.size(), 1u) << bad;
    EXPECT_EQ(out.notes[0], NoteKind::damaged_line) << bad;
  }
  const Collect longer = decode(good + std::string(limits::kLineBytes + 1, 'x') + "\n" + good);
  EXPECT_EQ(longer.rows.size(), 2u);
  EXPECT_EQ(longer.notes.size(), 1u);
}

TEST(Recording, LeavesOutWhatANewerVersionSays) {
  const Collect out = decode(
      "{\"schema\":\"muster.recording/2\"}\n"
      "{\"kind\":\"gpu\",\"m\":{\"power_w\":5,\"new_w\":6},\"new\":{\"a\":[1]}}\n"
      "{\"note\":\"new_note\"}\n"
      "{\"event\":{\"kind\":\"new_kind\"}}\n"
      "{\"step\":{\"n\":5,\"new\":[1]}}\n");
  EXPECT_EQ(out.rows.size(), 1u);
  EXPECT_EQ(out.steps.size(), 1u);
  ASSERT_EQ(out.notes.size(), 1u);
  EXPECT_EQ(out.notes[0], NoteKind::schema);
}

TEST(Recording, SurvivesACutAndAFlipAtEveryByte) {
  Generator generator(3);
  std::string text = encode_recording_head(wall_from_ns(1));
  for (int i = 0; i < 6; ++i) text += encode_recording_row(generator.next(), "s", "n1");
  text += encode_recording_step(generator.step(), "s");
  text += encode_recording_event(generator.event(), "s");
  const Collect whole = decode(text);
  ASSERT_EQ(whole.rows.size(), 6u);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const Collect cut = decode(text.substr(0, at));
    ASSERT_LE(cut.rows.size(), 6u);
    for (std::size_t i = 0; i < cut.rows.size(); ++i) ASSERT_EQ(cut.rows[i], whole.rows[i]);
    ASSERT_LE(cut.notes.size(), 1u);
    for (const NoteKind kind : cut.notes) ASSERT_EQ(kind, NoteKind::truncated);
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    ASSERT_GE(decode(flipped).rows.size(), 4u) << at;  // a lost newline costs two
  }
}

}  // namespace
}  // namespace muster
