#include "core/kernel/kernel_envelope.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/colours.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/model/json_reader.h"

namespace muster {
namespace {

// Wraps one inside another: no real line has more than six.
constexpr int kMaxPieces = 10;

using Piece = re2::StringPiece;

// Damaged bytes in a message must not hide its stamp.
struct Pattern : RE2 {
  explicit Pattern(const char* text) : RE2(text, RE2::Latin1) {}
};

struct Patterns {
  Pattern level{R"(<\d{1,3}>(?:1 )?)"};
  Pattern facility{R"(kern *:\w+ *: ?)"};
  Pattern kmsg{R"(\d{1,4},\d{1,20},(\d{1,18}),[^;]{1,64};)"};
  Pattern since_boot{R"(\[ *(\d{1,9}\.\d{1,9})(?: *<[^>]{0,32}>)?\] ?(?:\[ *[TC]\d+\] ?)?)"};
  Pattern ctime{R"(\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?)"};
  Pattern minute{R"(\[(\w{3} ?\d{1,2}) (\d\d:\d\d)\] ?)"};
  Pattern step{R"(\[ *\+(\d{1,9}\.\d{1,9})\] ?)"};
  Pattern syslog{R"((\w{3} +\d{1,2}) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) )"};
  Pattern iso{R"((?:\w{3} )?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?))"
              R"( ?(Z|UTC|[+-]\d\d:?\d\d|GMT|[A-Z]{2,4}T)? )"};
  Pattern unix{R"((\d{9,11})\.(\d{6}) )"};
  Pattern host{R"((\S{1,255}) (?:kern\.\w+ )?kernel(?:\[\d+\])?: ?)"};
  Pattern structured{R"((\S{1,255}) kernel \S+ \S+ (?:-|\[[^\]]*\]) ?)"};
  Pattern stream{R"((?:stdout|stderr) [FP] )"};
  Pattern file{R"(([\w./@-]{1,255}): ?)"};
};

const Patterns& patterns() {
  static const Patterns kPatterns;
  return kPatterns;
}

// Takes what `pattern` matches at the front of `text`.
template <typename... Parts>
bool take(std::string_view& text, const RE2& pattern, Parts*... parts) {
  Piece rest(text.data(), text.size());
  if (!RE2::Consume(&rest, pattern, parts...)) return false;
  text = {rest.data(), rest.size()};
  return true;
}

std::string_view view(const Piece& piece) {
  return {piece.data(), piece.size()};
}

std::optional<Duration> seconds(const Piece& text) {
  const auto value = parse_double(view(text));
  if (!value) return std::nullopt;
  return seconds_to_duration(*value);
}

// Whether "HOST kernel" may stand at the front: most messages have no such word there.
bool names_kernel(std::string_view text) {
  constexpr std::size_t kMostHost = 255;
  constexpr std::string_view kWord = " kern";  // "kernel:", "kern.warn kernel:"
  const std::size_t blank = text.substr(0, kMostHost + 1).find(' ');
  return blank != std::string_view::npos && text.substr(blank).starts_with(kWord);
}

const std::string* text_of(const JsonNode& object, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const JsonNode* node = object.find(key);
    if (node == nullptr) continue;
    if (const auto* text = node->get<std::string>()) return text;
  }
  return nullptr;
}

// journalctl writes a message with bytes that are no text as an array of them.
std::optional<std::string> bytes_of(const JsonNode& object) {
  const JsonNode* node = object.find("MESSAGE");
  const auto* bytes = node != nullptr ? node->get<JsonNode::Array>() : nullptr;
  if (bytes == nullptr) return std::nullopt;
  std::string out;
  for (const JsonNode& byte : *bytes) {
    const auto* value = byte.get<std::int64_t>();
    if (value != nullptr && *value >= 0 && *value < 256) out += static_cast<char>(*value);
  }
  return out;
}

void set_wall(KernelLine& out, std::optional<ParsedTime> time) {
  if (!time || !time->has_date || out.time.at) return;
  out.time.at = time->at;
  out.time.has_zone = time->has_zone;
}

// Of a journal in JSON: microseconds since the epoch, and since boot.
void set_journal_times(KernelLine& out, const JsonNode& object) {
  constexpr std::string_view kReal[] = {"__REALTIME_TIMESTAMP"};
  constexpr std::string_view kBoot[] = {"_SOURCE_MONOTONIC_TIMESTAMP", "__MONOTONIC_TIMESTAMP"};
  constexpr std::int64_t kMostUs = 4'000'000'000'000'000;  // the year 2096
  const auto micros = [&](std::span<const std::string_view> keys) -> std::optional<Duration> {
    const std::string* text = text_of(object, keys);
    const auto value = text != nullptr ? parse_int(*text) : std::nullopt;
    if (!value || *value < 0 || *value > kMostUs) return std::nullopt;
    return std::chrono::microseconds(*value);
  };
  if (const auto at = micros(kReal)) {
    out.time.at = WallTime(*at);
    out.time.has_zone = true;
  }
  if (const auto at = micros(kBoot)) out.time.since_boot = *at;
}

}  // namespace

