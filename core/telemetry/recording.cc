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
constexpr std::string_view kEvents[] = {"save_begin", "save_end",  "save_known", "eval_begin",
                                        "eval_end",   "compile",   "startup",    "epoch_end",
                                        "finished",   "restarted", "error",      "monitor_stuck"};
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

void put_double(JsonWriter& w, double number) {
  if (std::isfinite(number)) {
    w.value(number);
  } else {
    w.value(fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(number)));
  }
}

void put_reading(JsonWriter& w, const Reading& reading) {
  if (reading.has_value()) return put_double(w, reading.value());
  w.value(absence_name(reading.absence()));
}

// The numbers of a step line that may be missing: one table for writing and for reading.
struct StepNumber {
  std::string_view name;
  std::optional<double> StepRecord::* member;
};
constexpr StepNumber kStepNumbers[] = {{"loss", &StepRecord::loss},
                                       {"grad_norm", &StepRecord::grad_norm},
                                       {"learning_rate", &StepRecord::learning_rate},
                                       {"tokens_per_s", &StepRecord::tokens_per_s},
                                       {"step_s", &StepRecord::step_s},
                                       {"mfu_ratio", &StepRecord::mfu_ratio}};

// When and where a line of a step log stood.
template <typename T>
void put_log_place(JsonWriter& w, const T& said) {
  if (said.at) w.key("at").value(wall_to_ns(*said.at));
  if (said.at_has_zone) w.key("zone").value(true);
  if (!said.at_has_date) w.key("date").value(false);
  if (said.line != 0) w.key("line").value(said.line);
}

// One line of the file as values. Views live until the next parse.
struct Line {
  TelemetryRow row;
  std::vector<MetricReading> readings;
  std::optional<std::string_view> note;
  std::optional<StepRecord> step;
  std::optional<ProgressEvent> event;
  std::string_view text, schema;
  bool has_metrics = false, has_date = true, unknown_event = false;
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
    if (key == "index") return integer<int>(value, [&](int v) { k.index = v; });
    if (key == "rank") return integer<int>(value, [&](int v) { k.rank = v; });
    if (key == "line")
      return integer<std::uint64_t>(value, [&](std::uint64_t v) { out.row.line = v; });
    if (key == "host") return string(value, k.host);
    if (key == "uuid") return string(value, k.uuid);
    if (key == "pci") return string(value, k.pci);
    if (key == "src") return string(value, out.row.source);
    if (key == "device") return string(value, k.device);
    if (key == "name") return string(value, k.name);
    if (key == "group") return string(value, k.group);
    if (key == "text") return string(value, out.text);
    if (key == "schema") return string(value, out.schema);
    if (key == "step") return step(value, out.step.emplace());
    if (key == "event") return event(value, out);
    if (key == "date") return value.get_bool().get(out.has_date) == simdjson::SUCCESS;
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

  // Calls `take` with each key and value of an object; false where it or `take` fails.
  template <typename F>
  static bool members(Value value, F&& take) {
    simdjson::ondemand::object object;
    if (value.get_object().get(object)) return false;
    for (auto field : object) {
      std::string_view key;
      Value item;
      if (field.error() || field.unescaped_key().get(key) || field.value().get(item)) return false;
      if (!take(key, item)) return false;
    }
    return true;
  }

  static bool step(Value value, StepRecord& out) {
    return members(value, [&](std::string_view key, Value item) {
      if (key == "n") return integer<std::int64_t>(item, [&](std::int64_t v) { out.step = v; });
      if (key == "target")
        return integer<std::int64_t>(item, [&](std::int64_t v) { out.target_step = v; });
      if (key == "rank") return integer<int>(item, [&](int v) { out.rank = v; });
      for (const StepNumber& number : kStepNumbers) {
        if (key != number.name) continue;
        const auto reading = one_reading(item);
        if (!reading || !reading->has_value()) return false;
        out.*number.member = reading->value();
      }
      return true;
    });
  }

  static bool event(Value value, Line& out) {
    ProgressEvent& event = out.event.emplace();
    return members(value, [&](std::string_view key, Value item) {
      if (key == "n") return integer<std::int64_t>(item, [&](std::int64_t v) { event.step = v; });
      if (key == "duration_ns")
        return integer<std::int64_t>(item, [&](std::int64_t v) { event.duration = Duration(v); });
      if (key != "kind") return true;
      std::string_view name;
      if (!string(item, name)) return false;
      const auto found = find_name(kEvents, name);
      if (found) event.kind = static_cast<ProgressKind>(*found);
      out.unknown_event = !found;
      return true;
    });
  }

