#include "core/progress/line_head.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "core/progress/number.h"

namespace muster::progress {
namespace {

constexpr std::size_t kStampReach = 64;  // a stamp starts in the first bytes of its line
constexpr int kMaxRank = 1'000'000;

// Cheap, in front of take_launcher_tag: nearly no line has a tag.
bool may_be_tag(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] != '[') return is_digit(text[0]);
  return text.size() > 1 && (text[1] == 'd' || lower(text[1]) == 'r');
}

// "N: " of srun -l and "[defaultN]:" or "[rankN]:" of torchrun; true when something was taken.
bool take_launcher_tag(std::string_view& text, std::optional<int>& rank) {
  std::string_view rest = text;
  const bool bracket = rest.starts_with('[');
  if (bracket) {
    rest.remove_prefix(1);
    std::size_t letters = 0;
    while (letters < rest.size() && is_letter(rest[letters])) ++letters;
    const std::string_view word = rest.substr(0, letters);
    if (word != "default" && word != "rank" && word != "Rank") return false;
    rest.remove_prefix(letters);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  const auto number = take_count(rest);
  if (!number || *number > kMaxRank) return false;
  if (bracket) {
    if (!rest.starts_with(']')) return false;
    rest.remove_prefix(1);
    if (rest.starts_with(':')) rest.remove_prefix(1);
  } else {
    if (!rest.starts_with(": ")) return false;
    rest.remove_prefix(1);
  }
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  rank = static_cast<int>(*number);
  text = rest;
  return true;
}

bool clock_at(std::string_view text, std::size_t i) {
  if (i + 8 > text.size()) return false;
  const char* p = text.data() + i;
  return p[2] == ':' && p[5] == ':' && is_digit(p[0]) && is_digit(p[1]) && is_digit(p[3]) &&
         is_digit(p[4]) && is_digit(p[6]) && is_digit(p[7]);
}

// Where "hh:mm:ss" stands in the first bytes, npos if nowhere.
std::size_t find_clock(std::string_view text) {
  const std::string_view reach = text.substr(0, kStampReach);
  for (std::size_t at = reach.find(':'); at != std::string_view::npos;
       at = reach.find(':', at + 1)) {
    if (at >= 2 && clock_at(text, at - 2)) return at - 2;
  }
  return std::string_view::npos;
}

// Length of the date that ends just before `end` (with its separator), 0 if there is none.
// "2026-08-01 ", "2026-08-01T", "2026/07/25 ", "20260801 ", "24-11-04 ".
std::size_t date_before(std::string_view text, std::size_t end) {
  if (end < 9 || (text[end - 1] != ' ' && lower(text[end - 1]) != 't' && text[end - 1] != '_')) {
    return 0;
  }
  for (const std::size_t length : {std::size_t{10}, std::size_t{8}}) {
    if (end < length + 1) continue;
    const std::string_view date = text.substr(end - 1 - length, length);
    const bool shape = std::all_of(date.begin(), date.end(),
                                   [](char c) { return is_digit(c) || c == '-' || c == '/'; });
    if (shape && is_digit(date[0]) && (end == length + 1 || !is_digit(text[end - 2 - length]))) {
      return length + 1;
    }
  }
  return 0;
}

// Where the stamp's clock, fraction and zone end.
std::size_t clock_end(std::string_view text, std::size_t clock) {
  std::size_t i = clock + 8;
  if (i + 1 < text.size() && (text[i] == '.' || text[i] == ',') && is_digit(text[i + 1])) {
    ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
  }
  if (i < text.size() && (text[i] == 'Z' || text[i] == 'z')) return i + 1;
  if (text.substr(i).starts_with(" UTC")) return i + 4;
  std::size_t j = i;
  if (j + 1 < text.size() && text[j] == ' ' && (text[j + 1] == '+')) ++j;
  if (j + 5 <= text.size() && (text[j] == '+' || text[j] == '-') && is_digit(text[j + 1]) &&
      is_digit(text[j + 2])) {
    const std::size_t colon = text[j + 3] == ':' ? 1 : 0;
    if (j + 5 + colon <= text.size() && is_digit(text[j + 3 + colon]) &&
        is_digit(text[j + 4 + colon])) {
      return j + 5 + colon;
    }
  }
  return i;
}

// Words that may stand in front of a stamp: "[anything]", a log level, a glog letter with its date
// ("E0213", "[E213"), the weekday and month of ctime.
bool is_head_word(std::string_view word) {
  while (!word.empty() && (word.back() == ':' || word.back() == '-')) word.remove_suffix(1);
  if (word.empty()) return true;
  if (word.front() == '[') return true;
  if (word.size() <= 5 && word.size() >= 3 && std::strchr("IWEFD", word.front()) != nullptr &&
      is_digit(word[1])) {
    return true;
  }
  static constexpr std::array<std::string_view, 8> kLevels = {
      "INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL", "FATAL", "TRACE"};
  for (const std::string_view level : kLevels) {
    if (equals_ignoring_case(word, level)) return true;
  }
  return false;
}

bool is_head(std::string_view before) {
  int words = 0;
  while (!before.empty()) {
    const std::size_t blank = std::min(before.find(' '), before.size());
    const std::string_view word = before.substr(0, blank);
    if (!word.empty() && (!is_head_word(word) || ++words > 4)) return false;
    before.remove_prefix(std::min(blank + 1, before.size()));
  }
  return true;
}

// "Aug  1 12:00:00 2026" with the weekday in front: the whole text of the stamp, or empty.
std::string_view ctime_around(std::string_view text, std::size_t clock) {
  const std::size_t start = text.starts_with('[') ? 1 : 0;
  if (clock < start + 11 || clock > start + 12 || !is_letter(text[start])) return {};
  const std::size_t end = clock + 13;
  if (end > text.size() || text[clock + 8] != ' ') return {};
  return text.substr(start, end - start);
}

// Takes the words between stamp and message: "] ", " - root - INFO - ", "[INFO] ", "[Rank 0] ".
void skip_log_words(std::string_view& text, std::optional<int>& rank) {
  if (text.starts_with(']')) text.remove_prefix(1);
  for (;;) {
    const std::size_t blank = text.starts_with(' ') ? 1 : 0;
    if (blank == text.size() || (text[blank] != '[' && !is_digit(text[blank]))) return;
    std::string_view rest = text.substr(blank);
    if (may_be_tag(rest) && take_launcher_tag(rest, rank)) {
      text = rest;
      continue;
    }
    if (!rest.starts_with('[')) return;
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos || close > 80) return;
    const std::string_view inside = rest.substr(1, close - 1);
    if (inside.find('=') != std::string_view::npos) return;    // "[batch=4/9]" is a message
    if (find_clock(inside) != std::string_view::npos) return;  // the next stamp
    if (close + 1 < rest.size() && rest[close + 1] != ' ' && rest[close + 1] != ':') return;
    if (close + 1 == rest.size()) return;  // "[relaunch]" alone is a message
    text = rest.substr(close + 1);
  }
}

