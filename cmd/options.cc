#include "cmd/options.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "cmd/parse.h"
#include "cmd/usage.h"
#include "cmd/version.h"
#include "edge/config/config_table.h"

namespace muster {

void VerbOptions::flag(std::string names, bool* target, std::string help) {
  rows_.push_back({std::move(names), "", std::move(help), {}, OptionRow::Type::flag, target});
}
void VerbOptions::text(std::string names, std::string* target, std::string value, std::string help,
                       std::string_view key) {
  rows_.push_back({std::move(names),
                   std::move(value),
                   std::move(help),
                   {},
                   OptionRow::Type::text,
                   target,
                   key});
}
void VerbOptions::choice(std::string names, std::string* target, std::vector<std::string> choices,
                         std::string help, std::string_view key) {
  rows_.push_back({std::move(names), "WORD", std::move(help), std::move(choices),
                   OptionRow::Type::text, target, key});
}
void VerbOptions::number(std::string names, double* target, std::string value, std::string help,
                         std::string_view key) {
  rows_.push_back({std::move(names),
                   std::move(value),
                   std::move(help),
                   {},
                   OptionRow::Type::number,
                   target,
                   key});
}
void VerbOptions::integer(std::string names, std::int64_t* target, std::string value,
                          std::string help) {
  rows_.push_back(
      {std::move(names), std::move(value), std::move(help), {}, OptionRow::Type::integer, target});
}
void VerbOptions::list(std::string names, std::vector<std::string>* target, std::string value,
                       std::string help, std::string_view key) {
  rows_.push_back({std::move(names),
                   std::move(value),
                   std::move(help),
                   {},
                   OptionRow::Type::list,
                   target,
                   key});
}
void VerbOptions::positionals(const std::string& value, std::vector<std::string>* target,
                              std::string help) {
  rows_.push_back({value, value, std::move(help), {}, OptionRow::Type::positionals, target});
}
void VerbOptions::rest(const std::string& value, std::vector<std::string>* target,
                       std::string help) {
  rows_.push_back({value, value, std::move(help), {}, OptionRow::Type::rest, target});
}

void VerbOptions::everything(std::vector<std::string>* target) {
  rows_.push_back({"", "", "", {}, OptionRow::Type::everything, target});
}

bool VerbOptions::configurable() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const OptionRow& row) { return !row.key.empty(); });
}

