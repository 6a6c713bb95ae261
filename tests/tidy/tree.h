#pragma once

#include <string>
#include <string_view>
#include <vector>

// The source tree as values, so that the rules (tests/tidy/rules.h) can be tried on trees that were
// made up for the purpose.

namespace muster::tidy {

struct SourceFile {
  std::string path;  // from the root of the tree: "core/model/cause.h"
  std::string text;
};

using Tree = std::vector<SourceFile>;

// Every text file that we write by hand, sorted by path. Left out: build/, hidden folders other
// than .ci, testdata/ and the fuzz corpora apart from their README.md (what is recorded there is
// not our prose).
Tree read_tree(const std::string& root);

// The same text with the same line breaks where comments are blanks; with `strings`, the contents
// of string and character literals are blanks too. Knows raw strings and 1'000.
std::string without_comments(std::string_view text);
std::string code_only(std::string_view text);

struct Include {
  int line;
  std::string header;
  bool quoted;  // "base/text.h", not <string>
};
std::vector<Include> includes_of(std::string_view text);

struct Function {
  int line;    // of its first word
  int length;  // lines, from there to the closing brace
};
// Functions with a body, outermost only: what is inside a function (lambdas, local classes) counts
// to it.
std::vector<Function> functions_of(std::string_view text);

}  // namespace muster::tidy