std::optional<WallTime> KernelEnvelope::dated(std::string_view month_day,
                                              std::string_view clock) const {
  if (!written_ || month_day.size() < 4) return std::nullopt;
  const auto month = parse_month(month_day);
  const auto day = parse_int(trim(month_day.substr(3)));
  if (!month || !day || *day < 1 || *day > 31) return std::nullopt;
  return in_year_before(*written_, *month, static_cast<int>(*day), clock);
}

void KernelEnvelope::follow(std::string_view line) {
  if (line.size() < 3 || line.front() != '[') return;
  std::string_view text = line;
  if (line[1] == ' ' || line[1] == '+') {
    const std::size_t at = line.find_first_not_of(' ', 1);
    if (at == std::string_view::npos || line[at] != '+') return;
    Piece step;
    if (!take(text, patterns().step, &step)) return;
    const auto by = seconds(step);
    if (!by || !stepped_) return;
    // A minute and more is told as a time; a sum of steps that leads out of the calendar is none.
    constexpr WallTime kEnd = WallTime(std::chrono::hours(24 * 365 * 200));
    if (*by > std::chrono::hours(1) || *stepped_ > kEnd) {
      stepped_.reset();
    } else {
      *stepped_ += *by;
    }
    return;
  }
  // "[May15 06:30] ": a step of a minute or more.
  if (line[1] < 'A' || line[1] > 'Z') return;
  Piece month_day, clock;
  if (!take(text, patterns().minute, &month_day, &clock)) return;
  stepped_ = dated(view(month_day), fmt::format("{}:00", view(clock)));
}

bool KernelEnvelope::take_bracket(std::string_view& text, KernelLine& out) {
  Piece first, second;
  if (take(text, patterns().since_boot, &first)) {
    out.time.since_boot = seconds(first);
    return true;
  }
  if (take(text, patterns().ctime, &first)) {
    set_wall(out, parse_timestamp(view(first)));
    return true;
  }
  if (take(text, patterns().step, &first) || take(text, patterns().minute, &first, &second)) {
    if (!out.time.at) out.time.at = stepped_;
    return true;
  }
  return false;
}

