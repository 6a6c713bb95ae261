#include "edge/config/toml_document.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"

// toml++ 3.3 asserts in place of complaining on some input, "[=]" for one, and in a release build
// it tells the compiler that this never happens. Here its assertions are errors in every build.
namespace muster {
struct TomlAssertion {};
[[noreturn]] static void toml_assertion_failed() {
  throw TomlAssertion{};
}
}  // namespace muster
#undef NDEBUG
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::muster::toml_assertion_failed())
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace muster {
namespace {

constexpr int kNameParts = 16;

TomlPlace place_of(const toml::source_region& where) {
  return {where.begin.line, where.begin.column};
}

TomlNode convert(const toml::node& node);

void convert_table(const toml::table& table, TomlNode& out) {
  for (const auto& [key, node] : table) {
    out.members.push_back({std::string(key.str()), place_of(key.source()), convert(node)});
  }
  // toml++ sorts by name.
  std::stable_sort(out.members.begin(), out.members.end(), [](const auto& a, const auto& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
}

TomlNode convert(const toml::node& node) {
  TomlNode out;
  out.place = place_of(node.source());
  if (const auto* text = node.as_string()) {
    out.kind = TomlNode::Kind::text;
    out.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    out.kind = TomlNode::Kind::integer;
    out.integer = integer->get();
    out.number = static_cast<double>(out.integer);
  } else if (const auto* number = node.as_floating_point()) {
    out.kind = TomlNode::Kind::number;
    out.number = number->get();
  } else if (node.is_boolean()) {
    out.kind = TomlNode::Kind::truth;
  } else if (const auto* list = node.as_array()) {
    out.kind = TomlNode::Kind::list;
    for (const toml::node& item : *list) out.items.push_back(convert(item));
  } else if (const auto* table = node.as_table()) {
    convert_table(*table, out);
  } else {
    out.kind = TomlNode::Kind::time;
  }
  return out;
}

// Passes over the text at `at` that begins there, in any of the four kinds of quotes; false where
// it does not end. What is wrong inside the parser says.
bool skip_text(std::string_view text, std::size_t& at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool many = text.substr(at, 3) == three;
  at += many ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\' && quote == '"') {
      at += 2;
    } else if (many ? text.substr(at, 3) == three : text[at] == quote) {
      at += many ? 3 : 1;
      // Up to two quotes may stand at the end inside.
      while (many && at < text.size() && text[at] == quote) ++at;
      return true;
    } else if (!many && text[at] == '\n') {
      return false;
    } else {
      ++at;
    }
  }
  return false;
}

// The line of the first name with too many parts ("a.a.a..."), 0 where there is none: toml++ has no
// bound, and its tree is freed by recursion. Up to the first error of the file this reads texts and
// comments as the parser does; behind it the parser reads nothing.
std::uint32_t line_of_deep_name(std::string_view text) {
  std::uint32_t line = 1;
  int dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t begin = at;
      if (!skip_text(text, at)) return 0;
      line += static_cast<std::uint32_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())), '\n'));
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\n') ++line;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots >= kNameParts) return line;
    ++at;
  }
  return 0;
}

bool is_refused_by_assertion(std::string_view text) {
  try {
    (void)toml::parse(text);
    return false;
  } catch (const toml::parse_error&) {
    return false;
  } catch (const TomlAssertion&) {
    return true;
  }
}

// An assertion has no place. It comes at the first fault of the file, so the lines up to its own
// show it and fewer do not: halving finds it.
TomlPlace place_of_assertion(std::string_view text) {
  std::vector<std::size_t> ends;  // of the lines
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    ends.push_back(at + 1);
  }
  std::size_t low = 0, high = ends.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (is_refused_by_assertion(text.substr(0, ends[middle]))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {static_cast<std::uint32_t>(low + 1), 1};
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [name](const TomlMember& m) { return m.name == name; });
  return found == members.end() ? nullptr : &found->node;
}

Result<TomlNode> parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > limits::kConfigBytes) {
    return make_error(Errc::exhausted,
                      fmt::format("{}: longer than {} bytes", name, limits::kConfigBytes));
  }
  if (const auto line = line_of_deep_name(text); line != 0) {
    return make_error(Errc::exhausted,
                      fmt::format("{}:{}:1: a name of more than {} parts", name, line, kNameParts));
  }
  try {
    return convert(toml::parse(text, std::string_view(name)));
  } catch (const toml::parse_error& e) {
    return make_error(
        Errc::invalid_input,
        fmt::format("{}: {}", toml_place(name, place_of(e.source())), e.description()));
  } catch (const TomlAssertion&) {
    return make_error(
        Errc::invalid_input,
        toml_place(name, place_of_assertion(text)) +
            ": not TOML: a name of letters, digits, - and _ is due, or one in quotes");
  }
}

std::string_view toml_kind_name(TomlNode::Kind kind) {
  static constexpr std::string_view kNames[] = {
      "a text", "a whole number", "a number", "true or false", "a time", "a list", "a table"};
  return kNames[static_cast<int>(kind)];
}

std::string toml_place(const std::string& name, const TomlPlace& place) {
  return fmt::format("{}:{}:{}", name, place.line, place.column);
}

}  // namespace muster
