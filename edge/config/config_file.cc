#include "edge/config/config_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "edge/config/near_word.h"
#include "edge/config/toml_document.h"

namespace muster {
namespace {

constexpr std::size_t kComplaints = 20;
constexpr std::size_t kShownChars = 80;

// The folder of the file, with its slash; empty for the working folder.
std::string folder_of(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

// What stands where a value of this type does not; nullptr where it does.
const TomlNode* misfit(ConfigType type, const TomlNode& node) {
  using Kind = TomlNode::Kind;
  switch (type) {
    case ConfigType::number:
      return node.kind == Kind::number || node.kind == Kind::integer ? nullptr : &node;
    case ConfigType::texts: {
      if (node.kind != Kind::list) return &node;
      const auto found = std::find_if(node.items.begin(), node.items.end(),
                                      [](const auto& item) { return item.kind != Kind::text; });
      return found == node.items.end() ? nullptr : &*found;
    }
    default:
      return node.kind == Kind::text ? nullptr : &node;
  }
}

ConfigValue value_of(ConfigType type, const TomlNode& node) {
  if (type == ConfigType::number) return node.number;
  if (type != ConfigType::texts) return node.text;
  std::vector<std::string> texts;
  for (const TomlNode& item : node.items) texts.push_back(item.text);
  return texts;
}

class Reader {
 public:
  Reader(const std::string& name, ConfigFile& out) : name_(name), out_(out) {}

  void read(const TomlNode& file) {
    for (const TomlMember& member : file.members) {
      const ConfigKey* key = find("", member.name);
      if (key != nullptr) {
        entry(*key, member);
      } else if (!is_section(member.name)) {
        unknown("", member);
      } else if (member.node.kind == TomlNode::Kind::table) {
        read_section(member.name, member.node);
      } else {
        complain(member.place, fmt::format("[{}] is a section, not a value", member.name));
      }
    }
    if (hidden_ > 0) out_.complaints.back() = fmt::format("{}: and {} more", name_, hidden_ + 1);
  }

 private:
  static const ConfigKey* find(std::string_view section, std::string_view name) {
    const auto table = config_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const ConfigKey& key) {
      return key.section == section && key.name == name;
    });
    return found == table.end() ? nullptr : &*found;
  }
  static bool is_section(std::string_view word) {
    const auto table = config_table();
    return !word.empty() && std::any_of(table.begin(), table.end(), [word](const ConfigKey& key) {
      return key.section == word;
    });
  }

  void complain(const TomlPlace& where, std::string_view what) {
    if (out_.complaints.size() == kComplaints) {
      ++hidden_;
      return;
    }
    out_.complaints.push_back(fmt::format("{}: {}", toml_place(name_, where), what));
  }

  void read_section(std::string_view section, const TomlNode& table) {
    for (const TomlMember& member : table.members) {
      const ConfigKey* key = find(section, member.name);
      key != nullptr ? entry(*key, member) : unknown(section, member);
    }
  }

  void entry(const ConfigKey& key, const TomlMember& member) {
    if (const TomlNode* other = misfit(key.type, member.node)) {
      complain(other->place, fmt::format("{}: {} is expected, not {}", full_name(key),
                                         expected_value(key), toml_kind_name(other->kind)));
      return;
    }
    ConfigValue value = value_of(key.type, member.node);
    if (Status fine = check_config_value(key, value); !fine) {
      complain(member.node.place, fmt::format("{}: {}", full_name(key), fine.error().context));
      return;
    }
    if (key.type == ConfigType::path) {
      std::string& path = std::get<std::string>(value);
      if (path.front() != '/') path = folder_of(name_) + path;
    }
    out_.entries.push_back({&key, std::move(value), member.place.line});
  }

  // Near words of the same section, and the same word of another section.
  void unknown(std::string_view section, const TomlMember& member) {
    std::vector<std::string_view> near;
    std::string elsewhere;
    for (const ConfigKey& key : config_table()) {
      if (key.section == section) near.push_back(key.name);
      if (section.empty() && !key.section.empty()) near.push_back(key.section);
      if (key.name == member.name) elsewhere = full_name(key);
    }
    std::string meant(near_word(member.name, near));
    if (meant.empty()) meant = elsewhere;
    complain(
        member.place,
        fmt::format("{}{} is not known{}", section.empty() ? "" : fmt::format("[{}] ", section),
                    escape_controls(member.name, kShownChars),
                    meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
  }

  const std::string& name_;
  ConfigFile& out_;
  std::size_t hidden_ = 0;
};

}  // namespace

ConfigFile parse_config(const std::string& text, const std::string& name) {
  ConfigFile out;
  const auto document = parse_toml(text, name);
  if (document) {
    Reader(name, out).read(*document);
  } else {
    out.complaints.push_back(document.error().context);
  }
  return out;
}

}  // namespace muster
