#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

// Reading side of the JSON contracts; the parser behind it (simdjson) is jailed in the .cc. A
// document is checked whole before a value is handed out: valid UTF-8, at most
// limits::kContractBytes long and limits::kContractDepth deep. Unknown keys are passed over; where
// a key comes twice, the first counts. 64-bit integers are exact, a number beyond them is refused.

namespace muster {

class JsonNode {
 public:
  using Array = std::vector<JsonNode>;
  using Object = std::vector<std::pair<std::string, JsonNode>>;
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Object>;

  JsonNode() = default;
  explicit JsonNode(Value value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }
  // The member of an object; nothing where it is absent, null, or this is no object.
  const JsonNode* find(std::string_view key) const;

 private:
  Value value_ = nullptr;
};

// Errc::corrupt for what is no JSON, Errc::exhausted beyond a bound.
Result<JsonNode> parse_json(std::string_view bytes);

// Status of "schema": `name`/`version`. "muster.heartbeat/2: this program reads version 1" is
// Errc::unsupported; no schema, or another one, is Errc::invalid_input.
Status check_schema(const JsonNode& document, std::string_view name, int version);

// Takes members out of one object by name. The first fault is kept and all later reads give
// nothing, so a decoder reads everything and asks once: `if (fields.fault()) return
// *fields.fault();`. Readers without `require_` give nothing for a member that is absent or null.
class JsonFields {
 public:
  // `where` stands in front of every complaint: "checks[2].". `object` must outlive this.
  explicit JsonFields(const JsonNode& object, std::string where = "");

  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = 0,
                                      std::int64_t most = std::numeric_limits<std::int64_t>::max());
  std::optional<std::uint64_t> unsigned_integer(std::string_view key);
  std::optional<double> number(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  // The place of the text in `words`.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words);
  // An absent array is empty.
  const JsonNode::Array& array(std::string_view key);
  const JsonNode::Object& object(std::string_view key);
  std::vector<std::string> texts(std::string_view key);

  std::int64_t require_integer(std::string_view key, std::int64_t least = 0,
                               std::int64_t most = std::numeric_limits<std::int64_t>::max());
  std::string require_text(std::string_view key);
  std::size_t require_word(std::string_view key, std::span<const std::string_view> words);
  const JsonNode* require(std::string_view key);

  void complain(std::string_view key, std::string_view text);
  // Takes over the fault of a part that was read on its own.
  void adopt(const std::optional<Error>& fault);
  const std::optional<Error>& fault() const { return fault_; }

 private:
  const JsonNode* find(std::string_view key) const;

  const JsonNode& object_;
  std::string where_;
  std::optional<Error> fault_;
};

}  // namespace muster