bool KernelEnvelope::take_stamp(std::string_view& text, KernelLine& out) {
  Piece first, second;
  if (is_digit(text.front())) {
    if (take(text, patterns().kmsg, &first)) {
      if (const auto us = parse_int(view(first))) {
        out.time.since_boot = std::chrono::microseconds(std::min<std::int64_t>(*us, 1ll << 52));
      }
      return true;
    }
    if (take(text, patterns().unix, &first, &second)) {
      constexpr std::int64_t kMostSeconds = 4'000'000'000;  // the year 2096
      const auto whole = parse_int(view(first)), micros = parse_int(view(second));
      if (whole && micros && *whole <= kMostSeconds && !out.time.at) {
        out.time.at = WallTime(std::chrono::seconds(*whole) + std::chrono::microseconds(*micros));
        out.time.has_zone = true;
      }
      return true;
    }
  }
  // "2026-..." or "Sat 2026-...".
  const bool maybe_iso = is_digit(text.front()) || (text.size() > 4 && is_digit(text[4]));
  if (maybe_iso && take(text, patterns().iso, &first, &second)) {
    const std::string_view zone = view(second);
    // "CEST" and its like are names of more than one zone each.
    const bool known = zone == "Z" || zone == "UTC" || (!zone.empty() && zone.front() < 'A');
    set_wall(out, parse_timestamp(fmt::format("{}{}", view(first), known ? zone : "")));
    return true;
  }
  const bool maybe_syslog = text.size() > 3 && text[3] == ' ';
  if (maybe_syslog && take(text, patterns().syslog, &first, &second)) {
    if (!out.time.at) out.time.at = dated(view(first), view(second));
    return true;
  }
  return false;
}

bool KernelEnvelope::take_json(std::string_view& text, KernelLine& out) {
  constexpr std::string_view kMessage[] = {"MESSAGE", "message", "log", "msg"};
  constexpr std::string_view kHost[] = {"_HOSTNAME", "hostname", "host"};
  constexpr std::string_view kTime[] = {"time", "timestamp", "@timestamp"};
  constexpr std::string_view kProgram[] = {"SYSLOG_IDENTIFIER", "_COMM"};
  const auto document = parse_json(text);
  if (!document) return false;
  const std::string* program = text_of(*document, kProgram);
  if (program != nullptr && *program != "kernel") return false;
  const std::string* message = text_of(*document, kMessage);
  std::optional<std::string> bytes;
  if (message == nullptr) bytes = bytes_of(*document);
  if (message == nullptr && !bytes) return false;
  if (const std::string* host = text_of(*document, kHost)) out.host = *host;
  set_journal_times(out, *document);
  if (const std::string* time = text_of(*document, kTime)) set_wall(out, parse_timestamp(*time));
  // The old text may lie in the one buffer while the other is filled.
  std::string& buffer = text.data() == unwrapped_[0].data() ? unwrapped_[1] : unwrapped_[0];
  buffer = bytes ? *bytes : *message;
  text = trim(buffer);
  return true;
}

KernelLine KernelEnvelope::read(std::string_view line) {
  KernelLine out;
  std::string_view text = line;
  if (text.find('\x1b') != std::string_view::npos) {
    plain_ = without_colours(text);
    text = plain_;
  }
  const Patterns& p = patterns();
  Piece first;
  int documents = 0;
  for (int i = 0; i < kMaxPieces && !text.empty(); ++i) {
    const char c = text.front();
    if (c == '{') {
      // Two levels: a container's JSON around a shipper's.
      if (++documents > 2 || !take_json(text, out)) break;
    } else if (c == '[') {
      if (!take_bracket(text, out)) break;
    } else if (c == '<') {
      if (!take(text, p.level)) break;
    } else if (take_stamp(text, out) || (text.starts_with("std") && take(text, p.stream))) {
      continue;
    } else if (names_kernel(text) &&
               (take(text, p.host, &first) || take(text, p.structured, &first))) {
      out.host = std::string(view(first));
    } else if (text.starts_with("kern ") && take(text, p.facility)) {
      continue;
    } else if (text.starts_with("kernel: ")) {
      text.remove_prefix(8);
    } else {
      // A host or a file stands in front of something that is a stamp for sure, or it is none.
      std::string_view rest = text;
      if (i != 0 || !take(rest, p.file, &first) || rest.empty()) break;
      KernelLine inside = out;
      std::string_view tried = rest;
      const bool stamped = rest.front() == '[' ? take_bracket(tried, inside)
                                               : rest.front() == '<' || take_stamp(tried, inside);
      if (!stamped) break;
      const bool file =
          first.find('/') != Piece::npos || first.ends_with(".log") || first.ends_with(".txt");
      if (!file) out.host = std::string(view(first));
      text = rest;
    }
  }
  out.message = text;
  return out;
}

}  // namespace muster
