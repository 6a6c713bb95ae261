#include "edge/columns/json_cell.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <memory>

namespace muster {
namespace {

template <typename List>
void append_list(const arrow::Array& column, std::int64_t row, std::string& out) {
  const auto& list = static_cast<const List&>(column);
  const auto& values = *list.values();
  const std::int64_t begin = list.value_offset(row), end = begin + list.value_length(row);
  out += '[';
  for (std::int64_t i = begin; i < end; ++i) {
    if (i > begin) out += ',';
    append_json_cell(values, i, out);
  }
  out += ']';
}

// Fields that are null are left out, as a writer of JSON would have.
void append_struct(const arrow::StructArray& column, std::int64_t row, std::string& out) {
  out += '{';
  bool first = true;
  for (int i = 0; i < column.num_fields(); ++i) {
    const auto& child = *column.field(i);
    if (child.IsNull(row)) continue;
    if (!first) out += ',';
    first = false;
    append_json_text(column.struct_type()->field(i)->name(), out);
    out += ':';
    append_json_cell(child, row, out);
  }
  out += '}';
}

bool is_text(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING ||
         type.id() == arrow::Type::STRING_VIEW;
}

}  // namespace

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text, from, i - from);
    from = i + 1;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte == '\n') {
      out += "\\n";
    } else {
      out += fmt::format("\\u{:04x}", byte);
    }
  }
  out.append(text, from);
  out += '"';
}

void append_json_cell(const arrow::Array& column, std::int64_t row, std::string& out) {
  if (column.IsNull(row)) {
    out += "null";
    return;
  }
  switch (column.type_id()) {
    case arrow::Type::STRING:
      return append_json_text(static_cast<const arrow::StringArray&>(column).GetView(row), out);
    case arrow::Type::LARGE_STRING:
      return append_json_text(static_cast<const arrow::LargeStringArray&>(column).GetView(row),
                              out);
    case arrow::Type::STRING_VIEW:
      return append_json_text(static_cast<const arrow::StringViewArray&>(column).GetView(row), out);
    case arrow::Type::DICTIONARY: {
      const auto& words = static_cast<const arrow::DictionaryArray&>(column);
      return append_json_cell(*words.dictionary(), words.GetValueIndex(row), out);
    }
    case arrow::Type::LIST:
      return append_list<arrow::ListArray>(column, row, out);
    case arrow::Type::LARGE_LIST:
      return append_list<arrow::LargeListArray>(column, row, out);
    case arrow::Type::FIXED_SIZE_LIST:
      return append_list<arrow::FixedSizeListArray>(column, row, out);
    case arrow::Type::STRUCT:
      return append_struct(static_cast<const arrow::StructArray&>(column), row, out);
    case arrow::Type::INT64:
      out += std::to_string(static_cast<const arrow::Int64Array&>(column).Value(row));
      return;
    case arrow::Type::INT32:
      out += std::to_string(static_cast<const arrow::Int32Array&>(column).Value(row));
      return;
    default:
      out += "true";
  }
}

bool is_readable(const arrow::DataType& type) {
  if (is_text(type)) return true;
  if (type.id() == arrow::Type::DICTIONARY) {
    return is_text(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  const bool list = type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
                    type.id() == arrow::Type::FIXED_SIZE_LIST;
  return list && type.field(0)->type()->id() == arrow::Type::STRUCT;
}

}  // namespace muster
