#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace arrow {
class Array;
class DataType;
}  // namespace arrow

namespace muster {

// "text" as JSON writes it; `text` is UTF-8.
void append_json_text(std::string_view text, std::string& out);
// One value of a column, null included.
void append_json_cell(const arrow::Array& column, std::int64_t row, std::string& out);
// Texts, dictionaries of texts, and lists of structs: what can be a document.
bool is_readable(const arrow::DataType& type);

}  // namespace muster
