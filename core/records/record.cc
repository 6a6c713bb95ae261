#include "core/records/record.h"

#include <array>

#include "base/check.h"

namespace muster::records {
namespace {

struct Row {
  Fault fault;
  std::string_view name, words;
  bool loses;
};

constexpr std::array<Row, kFaultCount> kRows = {{
    {Fault::not_json, "not_json", "not a JSON object", true},
    {Fault::invalid_utf8, "invalid_utf8", "not UTF-8", true},
    {Fault::no_field, "no_field", "the field is missing", true},
    {Fault::not_text, "not_text", "the field is no text", true},
    {Fault::twice, "twice", "the field stands twice", true},
    {Fault::lone_surrogate, "lone_surrogate", "half a surrogate pair", true},
    {Fault::bad_escape, "bad_escape", "an escape that JSON does not have", true},
    {Fault::raw_nul, "raw_nul", "a zero byte", true},
    {Fault::too_long, "too_long", "too long", true},
    {Fault::no_chat, "no_chat", "a conversation that cannot be rendered", true},
    {Fault::not_encoded, "not_encoded", "not encoded", true},
    {Fault::cut, "cut", "cut off or damaged", true},
    {Fault::blank, "blank", "a blank line", false},
    {Fault::empty_text, "empty_text", "an empty text", false},
    {Fault::byte_order_mark, "byte_order_mark", "a byte order mark, left out", false},
    {Fault::crlf, "crlf", "a line that ends in CR LF", false},
    {Fault::escaped_nul, "escaped_nul", "an escaped zero byte, kept", false},
}};

const Row& row_of(Fault fault) {
  const Row& row = kRows[static_cast<std::size_t>(fault)];
  MUSTER_CHECK(row.fault == fault, "the rows stand in the order of the enumeration");
  return row;
}

}  // namespace

std::string_view fault_name(Fault fault) {
  return row_of(fault).name;
}
std::string_view fault_words(Fault fault) {
  return row_of(fault).words;
}
bool loses_record(Fault fault) {
  return row_of(fault).loses;
}

}  // namespace muster::records
