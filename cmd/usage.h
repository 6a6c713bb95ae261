#pragma once

#include <string>
#include <string_view>
#include <vector>

// What somebody who mistyped is told, by the table of verbs and by the options of one verb.

namespace muster {

// "help" is no verb of its own: `muster help triage` is `muster triage --help`. Other words as they
// are; `words` are those after the name of the program.
std::vector<std::string> without_help_verb(std::vector<std::string> words);

// "there is no verb 'triag'; did you mean triage?" for the words that begin a command line;
// `names` are those of all verbs, "config check" among them. Empty where a verb is named, or help
// or the version is asked for.
std::string wrong_verb(const std::vector<std::string>& words,
                       const std::vector<std::string_view>& names);

// "triage has no option --folow; did you mean --follow?" for a word that `verb` does not take.
// `options` with their dashes.
std::string wrong_word(std::string_view verb, const std::vector<std::string_view>& options,
                       std::string_view word);

}  // namespace muster
