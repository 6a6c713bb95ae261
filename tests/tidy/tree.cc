#include "tests/tidy/tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "base/text.h"

namespace muster::tidy {
namespace {

namespace fs = std::filesystem;

bool is_ours(const std::string& path) {
  const fs::path p(path);
  const std::string name = p.filename().string();
  if (path == "run" || path == ".ci/run" || name == "CMakeLists.txt") return true;
  const std::string extension = p.extension().string();
  if (path.starts_with("testdata/") || path.starts_with("fuzz/corpus/")) return extension == ".md";
  static const std::set<std::string> kExtensions = {".h",  ".hpp", ".cc",    ".cpp", ".md",
                                                    ".sh", ".awk", ".cmake", ".txt", ".json"};
  return kExtensions.contains(extension);
}

bool skip_folder(const std::string& path) {
  return path == "build" || path.ends_with("/build") || (path.starts_with(".") && path != ".ci");
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Copies C++ text and turns what is no code into blanks.
class Blanker {
 public:
  Blanker(std::string_view text, bool strings) : out_(text), strings_(strings) {}

  std::string run() {
    while (at_ < out_.size()) step();
    return std::move(out_);
  }

 private:
  bool sees(std::string_view what) const {
    return std::string_view(out_).substr(at_, what.size()) == what;
  }

  void blank(std::size_t end, bool wanted) {
    for (; at_ < std::min(end, out_.size()); ++at_) {
      if (wanted && out_[at_] != '\n') out_[at_] = ' ';
    }
  }

  std::size_t find(std::string_view what, std::size_t from) const {
    const std::size_t found = out_.find(what, from);
    return found == std::string::npos ? out_.size() : found;
  }

  void step() {
    const char c = out_[at_];
    if (sees("//")) return blank(find("\n", at_), true);
    if (sees("/*")) return blank(find("*/", at_ + 2) + 2, true);
    const bool after_word = at_ > 0 && is_word(out_[at_ - 1]);
    if (sees("R\"") && !after_word) return raw_string();
    if (c == '"') return literal('"');
    if (c == '\'' && !after_word) return literal('\'');  // not 1'000
    ++at_;
  }

  void raw_string() {
    const std::size_t open = find("(", at_);
    const std::string close = ")" + out_.substr(at_ + 2, open - at_ - 2) + "\"";
    const std::size_t end = find(close, open);
    at_ = std::min(open + 1, out_.size());
    blank(end, strings_);
    at_ = std::min(end + close.size(), out_.size());
  }

  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < out_.size() && out_[end] != quote && out_[end] != '\n')
      end += out_[end] == '\\' ? 2 : 1;
    ++at_;
    blank(end, strings_);
    if (at_ < out_.size()) ++at_;
  }

  std::string out_;
  bool strings_;
  std::size_t at_ = 0;
};

// Preprocessor lines, with their continuations, as blanks.
std::string without_directives(const std::string& text) {
  std::string out = text;
  bool directive = false;
  bool line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      directive = directive && text[i - 1] == '\\';
      line_start = true;
      continue;
    }
    if (line_start && text[i] == '#') directive = true;
    if (text[i] != ' ' && text[i] != '\t') line_start = false;
    if (directive) out[i] = ' ';
  }
  return out;
}

// Is `head`, the text between the last ; { } and an opening brace, the start of a function?
bool starts_function(std::string_view head) {
  head = trim(head);
  while (head.starts_with("template")) {
    int depth = 0;
    std::size_t i = head.find('<');
    for (; i < head.size(); ++i) {
      if (head[i] == '<') ++depth;
      if (head[i] == '>' && --depth == 0) break;
    }
    head = trim(head.substr(std::min(i + 1, head.size())));
  }
  if (head.find('(') == std::string_view::npos || head.ends_with('=')) return false;
  // Inside an argument list: `= std::to_array<Row>({`.
  if (std::count(head.begin(), head.end(), '(') != std::count(head.begin(), head.end(), ')')) {
    return false;
  }
  static constexpr std::array kScopes = {"namespace", "class", "struct", "union", "enum"};
  return std::none_of(kScopes.begin(), kScopes.end(), [head](std::string_view word) {
    return head.starts_with(word) && head.size() > word.size() && !is_word(head[word.size()]);
  });
}

// Follows the braces of a file whose comments, strings and directives are blanks.
class BraceWalk {
 public:
  explicit BraceWalk(std::string_view code) : code_(code) {}

  std::vector<Function> run() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const char c = code_[i];
      if (c == '\n') ++line_;
      if (c == '{') {
        open(i);
      } else if (c == '}') {
        close(i);
      } else if (c == ';' && !inside_) {
        restart(i);
      } else if (!inside_ && head_line_ == 0 && c != ' ' && c != '\n') {
        head_line_ = line_;
      }
    }
    return std::move(functions_);
  }

 private:
  void restart(std::size_t i) {
    head_ = i + 1;
    head_line_ = 0;
  }

  void open(std::size_t i) {
    ++depth_;
    if (inside_) return;
    const std::string_view head = code_.substr(head_, i - head_);
    // `Foo() : a_{1}, b_(2) {`: the braces of a member's initializer are no body; what follows
    // belongs to the function that was begun.
    const bool goes_on = !functions_.empty() && last_close_ == head_ && last_close_ != 0 &&
                         (trim(head).starts_with(',') || trim(head).empty());
    if (goes_on || starts_function(head)) {
      inside_ = true;
      body_depth_ = depth_;
      if (!goes_on) functions_.push_back({head_line_, 0});
    } else {
      restart(i);
    }
  }

  void close(std::size_t i) {
    --depth_;
    if (inside_ && depth_ >= body_depth_) return;
    if (inside_) {
      inside_ = false;
      functions_.back().length = line_ - functions_.back().line + 1;
      last_close_ = i + 1;
    }
    restart(i);
  }

  std::string_view code_;
  std::vector<Function> functions_;
  int line_ = 1;
  int depth_ = 0;
  bool inside_ = false;
  int body_depth_ = 0;
  std::size_t head_ = 0;
  int head_line_ = 0;
  std::size_t last_close_ = 0;
};

}  // namespace

Tree read_tree(const std::string& root) {
  Tree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const std::string path = fs::path(it->path()).lexically_relative(root).generic_string();
    if (it->is_directory() && skip_folder(path)) it.disable_recursion_pending();
    if (!it->is_regular_file() || !is_ours(path)) continue;
    std::ifstream in(it->path(), std::ios::binary);
    tree.push_back({path, {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
  std::sort(tree.begin(), tree.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

std::string without_comments(std::string_view text) {
  return Blanker(text, false).run();
}
std::string code_only(std::string_view text) {
  return Blanker(text, true).run();
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> out;
  const std::string clean = without_comments(text);
  int number = 0;
  for (std::string_view line : split(clean, '\n')) {
    ++number;
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    if (line.size() < 3 || (line.front() != '"' && line.front() != '<')) continue;
    const bool quoted = line.front() == '"';
    const std::size_t end = line.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    out.push_back({number, std::string(line.substr(1, end - 1)), quoted});
  }
  return out;
}

std::vector<Function> functions_of(std::string_view text) {
  const std::string code = without_directives(code_only(text));
  return BraceWalk(code).run();
}

}  // namespace muster::tidy