std::optional<ParsedTime> read_stamp(std::string_view text) {
  if (text.size() > 8 && text[2] == '-' && text[5] == '-') {  // "24-11-04 09:13:20"
    return parse_timestamp("20" + std::string(text));
  }
  return parse_timestamp(text);
}

// The stamp that is text[begin, end), where it stands at the head.
bool take_parsed(std::string_view& text, std::size_t begin, std::size_t end,
                 const ParsedTime& parsed, std::optional<ParsedTime>& time) {
  if (!is_head(text.substr(0, begin))) return false;
  time = {parsed.at, parsed.has_zone, parsed.has_date};
  text.remove_prefix(end);
  return true;
}

// The stamp at the head of `text`, which moves behind it.
bool take_stamp(std::string_view& text, std::optional<ParsedTime>& time) {
  const std::size_t clock = find_clock(text);
  if (clock == std::string_view::npos) return false;
  const std::string_view ctime = ctime_around(text, clock);
  if (!ctime.empty()) {
    if (const auto parsed = parse_timestamp(ctime)) {
      const auto begin = static_cast<std::size_t>(ctime.data() - text.data());
      return take_parsed(text, begin, begin + ctime.size(), *parsed, time);
    }
  }
  const std::size_t begin = clock - date_before(text, clock);
  const std::size_t end = clock_end(text, clock);
  if (end < text.size() && std::strchr("] \t)|-:;", text[end]) == nullptr) return false;
  if (begin > 0 && text[begin - 1] != '[' && text[begin - 1] != ' ' && text[begin - 1] != '(') {
    return false;
  }
  const auto parsed = read_stamp(text.substr(begin, end - begin));
  return parsed && take_parsed(text, begin, end, *parsed, time);
}

// "stdout F " and "stderr P " of the container runtime's log format.
void skip_cri(std::string_view& text) {
  for (const std::string_view mark : {" stdout F ", " stderr F ", " stdout P ", " stderr P "}) {
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
  }
}

}  // namespace

LineHead parse_line_head(std::string_view line) {
  LineHead head;
  for (int i = 0; i < 3; ++i) {  // collector's stamp, launcher's tag, the trainer's own stamp
    if (line.empty()) break;
    bool any = false;
    if (may_be_tag(line)) any = take_launcher_tag(line, head.rank);
    if (take_stamp(line, head.time)) {
      any = true;
      skip_cri(line);
      skip_log_words(line, head.rank);
      if (line.starts_with(' ')) line.remove_prefix(1);
    }
    if (!any) break;
  }
  head.body = line;
  return head;
}

std::string_view strip_ansi(std::string_view line, std::string& scratch) {
  std::size_t escape = line.find('\x1b');
  if (escape == std::string_view::npos) return line;
  scratch.clear();
  while (escape != std::string_view::npos) {
    scratch += line.substr(0, escape);
    line.remove_prefix(escape + 1);
    if (line.starts_with('[')) {
      std::size_t i = 1;
      while (i < line.size() && (line[i] < 0x40 || line[i] > 0x7e)) ++i;
      line.remove_prefix(std::min(i + 1, line.size()));
    } else if (line.starts_with(']')) {
      const std::size_t end = line.find_first_of("\x07\x1b");
      line.remove_prefix(end == std::string_view::npos ? line.size() : end);
      if (line.starts_with('\x07')) line.remove_prefix(1);
    } else if (!line.empty()) {
      line.remove_prefix(1);
    }
    escape = line.find('\x1b');
  }
  scratch += line;
  return scratch;
}

}  // namespace muster::progress
