#include "core/telemetry/prometheus_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/telemetry/prometheus_page.h"

namespace muster {
namespace {

namespace json = simdjson::ondemand;

// "NaN", "+Inf", "-Inf" and numbers, as Prometheus quotes them.
std::optional<double> parse_value(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf" || text == "-Inf") return std::numeric_limits<double>::infinity();
  return parse_double(text);
}

// One element of `result`, or where it is damaged, false. Nothing of a damaged one is added.
class ResultReader {
 public:
  bool read(json::object element) {
    labels_.clear();
    samples_.clear();
    name_.clear();
    for (auto field : element) {
      std::string_view key;
      if (field.unescaped_key().get(key)) return false;
      json::value value;
      if (field.value().get(value)) return false;
      if (key == "metric" && !read_labels(value)) return false;
      if (key == "value" && !read_sample(value)) return false;
      if (key == "values" && !read_samples(value)) return false;
    }
    return true;
  }

  void add_to(PrometheusPage& page, TelemetrySink& sink) const {
    std::vector<PrometheusLabel> labels;
    labels.reserve(labels_.size());
    for (const auto& [name, value] : labels_) labels.push_back({name, value});
    for (const auto& [at, value] : samples_) page.add({name_, labels, value, at, 0}, sink);
  }

 private:
  bool read_labels(json::value value) {
    json::object object;
    if (value.get_object().get(object)) return false;
    for (auto field : object) {
      std::string_view key, text;
      if (field.unescaped_key().get(key)) return false;
      std::string name(key);
      if (field.value().get_string().get(text)) return false;
      if (name == "__name__") {
        name_ = text;
      } else {
        labels_.emplace_back(std::move(name), text);
      }
    }
    return true;
  }

  bool read_samples(json::value value) {
    json::array array;
    if (value.get_array().get(array)) return false;
    for (auto item : array) {
      json::value sample;
      if (item.get(sample) || !read_sample(sample)) return false;
    }
    return true;
  }

  // [seconds, "value"]
  bool read_sample(json::value value) {
    json::array array;
    if (value.get_array().get(array)) return false;
    double seconds = -1;
    std::optional<double> number;
    int place = 0;
    for (auto item : array) {
      std::string_view text;
      if (place == 0 && item.get_double().get(seconds)) return false;
      if (place == 1) {
        if (item.get_string().get(text)) return false;
        number = parse_value(text);
      }
      if (++place > 2) return false;
    }
    constexpr double kLatest = 9e9;  // the year 2255: int64 nanoseconds end in 2262
    if (!number || !(seconds >= 0) || seconds >= kLatest) return false;
    // Prometheus counts milliseconds; as a double the seconds of today are a little beside them.
    const std::chrono::milliseconds at(std::llround(seconds * 1e3));
    samples_.emplace_back(WallTime(at), *number);
    return true;
  }

  std::string name_;
  std::vector<std::pair<std::string, std::string>> labels_;
  std::vector<std::pair<WallTime, double>> samples_;
};

// Length of the JSON object that `text` begins with; 0 where it has no end.
std::size_t object_length(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i + 1;
  }
  return 0;
}

class PrometheusJsonDecoder : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink&) override {
    const std::size_t room = limits::kDocumentBytes - text_.size();
    text_ += chunk.substr(0, room);
  }

  // Each element of `result` is parsed for itself: one that is damaged is lost alone, and a torn
  // document gives what stood before the tear.
  void finish(TelemetrySink& sink) override {
    if (trim(text_).empty()) return;
    if (note_error(sink)) return;
    constexpr std::string_view kResult = "\"result\"";
    const std::size_t result = text_.find(kResult);
    std::size_t at = result == std::string::npos
                         ? result
                         : text_.find_first_not_of(" \t\r\n:", result + kResult.size());
    if (at == std::string::npos || text_[at] != '[') {
      sink.note({at == std::string::npos ? NoteKind::truncated : NoteKind::schema,
                 "no list of results",
                 0,
                 {},
                 {}});
      return;
    }
    read_results(at + 1, sink);
    page_.flush(std::nullopt, true, sink);
    text_.clear();
  }

 private:
  void read_results(std::size_t at, TelemetrySink& sink) {
    const std::string_view text = text_;
    for (;;) {
      at = text.find_first_not_of(" \t\r\n,", at);
      if (at == std::string_view::npos) return truncated(sink);
      if (text[at] == ']') break;
      if (text[at] != '{') {
        sink.note({NoteKind::damaged_line, "text between two results", 0, {}, {}});
        at = text.find('{', at);
        if (at == std::string_view::npos) return truncated(sink);
      }
      const std::size_t length = object_length(text.substr(at));
      if (length == 0) return truncated(sink);
      read_result(text.substr(at, length), sink);
      at += length;
    }
    // The two brackets that close `data` and the document.
    if (text.find('}', at) == std::string_view::npos) truncated(sink);
  }

  void read_result(std::string_view text, TelemetrySink& sink) {
    const simdjson::padded_string padded(text);
    json::document document;
    json::object object;
    const bool whole = !parser_.iterate(padded).get(document) &&
                       !document.get_object().get(object) && reader_.read(object);
    if (whole) {
      reader_.add_to(page_, sink);
    } else {
      sink.note({NoteKind::damaged_line, "a result is damaged", 0, {}, {}});
    }
  }

  bool note_error(TelemetrySink& sink) {
    const simdjson::padded_string padded(text_);
    json::document document;
    std::string_view status;
    if (parser_.iterate(padded).get(document)) return false;
    if (document["status"].get_string().get(status) || status != "error") return false;
    std::string_view type, error;
    std::string kind = "error";
    if (!document["errorType"].get_string().get(type)) kind = type;
    if (document["error"].get_string().get(error)) error = "no reason given";
    sink.note({NoteKind::source_error, fmt::format("{}: {}", kind, error), 0, {}, {}});
    return true;
  }

  static void truncated(TelemetrySink& sink) {
    sink.note({NoteKind::truncated, "the document has no end", 0, {}, {}});
  }

  std::string text_;
  json::parser parser_;
  ResultReader reader_;
  PrometheusPage page_;
};

}  // namespace

bool looks_like_prometheus_json(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') return false;
  const bool status = head.find("\"status\"") != std::string_view::npos;
  const bool data = head.find("\"resultType\"") != std::string_view::npos ||
                    head.find("\"errorType\"") != std::string_view::npos;
  return status && data;
}

std::unique_ptr<Decoder> make_prometheus_json_decoder(const DecoderOptions&) {
  return std::make_unique<PrometheusJsonDecoder>();
}

}  // namespace muster
