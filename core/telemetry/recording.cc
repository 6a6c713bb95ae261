#include "core/telemetry/recording.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/line_splitter.h"
#include "base/text.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.recording/1";
constexpr std::string_view kHead = "{\"schema\":\"muster.recording/";
constexpr std::string_view kKinds[] = {"gpu", "port", "task", "node"};
constexpr std::string_view kNotes[] = {
    "gpu_lost",     "driver_mismatch", "driver_missing", "no_devices", "device_access",
    "reader_stuck", "source_error",    "damaged_line",   "truncated",  "schema"};
// The longest text of a note that is kept: a line must stay readable as a line.
constexpr std::size_t kTextBytes = 16 * 1024;

template <std::size_t N>
std::optional<std::size_t> find_name(const std::string_view (&names)[N], std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

std::optional<Absence> absence_from_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Absence::mig); ++i) {
    if (absence_name(static_cast<Absence>(i)) == name) return static_cast<Absence>(i);
  }
  return std::nullopt;
}

void put_text(JsonWriter& w, std::string_view key, std::string_view text) {
  if (!text.empty()) w.key(key).value(text.substr(0, kTextBytes));
}

void put_reading(JsonWriter& w, const Reading& reading) {
  if (!reading.has_value()) {
    w.value(absence_name(reading.absence()));
  } else if (std::isfinite(reading.value())) {
    w.value(reading.value());
  } else {
    w.value(fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(reading.value())));
  }
}

// One line of the file as values. Views live until the next parse.
struct Line {
  TelemetryRow row;
  std::vector<MetricReading> readings;
  std::optional<std::string_view> note;
  std::string_view text, pci, schema;
  std::optional<int> index;
  bool has_metrics = false;
  bool unknown_names = false;
};

class LineParser {
 public:
  LineParser() { buffer_.resize(4096 + simdjson::SIMDJSON_PADDING); }

  // Nothing, or the reason why the line is none of ours.
  std::string_view parse(std::string_view text, Line& out) {
    if (buffer_.size() < text.size() + simdjson::SIMDJSON_PADDING) {
      buffer_.resize(text.size() * 2 + simdjson::SIMDJSON_PADDING);
    }
    std::memcpy(buffer_.data(), text.data(), text.size());
    std::memset(buffer_.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
    out = Line{};
    return read(text.size(), out) ? std::string_view() : "no line of a recording";
  }

 private:
  using Value = simdjson::ondemand::value;

  bool read(std::size_t size, Line& out) {
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    const simdjson::padded_string_view view(buffer_.data(), size, buffer_.size());
    if (parser_.iterate(view).get(document) || document.get_object().get(object)) return false;
    for (auto field : object) {
      std::string_view key;
      Value value;
      if (field.error() || field.unescaped_key().get(key) || field.value().get(value)) return false;
      if (!member(key, value, out)) return false;
    }
    // Behind the object there is nothing: then, and only then, there is no location.
    const char* rest = nullptr;
    return document.current_location().get(rest) != simdjson::SUCCESS;
  }

  // False where the value is not what the key promises; keys that are not known are passed by.
  bool member(std::string_view key, Value value, Line& out) {
    SeriesKey& k = out.row.key;
    if (key == "m") return metrics(value, out);
    if (key == "at")
      return integer<std::int64_t>(value, [&](std::int64_t ns) { out.row.at = wall_from_ns(ns); });
    if (key == "zone") return value.get_bool().get(out.row.at_has_zone) == simdjson::SUCCESS;
    if (key == "kind") return kind(value, out);
    if (key == "index") return integer<int>(value, [&](int v) { out.index = k.index = v; });
    if (key == "rank") return integer<int>(value, [&](int v) { k.rank = v; });
    if (key == "line")
      return integer<std::uint64_t>(value, [&](std::uint64_t v) { out.row.line = v; });
    if (key == "host") return string(value, k.host);
    if (key == "uuid") return string(value, k.uuid);
    if (key == "pci") return string(value, k.pci) && (out.pci = k.pci, true);
    if (key == "device") return string(value, k.device);
    if (key == "name") return string(value, k.name);
    if (key == "group") return string(value, k.group);
    if (key == "text") return string(value, out.text);
    if (key == "schema") return string(value, out.schema);
    if (key == "note") {
      std::string_view name;
      if (!string(value, name)) return false;
      out.note = name;
      return true;
    }
    simdjson::ondemand::json_type type;
    return value.type().get(type) == simdjson::SUCCESS;
  }

  static bool string(Value value, std::string_view& out) {
    return value.get_string().get(out) == simdjson::SUCCESS;
  }

  template <typename T, typename F>
  static bool integer(Value value, F&& take) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      std::uint64_t number = 0;
      if (value.get_uint64().get(number)) return false;
      take(number);
    } else {
      std::int64_t number = 0;
      if (value.get_int64().get(number)) return false;
      if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
        return false;
      }
      take(static_cast<T>(number));
    }
    return true;
  }

  static bool kind(Value value, Line& out) {
    std::string_view name;
    if (!string(value, name)) return false;
    const auto found = find_name(kKinds, name);
    if (found) out.row.key.kind = static_cast<SeriesKind>(*found);
    return found.has_value();
  }

  static bool metrics(Value value, Line& out) {
    simdjson::ondemand::object object;
    if (value.get_object().get(object)) return false;
    out.has_metrics = true;
    for (auto field : object) {
      std::string_view key;
      Value item;
      if (field.error() || field.unescaped_key().get(key) || field.value().get(item)) return false;
      if (out.readings.size() >= limits::kColumns) return false;
      const auto metric = metric_from_name(key);
      const auto reading = one_reading(item);
      if (!reading) return false;
      if (metric) {
        out.readings.push_back({*metric, *reading});
      } else {
        out.unknown_names = true;
      }
    }
    return true;
  }

  static std::optional<Reading> one_reading(Value value) {
    simdjson::ondemand::json_type type;
    if (value.type().get(type)) return std::nullopt;
    if (type == simdjson::ondemand::json_type::string) {
      std::string_view text;
      if (!string(value, text)) return std::nullopt;
      if (text.size() == 18 && text.starts_with("0x")) {
        const auto bits = parse_hex(text);
        if (!bits || std::isfinite(std::bit_cast<double>(*bits))) return std::nullopt;
        return Reading::of(std::bit_cast<double>(*bits));
      }
      const auto why = absence_from_name(text);
      return why ? std::optional(Reading::absent(*why)) : std::nullopt;
    }
    double number = 0;
    if (value.get_double().get(number)) return std::nullopt;
    return Reading::of(number);
  }

  simdjson::ondemand::parser parser_;
  std::string buffer_;
};

