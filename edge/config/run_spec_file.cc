#include "edge/config/run_spec_file.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"
#include "edge/config/near_word.h"
#include "edge/config/toml_document.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.run/1";
constexpr std::size_t kShownChars = 80;
using Kind = TomlNode::Kind;

// Reads one file; the first complaint stays.
class SpecReader {
 public:
  explicit SpecReader(const std::string& name) : name_(name) {}

  Result<RunSpec> read(const TomlNode& file) {
    schema(file);
    only(file, "", {"schema", "run"});
    const TomlNode* run = file.find("run");
    if (run == nullptr) {
      complain(file.place, "[run] is missing");
    } else if (is(*run, Kind::table, "[run]")) {
      fields(*run);
    }
    if (error_) return *error_;
    if (Status fine = check_run_spec(spec_); !fine) {
      const std::string& what = fine.error().context;
      const TomlNode* field = run->find(what.substr(0, what.find(':')));
      complain(field == nullptr ? run->place : field->place, "[run] " + what);
    }
    if (error_) return *error_;
    return std::move(spec_);
  }

 private:
  void schema(const TomlNode& file) {
    const TomlNode* node = file.find("schema");
    if (node == nullptr) {
      complain(file.place, fmt::format("schema = \"{}\" is missing", kSchema));
    } else if (is(*node, Kind::text, "schema") && node->text != kSchema) {
      complain(node->place,
               fmt::format("{}: this program reads {}", escape_controls(node->text, kShownChars),
                           kSchema),
               Errc::unsupported);
    }
  }

  void fields(const TomlNode& run) {
    only(run, "run",
         {"command", "engine", "hosts", "target_step", "checkpoint_folder", "limits", "remedy"});
    if (const TomlNode* node = run.find("command")) {
      spec_.command = texts(*node, "command");
    } else {
      complain(run.place, "[run] command is missing");
    }
    if (const TomlNode* node = run.find("engine")) engine(*node);
    if (const TomlNode* node = run.find("hosts")) spec_.hosts = texts(*node, "hosts");
    spec_.target_step = whole(run, "target_step", std::int64_t{1} << 53);
    if (const TomlNode* node = run.find("checkpoint_folder")) {
      if (is(*node, Kind::text, "checkpoint_folder")) {
        spec_.checkpoint_folder = node->text;
        if (node->text.empty() || node->text.find('\0') != std::string::npos) {
          complain(node->place, "checkpoint_folder is no path");
        }
      }
    }
    limits(run);
    remedy(run);
  }

  void engine(const TomlNode& node) {
    if (!is(node, Kind::text, "engine")) return;
    const auto engine = engine_from_name(node.text);
    if (engine) {
      spec_.engine = *engine;
    } else {
      complain(node.place, fmt::format("engine is local, ssh or slurm, not \"{}\"",
                                       escape_controls(node.text, kShownChars)));
    }
  }

  void limits(const TomlNode& run) {
    const TomlNode* node = run.find("limits");
    if (node == nullptr || !is(*node, Kind::table, "[run.limits]")) return;
    only(*node, "run.limits", {"max_attempts", "max_wall_s"});
    spec_.limits.max_attempts = whole(*node, "max_attempts", 1'000'000);
    spec_.limits.max_wall_s = whole(*node, "max_wall_s", 1'000'000'000);  // thirty years
  }

  void remedy(const TomlNode& run) {
    const TomlNode* node = run.find("remedy");
    if (node == nullptr || !is(*node, Kind::table, "[run.remedy]")) return;
    std::vector<std::string_view> actions;
    for (const ActionRow& row : action_table()) {
      if (row.action != Action::none) actions.push_back(row.name);
    }
    only(*node, "run.remedy", actions);
    for (const TomlMember& member : node->members) {
      if (const auto action = action_from_name(member.name)) {
        spec_.remedy[*action] = texts(member.node, member.name);
      }
    }
  }

  // Nothing but `known` stands there.
  void only(const TomlNode& table, std::string_view section,
            const std::vector<std::string_view>& known) {
    for (const TomlMember& member : table.members) {
      if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
      const std::string_view meant = near_word(member.name, known);
      complain(
          member.place,
          fmt::format("{}{} is not known{}", section.empty() ? "" : fmt::format("[{}] ", section),
                      escape_controls(member.name, kShownChars),
                      meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
    }
  }

  bool is(const TomlNode& node, Kind kind, std::string_view what) {
    if (node.kind == kind) return true;
    complain(node.place, fmt::format("{} is {}, not {}", what, toml_kind_name(kind),
                                     toml_kind_name(node.kind)));
    return false;
  }

  std::vector<std::string> texts(const TomlNode& node, std::string_view what) {
    std::vector<std::string> out;
    if (!is(node, Kind::list, what)) return out;
    for (const TomlNode& item : node.items) {
      if (!is(item, Kind::text, fmt::format("each word of {}", what))) return out;
      if (item.text.find('\0') != std::string::npos) {
        complain(item.place, fmt::format("{}: a zero byte in a word", what));
      }
      out.push_back(item.text);
    }
    return out;
  }

  std::optional<std::int64_t> whole(const TomlNode& table, std::string_view what,
                                    std::int64_t max) {
    const TomlNode* node = table.find(what);
    if (node == nullptr || !is(*node, Kind::integer, what)) return std::nullopt;
    if (node->integer < 1 || node->integer > max) {
      complain(node->place, fmt::format("{} is from 1 to {}, not {}", what, max, node->integer));
    }
    return node->integer;
  }

  void complain(const TomlPlace& where, std::string_view what, Errc code = Errc::invalid_input) {
    if (!error_) error_ = make_error(code, fmt::format("{}: {}", toml_place(name_, where), what));
  }

  const std::string& name_;
  RunSpec spec_;
  std::optional<Error> error_;
};

}  // namespace

Result<RunSpec> parse_run_spec(const std::string& text, const std::string& name) {
  const auto document = parse_toml(text, name);
  if (!document) return document.error();
  return SpecReader(name).read(*document);
}

Result<RunSpec> read_run_spec(Files& files, const std::string& path) {
  const auto text = read_whole(files, path, limits::kConfigBytes, limits::kConfigPatience);
  if (!text) return text.error();
  return parse_run_spec(*text, path);
}

}  // namespace muster
