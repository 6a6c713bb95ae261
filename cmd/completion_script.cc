#include "cmd/completion_script.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace muster {
namespace {

bool is_option(const OptionRow& row) {
  return row.names.starts_with('-');
}
bool takes_value(const OptionRow& row) {
  return row.type != OptionRow::Type::flag;
}

std::vector<std::string> names_of(const OptionRow& row) {
  std::vector<std::string> out;
  for (const std::string_view name : split(row.names, ',')) out.emplace_back(trim(name));
  return out;
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// 'text' for any of the three shells; fish alone reads a backslash inside.
std::string quoted(std::string_view text, Shell shell) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += shell == Shell::fish ? "\\'" : "'\\''";
    } else if (c == '\\' && shell == Shell::fish) {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// The rows of --help and --json, which every verb has, and of --config.
std::vector<OptionRow> with_common(const VerbForm& verb) {
  std::vector<OptionRow> rows = verb.options;
  std::erase_if(rows, [](const OptionRow& row) { return row.type == OptionRow::Type::everything; });
  const bool configurable =
      std::any_of(rows.begin(), rows.end(), [](const OptionRow& row) { return !row.key.empty(); });
  if (configurable) {
    rows.push_back(
        {"--config", "FILE", "this muster.toml and no other", {}, OptionRow::Type::text, nullptr});
  }
  rows.push_back(
      {"--json", "", "one JSON document on standard output", {}, OptionRow::Type::flag, nullptr});
  rows.push_back({"-h,--help", "", "explains the verb", {}, OptionRow::Type::flag, nullptr});
  return rows;
}

// First words in the order of the table, and the second words of verbs of two words.
struct Words {
  std::vector<std::string> heads;
  std::map<std::string, std::vector<std::string>> seconds;
  std::map<std::string, std::string> summaries;  // of a head, and of "head second"
  std::set<std::string> alone;                   // heads that are verbs by themselves as well
};

Words words_of(const std::vector<VerbForm>& verbs) {
  Words words;
  for (const VerbForm& verb : verbs) {
    const std::size_t blank = verb.name.find(' ');
    const std::string head = verb.name.substr(0, blank);
    if (std::find(words.heads.begin(), words.heads.end(), head) == words.heads.end()) {
      words.heads.push_back(head);
      words.summaries[head] = verb.summary;
    }
    if (blank != std::string::npos) words.seconds[head].push_back(verb.name.substr(blank + 1));
    if (blank == std::string::npos) words.alone.insert(head);
    words.summaries[verb.name] = verb.summary;
  }
  return words;
}

// ---- bash
// ----------------------------------------------------------------------------------------

std::string bash_values(const VerbForm& verb) {
  std::string out;
  for (const OptionRow& row : with_common(verb)) {
    if (!is_option(row) || !takes_value(row)) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : names_of(row)) {
      patterns.push_back(fmt::format("'{}:{}'", verb.name, name));
    }
    const std::string answer = row.choices.empty()
                                   ? "_muster_files"
                                   : fmt::format("_muster_words '{}'", join(row.choices, " "));
    out += fmt::format("    {}) {}; return ;;\n", join(patterns, " | "), answer);
  }
  return out;
}

std::string bash_case(const VerbForm& verb) {
  std::vector<std::string> options;
  std::vector<std::string> words;
  for (const OptionRow& row : with_common(verb)) {
    if (is_option(row)) {
      for (const std::string& name : names_of(row)) options.push_back(name);
    } else {
      words.insert(words.end(), row.choices.begin(), row.choices.end());
    }
  }
  return fmt::format("    '{}') options='{}' words='{}' ;;\n", verb.name, join(options, " "),
                     join(words, " "));
}

std::string bash_script(const std::vector<VerbForm>& verbs) {
  const Words words = words_of(verbs);
  std::string seconds, values, cases;
  for (const auto& [head, list] : words.seconds) {
    const std::string list_text = join(list, " ");
    if (words.alone.contains(head)) {
      seconds += fmt::format(
          "    {0}) if ((COMP_CWORD == 2)) && [[ ${{COMP_WORDS[2]}} != -* ]]; then\n"
          "        _muster_files\n"
          "        COMPREPLY+=($(compgen -W '{1}' -- \"${{COMP_WORDS[2]}}\")); return\n"
          "      fi\n"
          "      if [[ ' {1} ' == *\" ${{COMP_WORDS[2]}} \"* ]]; then\n"
          "        verb=\"{0} ${{COMP_WORDS[2]}}\"\n"
          "      fi ;;\n",
          head, list_text);
    } else {
      seconds += fmt::format(
          "    {0}) if ((COMP_CWORD == 2)); then _muster_words '{1}'; return; fi\n"
          "      verb=\"{0} ${{COMP_WORDS[2]}}\" ;;\n",
          head, list_text);
    }
  }
  for (const VerbForm& verb : verbs) {
    values += bash_values(verb);
    cases += bash_case(verb);
  }
  return fmt::format(
      R"(# bash completion for muster; made by `muster completion bash`
_muster_words() {{ COMPREPLY=($(compgen -W "$1" -- "${{COMP_WORDS[COMP_CWORD]}}")); }}
_muster_files() {{
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_muster() {{
  local verb=${{COMP_WORDS[1]}} options= words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then _muster_words '{heads} --help --version'; return; fi
  case $verb in
{seconds}    *) ;;
  esac
  case "$verb:${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}    *) ;;
  esac
  case $verb in
{cases}    *) ;;
  esac
  if [[ ${{COMP_WORDS[COMP_CWORD]}} == -* ]]; then _muster_words "$options"; return; fi
  if [[ -n $words ]]; then _muster_words "$words"; return; fi
  _muster_files
}}
complete -F _muster muster
)",
      fmt::arg("heads", join(words.heads, " ")), fmt::arg("seconds", seconds),
      fmt::arg("values", values), fmt::arg("cases", cases));
}

