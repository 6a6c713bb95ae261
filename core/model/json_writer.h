#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Writes one JSON document into a string. The caller keeps the order right (a MUSTER_CHECK says
// when not); the writer does commas, quoting and numbers. Bytes that are not UTF-8 become U+FFFD:
// the document is always valid. What is_unsafe_to_show() is escaped, so that a terminal or a page
// that shows the document is not led astray. NaN and infinities become null: JSON has no other word
// for them.
//
//   JsonWriter w;
//   w.begin_object().key("rank").value(3).key("loss").null().end_object();
//   w.text()  ->  {"rank":3,"loss":null}

namespace muster {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  JsonWriter& value(double number);  // shortest text that reads back as the same double
  JsonWriter& null();

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void before_value();
  void append_quoted(std::string_view text);

  std::string out_;
  std::vector<bool> has_items_;  // one per open object or array
  bool after_key_ = false;
};

}  // namespace muster
