#include "edge/config/config_value.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kShownChars = 80;

Error unexpected(const ConfigKey& key, std::string_view but) {
  return make_error(Errc::invalid_input,
                    fmt::format("{} is expected, {}", expected_value(key), but));
}

Status check_text(const ConfigKey& key, std::string_view text) {
  if (text.empty()) return unexpected(key, "not an empty text");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), control)) {
    return unexpected(key, "without control characters");
  }
  if (key.type == ConfigType::path && (text == "~" || text.starts_with("~/"))) {
    return unexpected(key, "and ~ stands for nothing here: write the folder");
  }
  return {};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Status check_config_value(const ConfigKey& key, const ConfigValue& value) {
  if (const double* number = std::get_if<double>(&value)) {
    MUSTER_CHECK(key.type == ConfigType::number, "the value has the type of its key");
    // In this sense: not a number is refused as well.
    if (*number >= key.min && *number <= key.max) return {};
    return unexpected(key, fmt::format("not {}", *number));
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    MUSTER_CHECK(key.type == ConfigType::texts, "the value has the type of its key");
    for (const std::string& text : *texts) {
      if (Status fine = check_text(key, text); !fine) return fine;
    }
    return {};
  }
  const auto& text = std::get<std::string>(value);
  if (key.type == ConfigType::word &&
      std::find(key.words.begin(), key.words.end(), text) == key.words.end()) {
    return unexpected(key, fmt::format("not \"{}\"", escape_controls(text, kShownChars)));
  }
  return check_text(key, text);
}

Result<ConfigValue> parse_config_value(const ConfigKey& key, std::string_view text) {
  ConfigValue value = std::string(text);
  if (key.type == ConfigType::number) {
    const auto number = parse_double(text);
    if (!number) {
      return unexpected(key, fmt::format("not \"{}\"", escape_controls(text, kShownChars)));
    }
    value = *number;
  }
  if (key.type == ConfigType::texts) {
    std::vector<std::string> texts;
    for (const std::string_view piece : split(text, ' ')) {
      if (!trim(piece).empty()) texts.emplace_back(trim(piece));
    }
    value = std::move(texts);
  }
  if (Status fine = check_config_value(key, value); !fine) return fine.error();
  return value;
}

std::string config_value_text(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  std::string out = "[";
  for (const std::string& text : std::get<std::vector<std::string>>(value)) {
    out += (out.size() > 1 ? ", " : "") + quoted(text);
  }
  return out + "]";
}

}  // namespace muster