// ---- zsh
// -----------------------------------------------------------------------------------------

// Brackets and colons mean something in zsh's descriptions.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_argument(const OptionRow& row) {
  const std::string values = row.choices.empty() ? "_files" : "(" + join(row.choices, " ") + ")";
  if (!is_option(row))
    return quoted(fmt::format("*:{}:{}", zsh_text(row.value), values), Shell::zsh);
  const std::string value =
      takes_value(row) ? fmt::format(":{}:{}", zsh_text(row.value), values) : "";
  const std::string repeat = row.type == OptionRow::Type::list ? "*" : "";
  std::vector<std::string> out;
  for (const std::string& name : names_of(row)) {
    out.push_back(
        quoted(fmt::format("{}{}[{}]{}", repeat, name, zsh_text(row.help), value), Shell::zsh));
  }
  return join(out, " ");
}

std::string zsh_case(const VerbForm& verb) {
  std::string out = fmt::format("    {}) _arguments", quoted(verb.name, Shell::zsh));
  for (const OptionRow& row : with_common(verb)) out += " \\\n      " + zsh_argument(row);
  return out + " ;;\n";
}

std::string zsh_described(const std::string& word, const std::string& summary) {
  return " " + quoted(word + ":" + zsh_text(summary), Shell::zsh);
}

