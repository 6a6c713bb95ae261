#include "cmd/usage.h"

#include <fmt/core.h>

#include <algorithm>

#include "edge/config/near_word.h"

namespace muster {
namespace {

std::string no_verb(std::string_view typed, const std::vector<std::string_view>& names) {
  const std::string_view near = near_word(typed, names);
  if (!near.empty()) return fmt::format("there is no verb '{}'; did you mean {}?", typed, near);
  return fmt::format("there is no verb '{}'; `muster help` shows all", typed);
}

}  // namespace

std::vector<std::string> without_help_verb(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::string wrong_verb(const std::vector<std::string>& words,
                       const std::vector<std::string_view>& names) {
  if (words.empty() || words.front() == "--") return "which verb? `muster help` shows all";
  const std::string& first = words.front();
  if (first == "-h" || first == "--help" || first == "--version") return "";
  if (first.starts_with('-')) {
    return fmt::format("{}: the verb comes first, then its options: muster VERB {}", first, first);
  }
  if (std::find(names.begin(), names.end(), first) != names.end()) return "";
  // The verbs of two words that begin like this.
  std::vector<std::string_view> longer;
  for (const std::string_view name : names) {
    if (name.starts_with(first + " ")) longer.push_back(name);
  }
  if (longer.empty()) {
    std::vector<std::string_view> known = names;
    for (std::string_view& name : known) name = name.substr(0, name.find(' '));
    known.emplace_back("help");
    return no_verb(first, known);
  }
  if (words.size() == 1) {
    std::string all;
    for (const std::string_view name : longer) {
      all += fmt::format("{}muster {}", all.empty() ? "" : " or ", name);
    }
    return fmt::format("{} alone is no verb: {}", first, all);
  }
  if (words[1].starts_with('-')) return "";
  const std::string both = first + " " + words[1];
  if (std::find(longer.begin(), longer.end(), both) != longer.end()) return "";
  return no_verb(both, longer);
}

std::string wrong_word(std::string_view verb, const std::vector<std::string_view>& options,
                       std::string_view word) {
  if (!word.starts_with('-')) return fmt::format("{} takes no word '{}'", verb, word);
  word = word.substr(0, word.find('='));
  const std::string_view near = near_word(word, options);
  return fmt::format("{} has no option {}{}", verb, word,
                     near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

}  // namespace muster
