#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "edge/config/config_table.h"

namespace muster {

// A value of a key: text, path and word as a text, a number, a list of texts.
using ConfigValue = std::variant<std::string, double, std::vector<std::string>>;

// Whether the key, whose type it has, may have this value; Errc::invalid_input says what is
// expected and what came. Texts are not empty and hold no control character. "~" is the shell's and
// means nothing here: a path that begins with it is refused rather than taken for a folder of that
// name.
Status check_config_value(const ConfigKey& key, const ConfigValue& value);

// A value as the environment says it: numbers in decimals, lists with blanks between; checked.
Result<ConfigValue> parse_config_value(const ConfigKey& key, std::string_view text);

// As it would stand in muster.toml: "two-samples" in quotes, 0.5, ["UTC", "n1=Asia/Seoul"].
std::string config_value_text(const ConfigValue& value);

}  // namespace muster
