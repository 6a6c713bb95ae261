#include "core/records/jsonl_records.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/records/text_records.h"
#include "core/records/unescape.h"

namespace muster::records {
namespace {

namespace od = simdjson::ondemand;

static_assert(kRecordPadding >= simdjson::SIMDJSON_PADDING);

// What was wrong with one record.
struct Refusal {
  Fault fault;
  std::string detail;
};
using Outcome = std::optional<Refusal>;

constexpr std::size_t kKeysNamed = 8;
constexpr std::size_t kMessages = 65536;  // of one conversation; its line is bounded as well

Refusal broken(simdjson::error_code error) {
  if (error == simdjson::UTF8_ERROR) return {Fault::invalid_utf8, ""};
  if (error == simdjson::CAPACITY) return {Fault::too_long, ""};
  return {Fault::not_json, simdjson::error_message(error)};
}

std::string_view type_words(od::json_type type) {
  switch (type) {
    case od::json_type::array:
      return "an array";
    case od::json_type::object:
      return "an object";
    case od::json_type::number:
      return "a number";
    case od::json_type::string:
      return "a text";
    case od::json_type::boolean:
      return "true or false";
    case od::json_type::null:
      return "null";
  }
  return "of no type";
}

bool is_null(od::value value) {
  od::json_type type{};
  return value.type().get(type) == simdjson::SUCCESS && type == od::json_type::null;
}

// null, or an array without an element.
bool is_nothing(od::value value) {
  od::array array;
  bool empty = false;
  return is_null(value) || (value.get_array().get(array) == simdjson::SUCCESS &&
                            array.is_empty().get(empty) == simdjson::SUCCESS && empty);
}

// The text of a string value. `name` stands in the refusal.
Outcome take_text(od::value value, std::string_view name, std::string& out, bool& nul) {
  od::json_type type{};
  if (const auto error = value.type().get(type)) return broken(error);
  if (type != od::json_type::string) {
    return Refusal{Fault::not_text, fmt::format("\"{}\" is {}", name, type_words(type))};
  }
  const std::string_view token = trim(value.raw_json_token());
  const auto fault = unescape(token, out, nul);
  if (!fault) return std::nullopt;
  return Refusal{*fault, fmt::format("in \"{}\"", name)};
}

}  // namespace

struct JsonlReader::Parser {
  explicit Parser(JsonlOptions given) : options(std::move(given)) {}

  void line(std::string_view text, std::size_t capacity, std::uint64_t number, RecordSink& sink);
  Outcome record(std::string_view text, std::size_t capacity);
  Outcome fields(od::object object);
  Outcome field(std::string_view key, od::value value);
  Outcome wanted(od::value value, std::string_view key, int place);
  Outcome conversation(od::array array);
  Outcome message(od::object object);
  Outcome finish();

  JsonlOptions options;
  od::parser parser;

