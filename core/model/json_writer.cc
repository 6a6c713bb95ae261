#include "core/model/json_writer.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace muster {
namespace {

// Of the basic plane as \u202e, beyond it as two surrogates.
std::string escaped(std::uint32_t c) {
  if (c < 0x10000) return fmt::format("\\u{:04x}", c);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((c - 0x10000) >> 10),
                     0xDC00 + ((c - 0x10000) & 0x3FF));
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
    std::uint32_t c = 0;
    const std::size_t n = take_character(text, c);
    if (n == 0) {
      out_ += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += text.front();
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (is_unsafe_to_show(c)) {
      out_ += escaped(c);
    } else {
      out_ += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out_ += '"';
}

}  // namespace muster