class RecordingDecoder final : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { take(line, false, sink); });
    tell_dropped(sink);
  }

  void finish(TelemetrySink& sink) override {
    lines_.finish([&](std::string_view line, std::uint64_t) { take(line, true, sink); });
    tell_dropped(sink);
  }

 private:
  void take(std::string_view text, bool torn, TelemetrySink& sink) {
    ++line_number_;
    if (trim(text).empty()) return;
    const std::string_view wrong = parser_.parse(text, line_);
    if (!wrong.empty()) {
      sink.note({torn ? NoteKind::truncated : NoteKind::damaged_line, wrong, line_number_, {}, {}});
      return;
    }
    if (!line_.schema.empty()) return head(sink);
    if (line_.note) return note(sink);
    if (!line_.has_metrics) {
      sink.note({NoteKind::damaged_line, "neither a row nor a note", line_number_, {}, {}});
      return;
    }
    if (line_.unknown_names) tell_newer(sink);
    line_.row.readings = line_.readings;
    if (line_.row.line == 0) line_.row.line = line_number_;
    sink.row(line_.row);
  }

  void head(TelemetrySink& sink) {
    if (line_.schema != kSchema) tell_newer(sink);
  }

  void note(TelemetrySink& sink) {
    const auto kind = find_name(kNotes, *line_.note);
    if (!kind) return tell_newer(sink);
    const std::uint64_t number = line_.row.line == 0 ? line_number_ : line_.row.line;
    sink.note({static_cast<NoteKind>(*kind), line_.text, number, line_.pci, line_.index});
  }

  void tell_newer(TelemetrySink& sink) {
    if (told_newer_) return;
    told_newer_ = true;
    sink.note({NoteKind::schema,
               "written by another version: what is not known here is left out",
               line_number_,
               {},
               {}});
  }

  void tell_dropped(TelemetrySink& sink) {
    for (; told_dropped_ < lines_.dropped(); ++told_dropped_) {
      sink.note({NoteKind::damaged_line, "a line longer than the limit", 0, {}, {}});
    }
  }

  LineSplitter lines_;
  LineParser parser_;
  Line line_;
  std::uint64_t line_number_ = 0, told_dropped_ = 0;
  bool told_newer_ = false;
};

}  // namespace

std::string encode_recording_head(WallTime at) {
  JsonWriter w;
  w.begin_object().key("schema").value(kSchema).key("at").value(wall_to_ns(at)).end_object();
  return w.take() + "\n";
}

std::string encode_recording_row(const TelemetryRow& row, std::string_view source,
                                 std::string_view host) {
  JsonWriter w;
  w.begin_object();
  put_text(w, "src", source);
  if (row.at) w.key("at").value(wall_to_ns(*row.at));
  if (row.at_has_zone) w.key("zone").value(true);
  w.key("kind").value(kKinds[static_cast<std::size_t>(row.key.kind)]);
  put_text(w, "host", row.key.host.empty() ? host : row.key.host);
  put_text(w, "uuid", row.key.uuid);
  put_text(w, "pci", row.key.pci);
  if (row.key.index) w.key("index").value(*row.key.index);
  if (row.key.rank) w.key("rank").value(*row.key.rank);
  put_text(w, "device", row.key.device);
  put_text(w, "name", row.key.name);
  put_text(w, "group", row.key.group);
  if (row.line != 0) w.key("line").value(row.line);
  w.key("m").begin_object();
  for (const MetricReading& r :
       row.readings.first(std::min(row.readings.size(), limits::kColumns))) {
    w.key(metric_row(r.metric).name);
    put_reading(w, r.reading);
  }
  w.end_object().end_object();
  return w.take() + "\n";
}

std::string encode_recording_note(const TelemetryNote& note, std::string_view source) {
  JsonWriter w;
  w.begin_object();
  put_text(w, "src", source);
  w.key("note").value(kNotes[static_cast<std::size_t>(note.kind)]);
  put_text(w, "text", note.text);
  if (note.line != 0) w.key("line").value(note.line);
  put_text(w, "pci", note.pci);
  if (note.index) w.key("index").value(*note.index);
  w.end_object();
  return w.take() + "\n";
}

bool looks_like_recording(std::string_view head) {
  return head.starts_with(kHead);
}

std::unique_ptr<Decoder> make_recording_decoder(const DecoderOptions&) {
  return std::make_unique<RecordingDecoder>();
}

}  // namespace muster