namespace {

// The help, the key and its default: "between samples (agent.interval_s = 1)".
std::string help_of(const OptionRow& row) {
  if (row.key.empty()) return row.help;
  const ConfigKey* key = find_config_key(row.key);
  MUSTER_CHECK(key != nullptr, "an option names a key of the table");
  return fmt::format("{} ({}{}{})", row.help, row.key, key->fallback.empty() ? "" : " = ",
                     key->fallback);
}

// The library also takes 0x10 for 16, 010 for 8 and 1'000 for 1000.
CLI::Validator decimal(bool (*reads)(std::string_view)) {
  return CLI::Validator(
      [reads](const std::string& text) {
        return reads(text) ? "" : "\"" + escape_controls(text, 80) + "\" is no decimal number";
      },
      "");
}

CLI::Option* add_row(CLI::App& app, const OptionRow& row) {
  const std::string help = help_of(row);
  CLI::Option* option = nullptr;
  switch (row.type) {
    case OptionRow::Type::flag:
      return app.add_flag(row.names, *static_cast<bool*>(row.target), help);
    case OptionRow::Type::text:
      option = app.add_option(row.names, *static_cast<std::string*>(row.target), help);
      break;
    case OptionRow::Type::number:
      option = app.add_option(row.names, *static_cast<double*>(row.target), help);
      option->check(decimal([](std::string_view text) { return parse_double(text).has_value(); }));
      break;
    case OptionRow::Type::integer:
      option = app.add_option(row.names, *static_cast<std::int64_t*>(row.target), help);
      option->check(decimal([](std::string_view text) { return parse_int(text).has_value(); }));
      break;
    case OptionRow::Type::list:
      option = app.add_option(row.names, *static_cast<std::vector<std::string>*>(row.target), help);
      option->allow_extra_args(false)->take_all();
      break;
    case OptionRow::Type::everything:
      break;
    case OptionRow::Type::positionals:
    case OptionRow::Type::rest:
      option = app.add_option(row.names, *static_cast<std::vector<std::string>*>(row.target), help);
      option->option_text(" ");
      return option;
  }
  option->option_text(row.value)->type_name(row.value);
  if (!row.choices.empty()) option->check(CLI::IsMember(row.choices));
  return option;
}

// A verb whose words another program reads.
void add_passing_verb(CLI::App& sub, Verb* verb, Parsed& parsed, std::vector<std::string>* words) {
  sub.set_help_flag();
  sub.prefix_command();
  sub.parse_complete_callback([&sub, &parsed, verb, words] {
    parsed.verb = verb;
    parsed.options.clear();
    *words = sub.remaining();
  });
}

// Declares the options of one verb, which is the one of `parsed` when its part of the command line
// was read.
void add_verb(CLI::App& sub, Verb* verb, Parsed& parsed) {
  VerbOptions declared;
  verb->declare(declared);
  if (!declared.rows().empty() && declared.rows()[0].type == OptionRow::Type::everything) {
    add_passing_verb(sub, verb, parsed,
                     static_cast<std::vector<std::string>*>(declared.rows()[0].target));
    return;
  }
  std::vector<std::pair<OptionRow, CLI::Option*>> rows;
  for (const OptionRow& row : declared.rows()) rows.emplace_back(row, add_row(sub, row));
  sub.add_flag("--json", parsed.json, "one JSON document on standard output (docs/FORMATS.md)");
  if (declared.configurable()) {
    sub.add_option("--config", parsed.config_file,
                   "this muster.toml and no other (muster config check)")
        ->option_text("FILE");
  }
  sub.footer(declared.epilog_text());
  sub.parse_complete_callback([&sub, &parsed, verb, rows = std::move(rows)] {
    if (!sub.get_subcommands().empty()) {  // "pack verify" is meant, not "pack"
      for (const auto& row : rows) {
        if (row.second->count() == 0) continue;
        throw CLI::ValidationError(row.second->get_name(),
                                   "stands in front of " + sub.get_subcommands()[0]->get_name() +
                                       ", which would not see it; put it behind");
      }
      return;
    }
    parsed.verb = verb;
    parsed.options.clear();
    for (const auto& [row, option] : rows) {
      parsed.options.push_back(row);
      parsed.options.back().given = option->count() > 0;
    }
  });
}

// CLI11 knows sub-commands of sub-commands: "config check" becomes two levels. A verb of one word
// may have others below it where it comes first in the table.
CLI::App* subcommand_for(CLI::App& app, std::map<std::string, CLI::App*>& groups,
                         const Verb& verb) {
  const std::string full(verb.name());
  const std::size_t blank = full.find(' ');
  if (blank == std::string::npos) {
    return groups[full] = app.add_subcommand(full, std::string(verb.summary()));
  }
  const std::string head = full.substr(0, blank);
  CLI::App*& group = groups[head];
  if (group == nullptr) {
    group = app.add_subcommand(head, std::string(verb.summary()));
    group->require_subcommand(1);
  }
  return group->add_subcommand(full.substr(blank + 1), std::string(verb.summary()));
}

// The part of the parser that the words reached before they were refused, and its full name.
std::pair<const CLI::App*, std::string> reached(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string name;
  for (auto next = at->get_subcommands(); !next.empty(); next = at->get_subcommands()) {
    at = next.front();
    name += (name.empty() ? "" : " ") + at->get_name();
  }
  return {at, name};
}

// Which word was not expected, and what was probably meant by it.
std::string unexpected(const CLI::App& app) {
  const auto [verb, name] = reached(app);
  const std::vector<std::string> left = app.remaining(true);
  std::vector<std::string> options;
  for (const CLI::Option* option : verb->get_options()) {
    for (const std::string& word : option->get_lnames()) options.push_back("--" + word);
  }
  return wrong_word(name, {options.begin(), options.end()}, left.empty() ? "" : left.front());
}

// `verb`: the one that was reached, or empty.
void refuse(Parsed& parsed, std::string_view why, std::string_view verb) {
  parsed.text =
      fmt::format("muster: {}\nmuster: try `muster {}--help`\n", escape_controls(why, 1000),
                  verb.empty() ? "" : fmt::format("{} ", verb));
  parsed.status = ExitStatus::usage;
  parsed.verb = nullptr;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv,
                          const std::vector<std::unique_ptr<Verb>>& verbs) {
  Parsed parsed;
  try {
    CLI::App app{"Keeps multi-node GPU training runs alive: watch power, not utilization.",
                 "muster"};
    app.set_version_flag("--version", std::string(kVersionText));
    app.require_subcommand(1);
    app.footer(
        "muster VERB --help, or muster help VERB, explains a verb with examples. Reports: text,\n"
        "or --json.\n"
        "Exit status: 0 ok, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.");
    std::map<std::string, CLI::App*> groups;
    std::vector<std::string_view> names;
    for (const auto& verb : verbs) {
      names.push_back(verb->name());
      add_verb(*subcommand_for(app, groups, *verb), verb.get(), parsed);
    }
    std::vector<std::string> words = without_help_verb({argv + std::min(argc, 1), argv + argc});
    if (const std::string wrong = wrong_verb(words, names); !wrong.empty()) {
      refuse(parsed, wrong, "");
      return parsed;
    }
    try {
      std::reverse(words.begin(), words.end());  // as the library wants them
      app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
      parsed.text = app.help();
      parsed.verb = nullptr;
    } catch (const CLI::CallForVersion&) {
      parsed.text = std::string(kVersionText) + "\n";
      parsed.verb = nullptr;
    } catch (const CLI::ExtrasError&) {
      refuse(parsed, unexpected(app), reached(app).second);
    } catch (const CLI::ParseError& e) {
      refuse(parsed, e.what(), reached(app).second);
    }
  } catch (const CLI::Error& e) {
    parsed.text = fmt::format("muster: internal: {}\n", e.what());
    parsed.status = ExitStatus::internal;
    parsed.verb = nullptr;
  }
  return parsed;
}

}  // namespace muster