std::string zsh_script(const std::vector<VerbForm>& verbs) {
  const Words words = words_of(verbs);
  std::string heads, seconds, cases;
  for (const std::string& head : words.heads)
    heads += zsh_described(head, words.summaries.at(head));
  for (const auto& [head, list] : words.seconds) {
    std::string described;
    for (const std::string& word : list) {
      described += zsh_described(word, words.summaries.at(head + " " + word));
    }
    if (words.alone.contains(head)) {
      seconds += fmt::format(
          "    {0}) if (( CURRENT == 3 )) && [[ $words[3] != -* ]]; then\n"
          "        known=({1}); _describe verb known; _files; return\n"
          "      fi\n"
          "      if [[ ' {2} ' == *\" $words[3] \"* ]]; then\n"
          "        verb=\"{0} $words[3]\"; shift words; (( CURRENT-- ))\n"
          "      fi ;;\n",
          head, described, join(list, " "));
    } else {
      seconds += fmt::format(
          "    {0}) if (( CURRENT == 3 )); then known=({1}); _describe verb known; return; fi\n"
          "      verb=\"{0} $words[3]\"; shift words; (( CURRENT-- )) ;;\n",
          head, described);
    }
  }
  for (const VerbForm& verb : verbs) cases += zsh_case(verb);
  return fmt::format(
      R"(#compdef muster
# zsh completion for muster; made by `muster completion zsh`
_muster() {{
  local -a known
  local verb=$words[2]
  if (( CURRENT == 2 )); then known=({heads}); _describe verb known; return; fi
  case $verb in
{seconds}    *) ;;
  esac
  shift words; (( CURRENT-- ))
  case $verb in
{cases}    *) _files ;;
  esac
}}
compdef _muster muster
)",
      fmt::arg("heads", heads), fmt::arg("seconds", seconds), fmt::arg("cases", cases));
}

// ---- fish
// ----------------------------------------------------------------------------------------

// `below`: the second words of verbs that begin with this one.
std::string fish_option(const VerbForm& verb, const OptionRow& row,
                        const std::vector<std::string>& below) {
  std::vector<std::string> seen;
  for (const std::string_view word : split(verb.name, ' ')) {
    seen.push_back(fmt::format("__fish_seen_subcommand_from {}", word));
  }
  if (!below.empty()) {
    seen.push_back(fmt::format("not __fish_seen_subcommand_from {}", join(below, " ")));
  }
  std::string out =
      fmt::format("complete -c muster -n {}", quoted(join(seen, "; and "), Shell::fish));
  if (is_option(row)) {
    for (const std::string& name : names_of(row)) {
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (takes_value(row)) out += row.choices.empty() ? " -r" : " -x";
  } else if (row.choices.empty()) {
    return "";  // fish offers files by itself
  } else {
    out += " -f";
  }
  if (!row.choices.empty()) out += " -a " + quoted(join(row.choices, " "), Shell::fish);
  return out + " -d " + quoted(row.help, Shell::fish) + "\n";
}

std::string fish_script(const std::vector<VerbForm>& verbs) {
  const Words words = words_of(verbs);
  std::string out = "# fish completion for muster; made by `muster completion fish`\n";
  for (const std::string& head : words.heads) {
    out += fmt::format("complete -c muster -n __fish_use_subcommand -f -a {} -d {}\n", head,
                       quoted(words.summaries.at(head), Shell::fish));
  }
  for (const auto& [head, list] : words.seconds) {
    for (const std::string& word : list) {
      out += fmt::format(
          "complete -c muster -n '__fish_seen_subcommand_from {0}; and not "
          "__fish_seen_subcommand_from {1}' -f -a {2} -d {3}\n",
          head, join(list, " "), word, quoted(words.summaries.at(head + " " + word), Shell::fish));
    }
  }
  for (const VerbForm& verb : verbs) {
    const auto below = words.seconds.find(verb.name);
    for (const OptionRow& row : with_common(verb)) {
      out += fish_option(verb, row,
                         below != words.seconds.end() ? below->second : std::vector<std::string>{});
    }
  }
  return out;
}

}  // namespace

std::optional<Shell> shell_from_name(std::string_view name) {
  if (name == "bash") return Shell::bash;
  if (name == "zsh") return Shell::zsh;
  if (name == "fish") return Shell::fish;
  return std::nullopt;
}

std::string completion_script(Shell shell, const std::vector<VerbForm>& verbs) {
  switch (shell) {
    case Shell::bash:
      return bash_script(verbs);
    case Shell::zsh:
      return zsh_script(verbs);
    case Shell::fish:
      return fish_script(verbs);
  }
  return "";
}

}  // namespace muster
