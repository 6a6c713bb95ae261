#include "core/telemetry/prometheus_text.h"

#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/prometheus_page.h"

namespace muster {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_name_char(char c, bool first) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':') return true;
  return !first && c >= '0' && c <= '9';
}

// One sample line. `fail` stays nullptr where the line keeps to the grammar.
class LineParser {
 public:
  explicit LineParser(std::string_view line) : rest_(line) {}

  const char* parse(PrometheusSample& out) {
    labels_.clear();
    unescaped_.clear();
    skip_blanks();
    out.name = take_name();
    if (out.name.empty()) return "no metric name";
    skip_blanks();
    has_labels_ = take('{');
    if (has_labels_ && !take_labels()) return "damaged labels";
    out.labels = labels_;
    const std::string_view number = take_word();
    const auto value = parse_value(number);
    if (!value) return "no number";
    out.value = *value;
    const std::string_view stamp = take_word();
    if (stamp.empty() || stamp.starts_with('#')) return nullptr;  // '#': an OpenMetrics exemplar
    out.at = parse_stamp(stamp);
    if (!out.at) return "damaged time stamp";
    const std::string_view more = take_word();
    return more.empty() || more.starts_with('#') ? nullptr : "more than one sample on a line";
  }
  bool has_labels() const { return has_labels_; }

 private:
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_name() {
    std::size_t n = 0;
    while (n < rest_.size() && is_name_char(rest_[n], n == 0)) ++n;
    const std::string_view name = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return name;
  }
  std::string_view take_word() {
    skip_blanks();
    std::size_t n = 0;
    while (n < rest_.size() && !is_blank(rest_[n])) ++n;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  bool take_labels() {
    for (;;) {
      skip_blanks();
      if (take('}')) return rest_.empty() || is_blank(rest_[0]);
      const std::string_view name = take_name();
      skip_blanks();
      if (name.empty() || !take('=')) return false;
      skip_blanks();
      std::string_view value;
      if (!take('"') || !take_quoted(value)) return false;
      labels_.push_back({name, value});
      skip_blanks();
      if (!take(',') && !rest_.starts_with('}')) return false;
    }
  }
  bool take_quoted(std::string_view& value) {
    std::size_t n = 0;
    bool escaped = false;
    while (n < rest_.size() && rest_[n] != '"') {
      escaped = escaped || rest_[n] == '\\';
      n += rest_[n] == '\\' ? 2 : 1;
    }
    if (n >= rest_.size()) return false;
    value = rest_.substr(0, n);
    rest_.remove_prefix(n + 1);
    if (escaped) value = unescaped_.emplace_back(unescape(value));
    return true;
  }
  static std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        out += text[i];
        continue;
      }
      ++i;
      out += text[i] == 'n' ? '\n' : text[i];
    }
    return out;
  }
  static std::optional<double> parse_value(std::string_view text) {
    if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf") return -std::numeric_limits<double>::infinity();
    if (text.starts_with('+')) text.remove_prefix(1);
    return parse_double(text);
  }
  // Milliseconds (Prometheus) or, with a point or below 9*10^9, seconds (OpenMetrics).
  static std::optional<WallTime> parse_stamp(std::string_view text) {
    constexpr std::int64_t kSecondsBelow = 9'000'000'000;
    constexpr std::int64_t kMillisBelow = 9'000'000'000'000;
    if (const auto whole = parse_int(text)) {
      if (*whole < 0 || *whole >= kMillisBelow) return std::nullopt;
      return wall_from_ns(*whole * (*whole < kSecondsBelow ? 1'000'000'000 : 1'000'000));
    }
    const auto seconds = parse_double(text);
    if (!seconds || !(*seconds >= 0) || *seconds >= 9e9) return std::nullopt;
    return WallTime(seconds_to_duration(*seconds));
  }

  std::string_view rest_;
  bool has_labels_ = false;
  std::vector<PrometheusLabel> labels_;
  std::deque<std::string> unescaped_;  // a deque: views into it stay good
};

constexpr std::string_view kScrapedAt = "scraped_at";

// "# WORD rest" -> WORD and rest.
bool parse_comment(std::string_view line, std::string_view& word, std::string_view& rest) {
  line = trim(line);
  if (!line.starts_with('#')) return false;
  line = trim(line.substr(1));
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  word = line.substr(0, end);
  rest = trim(line.substr(end));
  return true;
}

class PrometheusTextDecoder : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { on_line(line, sink); });
  }

  void finish(TelemetrySink& sink) override {
    lines_.finish([&](std::string_view line, std::uint64_t) {
      if (trim(line).empty()) return;
      sink.note({NoteKind::truncated, "the last line has no end", number_ + 1, {}, {}});
    });
    end_page(sink);
    if (lines_.dropped() > 0) {
      sink.note({NoteKind::damaged_line, "a line above the limit was dropped", number_, {}, {}});
    }
  }

 private:
  void on_line(std::string_view line, TelemetrySink& sink) {
    ++number_;
    if (trim(line).empty()) return;
    std::string_view word, rest;
    if (parse_comment(line, word, rest)) return on_comment(word, rest, sink);
    PrometheusSample sample;
    LineParser parser(line);
    if (const char* why = parser.parse(sample)) {
      sink.note({NoteKind::damaged_line, why, number_, {}, {}});
      return;
    }
    sample.line = number_;
    const auto identity = identity_of(line, sample.at.has_value());
    if (page_bytes_ + line.size() > limits::kDocumentBytes || seen_.contains(identity)) {
      end_page(sink);
    }
    page_bytes_ += line.size();
    seen_.insert(identity);
    page_.add(sample, sink);
  }

  // What says that a sample was on this page before: its name and labels (with its time, where it
  // has one: a dump lists one series at many times).
  static std::size_t identity_of(std::string_view line, bool stamped) {
    const std::size_t labels_end = line.rfind('}');
    std::size_t end = labels_end;
    if (labels_end == std::string_view::npos) end = line.find_first_of(" \t");
    return std::hash<std::string_view>{}(stamped ? line : line.substr(0, end));
  }

  void on_comment(std::string_view word, std::string_view rest, TelemetrySink& sink) {
    if (word == "EOF") return end_page(sink);
    if (word != kScrapedAt) return;
    end_page(sink);
    const auto time = parse_timestamp(rest);
    if (time && time->has_zone) {
      at_ = time->at;
    } else {
      sink.note({NoteKind::damaged_line, "scraped_at without a time and a zone", number_, {}, {}});
    }
  }

  // The next page has no time until it says so.
  void end_page(TelemetrySink& sink) {
    page_.flush(at_, false, sink);
    seen_.clear();
    page_bytes_ = 0;
    at_.reset();
  }

  LineSplitter lines_;
  PrometheusPage page_;
  std::unordered_set<std::size_t> seen_;
  std::optional<WallTime> at_;
  std::size_t page_bytes_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace

bool looks_like_prometheus_text(std::string_view head) {
  for (std::string_view line : split(head, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    std::string_view word, rest;
    if (parse_comment(line, word, rest)) {
      if (word == "HELP" || word == "TYPE" || word == "UNIT" || word == kScrapedAt) return true;
      continue;
    }
    PrometheusSample sample;
    LineParser parser(line);
    if (parser.parse(sample) != nullptr) return false;
    return is_known_prometheus_name(sample.name) || parser.has_labels();
  }
  return false;
}

std::unique_ptr<Decoder> make_prometheus_text_decoder(const DecoderOptions&) {
  return std::make_unique<PrometheusTextDecoder>();
}

}  // namespace muster
