#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// A TOML file as values with places. The parser behind it (toml++) is jailed in toml_document.cc:
// its header costs five seconds a file, and some of its faults must be caught in every build.

namespace muster {

// From 1; columns count characters.
struct TomlPlace {
  std::uint32_t line = 0, column = 0;
};

struct TomlMember;

struct TomlNode {
  enum class Kind : std::uint8_t { text, integer, number, truth, time, list, table };
  Kind kind = Kind::table;
  TomlPlace place;
  std::string text;                 // of a text
  std::int64_t integer = 0;         // of an integer
  double number = 0;                // of a number, and of an integer
  std::vector<TomlNode> items;      // of a list
  std::vector<TomlMember> members;  // of a table, in the order of the file

  // nullptr where this is no table or has no such member.
  const TomlNode* find(std::string_view name) const;
};

struct TomlMember {
  std::string name;
  TomlPlace place;  // of the name
  TomlNode node;
};

// The whole file, a table. Errc::invalid_input, "NAME:LINE:COLUMN: what is wrong", where it is not
// TOML; Errc::exhausted where it is longer than limits::kConfigBytes, or a name has more than 16
// parts or values nest deeper than 16 (ours have 3 and 2): such a tree would fill the stack.
Result<TomlNode> parse_toml(std::string_view text, const std::string& name);

// "a text", "a number", "a table": what stands there, for complaints.
std::string_view toml_kind_name(TomlNode::Kind kind);

// "NAME:LINE:COLUMN"
std::string toml_place(const std::string& name, const TomlPlace& place);

}  // namespace muster