  // Of the record at hand. Places: 0 is the field that goes first.
  Document document;
  std::array<bool, 2> seen{};
  std::vector<Message> messages;
  std::vector<std::string> keys;
  Outcome text_refusal;  // counts where there are no messages
  bool chat = false, nul = false, tools = false;
};

Outcome JsonlReader::Parser::message(od::object object) {
  Message made;
  bool role = false, content = false, reasoning = false;
  for (auto one : object) {
    std::string_view key;
    if (const auto error = one.unescaped_key().get(key)) return broken(error);
    od::value value;
    if (const auto error = one.value().get(value)) return broken(error);
    Outcome outcome;
    const bool again = (key == "role" && std::exchange(role, true)) ||
                       (key == "content" && std::exchange(content, true));
    if (again) return Refusal{Fault::twice, fmt::format("\"{}\" of a message", key)};
    if (key == "role") {
      outcome = take_text(value, "role", made.role, nul);
    } else if (key == "content") {
      outcome = take_text(value, "content", made.content, nul);
    } else if (key == "reasoning_content" && !is_null(value)) {
      if (std::exchange(reasoning, true)) return Refusal{Fault::twice, "\"reasoning_content\""};
      outcome = take_text(value, "reasoning_content", made.reasoning.emplace(), nul);
    } else if (key == "tool_calls" && !is_nothing(value)) {
      return Refusal{Fault::no_chat, "calls of tools are not rendered here"};
    }
    if (outcome) return outcome;
  }
  if (!role || !content) {
    return Refusal{Fault::no_chat, fmt::format("message {} has no \"{}\"", messages.size(),
                                               role ? "content" : "role")};
  }
  messages.push_back(std::move(made));
  return std::nullopt;
}

Outcome JsonlReader::Parser::conversation(od::array array) {
  for (auto one : array) {
    od::object object;
    const auto error = one.get_object().get(object);
    if (error == simdjson::INCORRECT_TYPE) {
      return Refusal{Fault::not_text, "an array, but not of messages"};
    }
    if (error) return broken(error);
    if (messages.size() == kMessages) return Refusal{Fault::no_chat, "too many messages"};
    if (Outcome outcome = message(object)) return outcome;
  }
  chat = true;
  return std::nullopt;
}

// A later place gives way to an earlier one, whichever comes first in the record.
Outcome JsonlReader::Parser::wanted(od::value value, std::string_view key, int place) {
  if (std::exchange(seen[static_cast<std::size_t>(place)], true)) {
    return Refusal{Fault::twice, fmt::format("\"{}\"", key)};
  }
  if (place == 1 && seen[0]) return std::nullopt;
  od::json_type type{};
  if (const auto error = value.type().get(type)) return broken(error);
  document.text.clear();
  nul = false;
  if (type != od::json_type::array) return take_text(value, key, document.text, nul);
  od::array array;
  if (const auto error = value.get_array().get(array)) return broken(error);
  return conversation(array);
}

Outcome JsonlReader::Parser::field(std::string_view key, od::value value) {
  if (keys.size() <= kKeysNamed) keys.emplace_back(escape_controls(key, 40));
  if (!options.field.empty()) {
    if (key == options.field) return wanted(value, key, 0);
  } else if (key == "messages" || key == "text") {
    // Tables that were put together say null where a record has the other field.
    if (is_null(value)) return std::nullopt;
    if (key == "messages") return wanted(value, key, 0);
    text_refusal = wanted(value, key, 1);
    return std::nullopt;
  }
  if (key == "tools") tools = !is_nothing(value);
  return std::nullopt;
}

Outcome JsonlReader::Parser::fields(od::object object) {
  for (auto one : object) {
    std::string_view key;
    if (const auto error = one.unescaped_key().get(key)) return broken(error);
    const std::string name(key);  // the library writes the next ones into the same buffer
    od::value value;
    if (const auto error = one.value().get(value)) return broken(error);
    if (Outcome outcome = field(name, value)) return outcome;
  }
  return std::nullopt;
}

// What was read becomes the document.
Outcome JsonlReader::Parser::finish() {
  if (!seen[0] && !seen[1]) {
    std::string names;
    for (std::size_t i = 0; i < std::min(keys.size(), kKeysNamed); ++i) {
      names += (names.empty() ? "" : ", ") + keys[i];
    }
    if (keys.size() > kKeysNamed) names += ", ...";
    return Refusal{Fault::no_field, fmt::format("no \"{}\"; there are: {}",
                                                options.field.empty() ? "text" : options.field,
                                                names.empty() ? "none" : names)};
  }
  if (!seen[0] && text_refusal) return text_refusal;
  if (!chat) {
    if (document.text.empty()) return Refusal{Fault::empty_text, ""};
    document.trained = {{0, document.text.size()}};
    return std::nullopt;
  }
  if (options.chat == nullptr) return Refusal{Fault::no_chat, options.why_no_chat};
  if (tools) return Refusal{Fault::no_chat, "tools are not rendered here"};
  auto rendered = options.chat->render(messages, !options.specials_in_chats);
  if (!rendered) return Refusal{Fault::no_chat, rendered.error().context};
  document = std::move(*rendered);
  return std::nullopt;
}

Outcome JsonlReader::Parser::record(std::string_view text, std::size_t capacity) {
  document = {};
  seen = {};
  messages.clear();
  keys.clear();
  text_refusal.reset();
  chat = nul = tools = false;
  od::document json;
  const simdjson::padded_string_view padded(text.data(), text.size(), capacity);
  if (const auto error = parser.iterate(padded).get(json)) return broken(error);
  od::object object;
  const auto error = json.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) return Refusal{Fault::not_json, "no object"};
  if (error) return broken(error);
  if (Outcome outcome = fields(object)) return outcome;
  if (json.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return Refusal{Fault::not_json, "something stands behind the object"};
  }
  return finish();
}

void JsonlReader::Parser::line(std::string_view text, std::size_t capacity, std::uint64_t number,
                               RecordSink& sink) {
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
    sink.fault(Fault::crlf, number, "");
  }
  if (trim(text).empty()) return sink.fault(Fault::blank, number, "");
  if (text.size() > limits::kRecordBytes) return sink.fault(Fault::too_long, number, "");
  Outcome outcome = record(text, capacity);
  if (outcome && outcome->fault == Fault::invalid_utf8) {
    outcome->detail = fmt::format("byte {} of the line", first_invalid_utf8(text).value_or(0));
  }
  if (outcome) return sink.fault(outcome->fault, number, outcome->detail);
  if (nul) sink.fault(Fault::escaped_nul, number, "");
  sink.document(std::move(document), number);
}

JsonlReader::JsonlReader(JsonlOptions options)
    : parser_(std::make_unique<Parser>(std::move(options))) {}
JsonlReader::JsonlReader(JsonlReader&&) noexcept = default;
JsonlReader& JsonlReader::operator=(JsonlReader&&) noexcept = default;
JsonlReader::~JsonlReader() = default;

void JsonlReader::read(std::string_view lines, std::uint64_t first_line, RecordSink& sink) {
  for (std::uint64_t number = first_line; !lines.empty(); ++number) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    parser_->line(lines.substr(0, end), lines.size() + kRecordPadding, number, sink);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace muster::records
