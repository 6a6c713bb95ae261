#include "core/model/json_reader.h"

#include <fmt/core.h>
#include <simdjson.h>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

namespace dom = simdjson::dom;

// Recursion is bounded: the parser refused what is deeper than limits::kContractDepth.
JsonNode copy_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::NULL_VALUE:
      return {};
    case dom::element_type::BOOL:
      return JsonNode(element.get_bool().value_unsafe());
    case dom::element_type::INT64:
      return JsonNode(element.get_int64().value_unsafe());
    case dom::element_type::UINT64:
      return JsonNode(element.get_uint64().value_unsafe());
    case dom::element_type::DOUBLE:
      return JsonNode(element.get_double().value_unsafe());
    case dom::element_type::STRING:
      return JsonNode(std::string(element.get_string().value_unsafe()));
    case dom::element_type::ARRAY: {
      const dom::array array = element.get_array().value_unsafe();
      JsonNode::Array items;
      for (const dom::element item : array) {
        items.push_back(copy_of(item));
      }
      return JsonNode(std::move(items));
    }
    case dom::element_type::OBJECT: {
      const dom::object object = element.get_object().value_unsafe();
      JsonNode::Object members;
      for (const dom::key_value_pair member : object) {
        members.emplace_back(std::string(member.key), copy_of(member.value));
      }
      return JsonNode(std::move(members));
    }
  }
  return {};
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto* members = get<Object>();
  if (members == nullptr) return nullptr;
  for (const auto& [name, value] : *members) {
    if (name == key) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

Result<JsonNode> parse_json(std::string_view bytes) {
  if (bytes.size() > limits::kContractBytes) {
    return make_error(Errc::exhausted, fmt::format("a document of {} bytes; at most {} are read",
                                                   bytes.size(), limits::kContractBytes));
  }
  dom::parser parser(limits::kContractBytes);
  if (parser.allocate(bytes.size() + 1, limits::kContractDepth) != simdjson::SUCCESS) {
    return make_error(Errc::exhausted, "no memory to read a document");
  }
  const auto document = parser.parse(simdjson::padded_string(bytes));
  if (document.error() == simdjson::DEPTH_ERROR) {
    return make_error(Errc::exhausted,
                      fmt::format("nested deeper than {} levels", limits::kContractDepth));
  }
  if (document.error() != simdjson::SUCCESS) {
    return make_error(Errc::corrupt, fmt::format("no JSON document: {}",
                                                 simdjson::error_message(document.error())));
  }
  return copy_of(document.value_unsafe());
}

Status check_schema(const JsonNode& document, std::string_view name, int version) {
  const JsonNode* member = document.find("schema");
  const std::string* schema = member != nullptr ? member->get<std::string>() : nullptr;
  if (schema == nullptr) {
    return make_error(Errc::invalid_input,
                      fmt::format("no \"schema\" in it; expected {}/{}", name, version));
  }
  const std::size_t slash = schema->rfind('/');
  if (slash == std::string::npos || schema->substr(0, slash) != name) {
    return make_error(
        Errc::invalid_input,
        fmt::format("schema {}; expected {}/{}", escape_controls(*schema, 80), name, version));
  }
  if (schema->substr(slash + 1) != std::to_string(version)) {
    return make_error(Errc::unsupported, fmt::format("{}: this program reads version {}",
                                                     escape_controls(*schema, 80), version));
  }
  return {};
}

JsonFields::JsonFields(const JsonNode& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (object.get<JsonNode::Object>() != nullptr) return;
  fault_ = make_error(Errc::invalid_input,
                      where_.empty() ? "not an object" : where_ + " is not an object");
}

const JsonNode* JsonFields::find(std::string_view key) const {
  return fault_ ? nullptr : object_.find(key);
}

void JsonFields::complain(std::string_view key, std::string_view text) {
  if (fault_) return;
  fault_ = make_error(Errc::invalid_input, fmt::format("{}{}: {}", where_, key, text));
}

void JsonFields::adopt(const std::optional<Error>& fault) {
  if (!fault_) fault_ = fault;
}

std::optional<std::int64_t> JsonFields::integer(std::string_view key, std::int64_t least,
                                                std::int64_t most) {
  const JsonNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  const auto* number = node->get<std::int64_t>();
  if (number == nullptr) {
    complain(key, node->get<std::uint64_t>() != nullptr ? "too large" : "not an integer");
    return std::nullopt;
  }
  if (*number < least || *number > most) {
    complain(key, fmt::format("{} is not in {} to {}", *number, least, most));
    return std::nullopt;
  }
  return *number;
}

std::optional<std::uint64_t> JsonFields::unsigned_integer(std::string_view key) {
  const JsonNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* large = node->get<std::uint64_t>()) return *large;
  const auto* number = node->get<std::int64_t>();
  if (number != nullptr && *number >= 0) return static_cast<std::uint64_t>(*number);
  complain(key, "not an unsigned integer");
  return std::nullopt;
}

std::optional<double> JsonFields::number(std::string_view key) {
  const JsonNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* real = node->get<double>()) return *real;
  if (const auto* integer = node->get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* large = node->get<std::uint64_t>()) return static_cast<double>(*large);
  complain(key, "not a number");
  return std::nullopt;
}

std::optional<bool> JsonFields::boolean(std::string_view key) {
  const JsonNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->get<bool>()) return *value;
  complain(key, "not true or false");
  return std::nullopt;
}

std::optional<std::string> JsonFields::text(std::string_view key) {
  const JsonNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* text = node->get<std::string>()) return *text;
  complain(key, "not a text");
  return std::nullopt;
}

std::optional<std::size_t> JsonFields::word(std::string_view key,
                                            std::span<const std::string_view> words) {
  const auto name = text(key);
  if (!name) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *name) return i;
  }
  complain(key, fmt::format("\"{}\" is not in its list of words", escape_controls(*name, 80)));
  return std::nullopt;
}

const JsonNode::Array& JsonFields::array(std::string_view key) {
  static const JsonNode::Array kNone;
  const JsonNode* node = find(key);
  if (node == nullptr) return kNone;
  if (const auto* items = node->get<JsonNode::Array>()) return *items;
  complain(key, "not an array");
  return kNone;
}

const JsonNode::Object& JsonFields::object(std::string_view key) {
  static const JsonNode::Object kNone;
  const JsonNode* node = find(key);
  if (node == nullptr) return kNone;
  if (const auto* members = node->get<JsonNode::Object>()) return *members;
  complain(key, "not an object");
  return kNone;
}

std::vector<std::string> JsonFields::texts(std::string_view key) {
  std::vector<std::string> out;
  for (const JsonNode& item : array(key)) {
    const auto* text = item.get<std::string>();
    if (text == nullptr) {
      complain(key, "not an array of texts");
      return {};
    }
    out.push_back(*text);
  }
  return out;
}

const JsonNode* JsonFields::require(std::string_view key) {
  const JsonNode* node = find(key);
  if (node == nullptr) complain(key, "missing");
  return node;
}

std::int64_t JsonFields::require_integer(std::string_view key, std::int64_t least,
                                         std::int64_t most) {
  return require(key) != nullptr ? integer(key, least, most).value_or(least) : least;
}

std::string JsonFields::require_text(std::string_view key) {
  return require(key) != nullptr ? text(key).value_or("") : "";
}

std::size_t JsonFields::require_word(std::string_view key,
                                     std::span<const std::string_view> words) {
  return require(key) != nullptr ? word(key, words).value_or(0) : 0;
}

}  // namespace muster
