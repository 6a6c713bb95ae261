#include "core/telemetry/prometheus_text.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/prometheus_page.h"

namespace muster {
namespace {

constexpr std::size_t kLabelsMax = 64;
constexpr std::string_view kScrapedAt = "# scraped_at ";

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

std::string_view take_name(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_name_char(text[n])) ++n;
  const std::string_view name = text.substr(0, n);
  text.remove_prefix(n);
  return name;
}

void skip_blanks(std::string_view& text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
}

// The value of a label behind its opening quote; false where no closing quote comes.
bool take_quoted(std::string_view& text, std::string& out) {
  out.clear();
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) return false;
    out += text.front() == 'n' ? '\n' : text.front();
    text.remove_prefix(1);
  }
  return false;
}

// "{a="b", c="d"}" at the front of `text`.
bool take_labels(std::string_view& text, PrometheusLabels& labels) {
  labels.clear();
  if (!text.starts_with('{')) return true;
  text.remove_prefix(1);
  for (;;) {
    skip_blanks(text);
    if (text.starts_with('}')) {
      text.remove_prefix(1);
      return true;
    }
    const std::string_view name = take_name(text);
    skip_blanks(text);
    if (name.empty() || !text.starts_with('=') || labels.size() == kLabelsMax) return false;
    text.remove_prefix(1);
    skip_blanks(text);
    if (!text.starts_with('"')) return false;
    text.remove_prefix(1);
    std::string value;
    if (!take_quoted(text, value)) return false;
    labels.emplace_back(std::string(name), std::move(value));
    skip_blanks(text);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
}

std::optional<double> parse_value(std::string_view text) {
  if (text == "NaN") return std::nan("");
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_double(text);
}

class PrometheusTextDecoder final : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { on_line(line, sink); });
  }
  void finish(TelemetrySink& sink) override {
    // A torn last line may be a number that goes on: it is left out.
    lines_.finish([&](std::string_view line, std::uint64_t) {
      if (!trim(line).empty() && !line.starts_with('#')) {
        sink.note({NoteKind::truncated, "the last line is cut", number_ + 1, {}, {}});
      }
    });
    page_.emit(page_at_, sink);
  }

 private:
  void on_line(std::string_view line, TelemetrySink& sink) {
    ++number_;
    line = trim(line);
    if (line.starts_with(kScrapedAt)) {
      page_.emit(page_at_, sink);
      const auto at = parse_timestamp(line.substr(kScrapedAt.size()));
      page_at_ = at ? std::optional(at->at) : std::nullopt;
      return;
    }
    if (line.empty() || line.starts_with('#')) return;
    std::string_view rest = line;
    const std::string_view name = take_name(rest);
    const PrometheusName* known = find_prometheus_name(name);
    const bool info = name == "nvidia_smi_gpu_info";
    if (known == nullptr && !info && name != "nvidia_smi_failed_scrapes_total") {
      if (name.empty()) sink.note({NoteKind::damaged_line, "no metric name", number_, {}, {}});
      return;
    }
    if (!read_sample(rest, sink)) {
      sink.note({NoteKind::damaged_line, "not a sample of Prometheus text", number_, {}, {}});
      return;
    }
    if (info) {
      page_.add_gpu_info(labels_);
    } else if (known == nullptr) {
      if (value_ > 0) {
        sink.note({NoteKind::schema, "the exporter counts failed scrapes", number_, {}, {}});
      }
    } else {
      if (page_.has(*known, labels_)) page_.emit(page_at_, sink);
      page_.add(*known, labels_, value_, at_, number_);
    }
  }

  bool read_sample(std::string_view rest, TelemetrySink&) {
    skip_blanks(rest);
    if (!take_labels(rest, labels_)) return false;
    skip_blanks(rest);
    const std::size_t blank = rest.find_first_of(" \t");
    const auto value = parse_value(rest.substr(0, blank));
    if (!value) return false;
    value_ = *value;
    at_.reset();
    if (blank == std::string_view::npos) return true;
    const auto millis = parse_int(trim(rest.substr(blank)));
    if (!millis || *millis < 0 || *millis > 9'000'000'000'000) return false;
    at_ = wall_from_ns(*millis * 1'000'000);
    return true;
  }

  LineSplitter lines_;
  PrometheusPage page_;
  PrometheusLabels labels_;
  double value_ = 0;
  std::optional<WallTime> at_, page_at_;
  std::uint64_t number_ = 0;
};

}  // namespace

bool looks_like_prometheus_text(std::string_view head) {
  for (std::string_view line : split(head, '\n')) {
    line = trim(line);
    if (line.starts_with(kScrapedAt)) return true;
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) line.remove_prefix(7);
    if (line.starts_with('#')) continue;
    const std::string_view name = take_name(line);
    if (find_prometheus_name(name) != nullptr && (line.starts_with('{') || line.starts_with(' '))) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<Decoder> make_prometheus_text_decoder(const DecoderOptions&) {
  return std::make_unique<PrometheusTextDecoder>();
}

}  // namespace muster
