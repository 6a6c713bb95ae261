#include "cmd/options.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <map>

#include "base/text.h"
#include "cmd/parse.h"
#include "cmd/version.h"

namespace muster {

void VerbOptions::flag(std::string names, bool* target, std::string help) {
  rows_.push_back({std::move(names), "", std::move(help), {}, OptionRow::Type::flag, target});
}
void VerbOptions::text(std::string names, std::string* target, std::string value,
                       std::string help) {
  rows_.push_back(
      {std::move(names), std::move(value), std::move(help), {}, OptionRow::Type::text, target});
}
void VerbOptions::choice(std::string names, std::string* target, std::vector<std::string> choices,
                         std::string help) {
  rows_.push_back({std::move(names), "WORD", std::move(help), std::move(choices),
                   OptionRow::Type::text, target});
}
void VerbOptions::number(std::string names, double* target, std::string value, std::string help) {
  rows_.push_back(
      {std::move(names), std::move(value), std::move(help), {}, OptionRow::Type::number, target});
}
void VerbOptions::integer(std::string names, std::int64_t* target, std::string value,
                          std::string help) {
  rows_.push_back(
      {std::move(names), std::move(value), std::move(help), {}, OptionRow::Type::integer, target});
}
void VerbOptions::list(std::string names, std::vector<std::string>* target, std::string value,
                       std::string help) {
  rows_.push_back(
      {std::move(names), std::move(value), std::move(help), {}, OptionRow::Type::list, target});
}
void VerbOptions::positionals(std::string value, std::vector<std::string>* target,
                              std::string help) {
  rows_.push_back({value, value, std::move(help), {}, OptionRow::Type::positionals, target});
}
void VerbOptions::rest(std::string value, std::vector<std::string>* target, std::string help) {
  rows_.push_back({value, value, std::move(help), {}, OptionRow::Type::rest, target});
}

namespace {

void add_row(CLI::App& app, const OptionRow& row) {
  CLI::Option* option = nullptr;
  switch (row.type) {
    case OptionRow::Type::flag:
      app.add_flag(row.names, *static_cast<bool*>(row.target), row.help);
      return;
    case OptionRow::Type::text:
      option = app.add_option(row.names, *static_cast<std::string*>(row.target), row.help);
      break;
    case OptionRow::Type::number:
      option = app.add_option(row.names, *static_cast<double*>(row.target), row.help);
      break;
    case OptionRow::Type::integer:
      option = app.add_option(row.names, *static_cast<std::int64_t*>(row.target), row.help);
      break;
    case OptionRow::Type::list:
      option =
          app.add_option(row.names, *static_cast<std::vector<std::string>*>(row.target), row.help);
      option->allow_extra_args(false)->take_all();
      break;
    case OptionRow::Type::positionals:
    case OptionRow::Type::rest:
      option =
          app.add_option(row.names, *static_cast<std::vector<std::string>*>(row.target), row.help);
      option->option_text(" ");
      return;
  }
  option->option_text(row.value);
  if (!row.choices.empty()) option->check(CLI::IsMember(row.choices));
}

// CLI11 knows sub-commands of sub-commands: "config check" becomes two levels.
CLI::App* subcommand_for(CLI::App& app, std::map<std::string, CLI::App*>& groups,
                         const Verb& verb) {
  const std::string full(verb.name());
  const std::size_t blank = full.find(' ');
  if (blank == std::string::npos) return app.add_subcommand(full, std::string(verb.summary()));
  const std::string head = full.substr(0, blank);
  CLI::App*& group = groups[head];
  if (group == nullptr) {
    group = app.add_subcommand(head, std::string(verb.summary()));
    group->require_subcommand(1);
  }
  return group->add_subcommand(full.substr(blank + 1), std::string(verb.summary()));
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
        "muster VERB --help explains a verb with examples. Reports: text, or --json.\n"
        "Exit status: 0 ok, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.");
    std::map<std::string, CLI::App*> groups;
    std::vector<VerbOptions> declared(verbs.size());
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      CLI::App* sub = subcommand_for(app, groups, *verbs[i]);
      verbs[i]->declare(declared[i]);
      for (const OptionRow& row : declared[i].rows()) add_row(*sub, row);
      sub->add_flag("--json", parsed.json,
                    "one JSON document on standard output (docs/FORMATS.md)");
      sub->footer(declared[i].epilog_text());
      Verb* verb = verbs[i].get();
      sub->parse_complete_callback([&parsed, verb] { parsed.verb = verb; });
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      parsed.text = app.help();
      parsed.verb = nullptr;
    } catch (const CLI::CallForVersion&) {
      parsed.text = std::string(kVersionText) + "\n";
      parsed.verb = nullptr;
    } catch (const CLI::ParseError& e) {
      parsed.text = fmt::format("muster: {}\nmuster: try `muster --help` or `muster VERB --help`\n",
                                escape_controls(e.what(), 1000));
      parsed.status = ExitStatus::usage;
      parsed.verb = nullptr;
    }
  } catch (const CLI::Error& e) {
    parsed.text = fmt::format("muster: internal: {}\n", e.what());
    parsed.status = ExitStatus::internal;
    parsed.verb = nullptr;
  }
  return parsed;
}

}  // namespace muster
