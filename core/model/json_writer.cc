#include "core/model/json_writer.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace muster {
namespace {

// Bytes of the valid UTF-8 sequence at the front of `s`; 0 if there is none.
std::size_t sequence_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = at(0);
  if (c < 0x80) return 1;
  const std::size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  if (c < 0xC2 || c > 0xF4 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  if ((c == 0xE0 && at(1) < 0xA0) || (c == 0xED && at(1) > 0x9F)) return 0;
  if ((c == 0xF0 && at(1) < 0x90) || (c == 0xF4 && at(1) > 0x8F)) return 0;
  return n;
}

}  // namespace

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_ += '{';
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  MUSTER_CHECK(!has_items_.empty() && !after_key_, "an object is open and no key waits");
  has_items_.pop_back();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_ += '[';
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  MUSTER_CHECK(!has_items_.empty() && !after_key_, "an array is open");
  has_items_.pop_back();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  MUSTER_CHECK(!has_items_.empty() && !after_key_, "a key stands in an object");
  before_value();
  append_quoted(name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_quoted(text);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  before_value();
  out_ += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  before_value();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  before_value();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  char buffer[32];
  // From 1e18 on with an exponent: readers take digits alone for an integer, and these would not
  // fit.
  const auto [end, ec] =
      std::abs(number) < 1e18
          ? std::to_chars(buffer, buffer + sizeof buffer, number)
          : std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  MUSTER_CHECK(ec == std::errc(), "32 bytes hold every double");
  out_.append(buffer, end);
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

void JsonWriter::append_quoted(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    const char c = text.front();
    if (n == 0) {
      out_ += "\xef\xbf\xbd";
    } else if (n > 1) {
      out_ += text.substr(0, n);
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out_ += c;
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out_ += '"';
}

}  // namespace muster