  static bool metrics(Value value, Line& out) {
    out.has_metrics = true;
    return members(value, [&](std::string_view key, Value item) {
      if (out.readings.size() >= limits::kColumns) return false;
      const auto metric = metric_from_name(key);
      const auto reading = one_reading(item);
      if (!reading) return false;
      if (metric) {
        out.readings.push_back({*metric, *reading});
      } else {
        out.unknown_names = true;
      }
      return true;
    });
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
    if (line_.step) return step(sink);
    if (line_.event) return event(sink);
    if (!line_.has_metrics) {
      sink.note({NoteKind::damaged_line, "neither a row, a note nor a step", line_number_, {}, {}});
      return;
    }
    if (line_.unknown_names) tell_newer(sink);
    line_.row.readings = line_.readings;
    line_.row.line = line_of_source();
    sink.row(line_.row);
  }

  void head(TelemetrySink& sink) {
    if (line_.schema != kSchema) tell_newer(sink);
  }

  void note(TelemetrySink& sink) {
    const auto kind = find_name(kNotes, *line_.note);
    if (!kind) return tell_newer(sink);
    const SeriesKey& key = line_.row.key;
    sink.note({static_cast<NoteKind>(*kind), line_.text, line_of_source(), key.pci, key.index,
               line_.row.source, key.host});
  }

  // The line of the first source, which may have none; our own where it is not known.
  std::uint64_t line_of_source() const {
    return line_.row.line == 0 && line_.row.source.empty() ? line_number_ : line_.row.line;
  }

  // When and where a line of the step log stood: keys that steps share with rows.
  template <typename T>
  T& placed(T& said) {
    said.at = line_.row.at;
    said.at_has_zone = line_.row.at_has_zone;
    said.at_has_date = line_.has_date;
    said.line = line_.row.line;
    return said;
  }
  void step(TelemetrySink& sink) { sink.step(placed(*line_.step), line_.row.source); }
  void event(TelemetrySink& sink) {
    if (line_.unknown_event) return tell_newer(sink);
    line_.event->text = line_.text;
    sink.event(placed(*line_.event), line_.row.source);
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
  put_text(w, "src", row.source.empty() ? source : row.source);
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

std::string encode_recording_note(const TelemetryNote& note, std::string_view source,
                                  std::string_view host) {
  JsonWriter w;
  w.begin_object();
  put_text(w, "src", note.source.empty() ? source : note.source);
  w.key("note").value(kNotes[static_cast<std::size_t>(note.kind)]);
  put_text(w, "host", note.host.empty() ? host : note.host);
  put_text(w, "text", note.text);
  if (note.line != 0) w.key("line").value(note.line);
  put_text(w, "pci", note.pci);
  if (note.index) w.key("index").value(*note.index);
  w.end_object();
  return w.take() + "\n";
}

std::string encode_recording_step(const StepRecord& record, std::string_view source) {
  JsonWriter w;
  w.begin_object();
  put_text(w, "src", source);
  w.key("step").begin_object().key("n").value(record.step);
  if (record.target_step) w.key("target").value(*record.target_step);
  if (record.rank) w.key("rank").value(*record.rank);
  for (const StepNumber& number : kStepNumbers) {
    if (!(record.*number.member)) continue;
    w.key(number.name);
    put_double(w, *(record.*number.member));
  }
  w.end_object();
  put_log_place(w, record);
  w.end_object();
  return w.take() + "\n";
}

std::string encode_recording_event(const ProgressEvent& event, std::string_view source) {
  JsonWriter w;
  w.begin_object();
  put_text(w, "src", source);
  w.key("event").begin_object();
  w.key("kind").value(kEvents[static_cast<std::size_t>(event.kind)]);
  if (event.step) w.key("n").value(*event.step);
  if (event.duration) {
    w.key("duration_ns").value(static_cast<std::int64_t>(event.duration->count()));
  }
  w.end_object();
  put_text(w, "text", event.text);
  put_log_place(w, event);
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
