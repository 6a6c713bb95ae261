#include "core/records/text_records.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"

namespace muster::records {
namespace {

constexpr std::string_view kEscapes = "ntrf0\\", kMeanings("\n\t\r\f\0\\", 6);

// Of one byte behind a backslash.
std::optional<char> meaning_of(char c) {
  const std::size_t at = kEscapes.find(c);
  return at == std::string_view::npos ? std::optional<char>() : kMeanings[at];
}

void one_document(std::string_view text, std::uint64_t line, RecordSink& sink) {
  if (text.empty()) return sink.fault(Fault::empty_text, line, "");
  if (text.size() > limits::kRecordBytes) return sink.fault(Fault::too_long, line, "");
  if (const auto at = first_invalid_utf8(text)) {
    return sink.fault(Fault::invalid_utf8, line, fmt::format("byte {} of the document", *at));
  }
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    return sink.fault(Fault::raw_nul, line, fmt::format("byte {} of the document", at));
  }
  Document document;
  document.text = text;
  document.trained = {{0, text.size()}};
  sink.document(std::move(document), line);
}

void one_line(std::string_view text, std::uint64_t line, RecordSink& sink) {
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
    sink.fault(Fault::crlf, line, "");
  }
  if (trim(text).empty()) return sink.fault(Fault::blank, line, "");
  one_document(text, line, sink);
}

}  // namespace

Result<TextSplit> TextSplit::parse(std::string_view word) {
  if (word == "file") return TextSplit{By::file};
  if (word == "line") return TextSplit{By::line};
  TextSplit made{By::separator};
  while (!word.empty()) {
    const std::size_t at = std::min(word.find('\\'), word.size());
    made.separator += word.substr(0, at);
    word.remove_prefix(at);
    if (word.empty()) break;
    const auto meaning = word.size() > 1 ? meaning_of(word[1]) : std::nullopt;
    if (!meaning) {
      return make_error(Errc::invalid_input,
                        "a separator may hold \\n \\t \\r \\f \\0 and \\\\, no other escape");
    }
    made.separator += *meaning;
    word.remove_prefix(2);
  }
  if (made.separator.empty()) {
    return make_error(Errc::invalid_input, "text is split by file, by line, or by a separator");
  }
  if (first_invalid_utf8(made.separator)) {
    return make_error(Errc::invalid_input, "the separator is not UTF-8");
  }
  return made;
}

std::string TextSplit::word() const {
  if (by == By::file) return "file";
  if (by == By::line) return "line";
  std::string out;
  for (const char c : separator) {
    const std::size_t at = kMeanings.find(c);
    if (at != std::string_view::npos) out += '\\';
    out += at == std::string_view::npos ? c : kEscapes[at];
  }
  return out;
}

std::string_view TextSplit::mark() const {
  switch (by) {
    case By::file:
      return "";
    case By::line:
      return "\n";
    case By::separator:
      return separator;
  }
  return "";
}

void read_text(std::string_view bytes, const TextSplit& split, std::uint64_t first_line,
               RecordSink& sink) {
  const std::string_view mark = split.mark();
  if (mark.empty()) return one_document(bytes, first_line, sink);
  std::uint64_t line = first_line;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find(mark), bytes.size());
    const std::string_view text = bytes.substr(0, end);
    split.by == TextSplit::By::line ? one_line(text, line, sink) : one_document(text, line, sink);
    const std::string_view used = bytes.substr(0, std::min(end + mark.size(), bytes.size()));
    line += static_cast<std::uint64_t>(std::count(used.begin(), used.end(), '\n'));
    bytes.remove_prefix(used.size());
  }
}

std::optional<std::size_t> first_invalid_utf8(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::nullopt;
  std::size_t at = 0;  // of the first byte that is wrong
  while (at < bytes.size()) {
    std::uint32_t code_point = 0;
    const std::size_t n = take_character(bytes.substr(at), code_point);
    if (n == 0) return at;
    at += n;
  }
  return std::nullopt;
}

}  // namespace muster::records
