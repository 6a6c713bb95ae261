#include "core/explain/rule_matcher.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/limits.h"
#include "base/literal_search.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kGroups = 16;

// "a CUDA allocation of {size} failed" in pieces.
struct Piece {
  std::string text;
  bool word = false;  // `text` is its name
};
using Template = std::vector<Piece>;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// A brace that holds no name is text.
Template parse_template(std::string_view text) {
  Template out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    const std::size_t close = std::min(text.find('}', open), text.size());
    const std::string_view name =
        close < text.size() ? text.substr(open + 1, close - open - 1) : std::string_view();
    if (!is_name(name)) {
      const std::size_t end = std::min(open + 1, text.size());
      out.push_back({std::string(text.substr(0, end))});
      text.remove_prefix(end);
      continue;
    }
    if (open > 0) out.push_back({std::string(text.substr(0, open))});
    out.push_back({std::string(name), true});
    text.remove_prefix(close + 1);
  }
  return out;
}

Error complaint(const LogRule& rule, std::string_view what) {
  return make_error(Errc::invalid_input,
                    fmt::format("rule {}: {}", escape_controls(rule.name, 80), what));
}

struct Compiled {
  LogRule rule;
  std::unique_ptr<re2::RE2> pattern;                // none: the anchor is enough
  std::vector<std::pair<int, std::string>> groups;  // by their numbers
  Template subject, meaning, advice;
};

// Nothing, or which word of a template the rule does not have.
std::string unknown_word(const Template& pieces, const Compiled& rule) {
  for (const Piece& piece : pieces) {
    if (!piece.word || piece.text == "host" || piece.text == "rank" || piece.text == "pid") {
      continue;
    }
    const bool known = std::any_of(rule.groups.begin(), rule.groups.end(),
                                   [&](const auto& group) { return group.second == piece.text; });
    if (!known) return piece.text;
  }
  return "";
}

std::string word_of(const LogEvent& event, const std::string& name) {
  if (name == "host") return event.host;
  if (name == "rank") return event.rank ? fmt::format("{}", *event.rank) : "";
  if (name == "pid") return event.pid ? fmt::format("{}", *event.pid) : "";
  return std::string(event.word(name));
}

// Of the class that opens at `open`: its "]"; npos where that does not come.
std::size_t class_end(std::string_view pattern, std::size_t open) {
  std::size_t i = open + 1;
  if (i < pattern.size() && pattern[i] == '^') ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;  // the first one stands for itself
  for (; i < pattern.size() && pattern[i] != ']'; ++i) {
    if (pattern[i] == '\\') ++i;
    if (pattern.substr(i).starts_with("[:"))
      i = std::min(pattern.find(":]", i), pattern.size()) + 1;
  }
  return i < pattern.size() ? i : std::string_view::npos;
}

// `missing` is what stands for a word that the line does not have; nothing: then there is no text.
std::string fill(const Template& pieces, const LogEvent& event,
                 std::optional<std::string_view> missing) {
  std::string out;
  for (const Piece& piece : pieces) {
    std::string word = piece.word ? word_of(event, piece.text) : piece.text;
    if (piece.word && word.empty()) {
      if (!missing) return "";
      word = *missing;
    }
    out += word;
  }
  return out;
}

}  // namespace

struct RuleMatcher::State {
  Status add(LogRule rule);
  Status compile_pattern(Compiled& rule) const;
  std::optional<LogEvent> try_rule(const Compiled& rule, const LogLine& line) const;
  LogEvent event_of(const Compiled& rule, const LogLine& line,
                    std::span<const re2::StringPiece> found) const;

  std::vector<Compiled> rules;
  std::vector<std::string> anchors;
  std::vector<std::vector<std::uint16_t>> of_anchor;  // rules, rising
  std::vector<std::uint16_t> without_anchor;
  std::map<std::string, std::uint16_t, std::less<>> anchor_index;
  std::set<std::string> names;
};

Status RuleMatcher::State::compile_pattern(Compiled& rule) const {
  const std::string& text = rule.rule.pattern;
  if (text.empty()) return {};
  if (text.size() > limits::kRulePatternBytes)
    return complaint(rule.rule, "the pattern is too long");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: logs are of any encoding
  rule.pattern = std::make_unique<re2::RE2>(text, options);
  if (!rule.pattern->ok()) {
    return complaint(rule.rule, "its pattern cannot be used: " + rule.pattern->error());
  }
  if (rule.pattern->NumberOfCapturingGroups() >= static_cast<int>(kGroups)) {
    return complaint(rule.rule, fmt::format("more than {} groups in its pattern", kGroups - 1));
  }
  for (const auto& [number, name] : rule.pattern->CapturingGroupNames()) {
    if (!is_name(name)) {
      return complaint(rule.rule,
                       fmt::format("the name of a group is lower case: not \"{}\"", name));
    }
    rule.groups.emplace_back(number, name);
  }
  return {};
}

Status RuleMatcher::State::add(LogRule rule) {
  if (rules.size() >= limits::kRules) return complaint(rule, "too many rules");
  if (rule.name.empty()) return make_error(Errc::invalid_input, "a rule has no name");
  if (!names.insert(rule.name).second) return complaint(rule, "the name comes twice");
  if (rule.anchor.empty()) rule.anchor = anchor_of_pattern(rule.pattern);
  if (rule.anchor.empty() && rule.pattern.empty()) {
    return complaint(rule, "neither anchor nor pattern");
  }
  const std::size_t size = rule.anchor.size();
  if (size != 0 && (size < LiteralSearch::kMinBytes || size > 255 ||
                    rule.anchor.find('\n') != std::string::npos)) {
    return complaint(
        rule, fmt::format("an anchor has {} to 255 bytes of one line", LiteralSearch::kMinBytes));
  }
  Compiled compiled;
  compiled.rule = std::move(rule);
  if (Status fine = compile_pattern(compiled); !fine) return fine;
  compiled.subject = parse_template(compiled.rule.subject_id);
  compiled.meaning = parse_template(compiled.rule.meaning);
  compiled.advice = parse_template(compiled.rule.advice);
  for (const Template* pieces : {&compiled.subject, &compiled.meaning, &compiled.advice}) {
    const std::string word = unknown_word(*pieces, compiled);
    if (!word.empty()) {
      return complaint(compiled.rule, fmt::format("{{{}}} is no group of its pattern", word));
    }
  }
  const auto index = static_cast<std::uint16_t>(rules.size());
  const std::string& anchor = compiled.rule.anchor;
  if (anchor.empty()) {
    without_anchor.push_back(index);
  } else {
    const auto [found, fresh] =
        anchor_index.try_emplace(anchor, static_cast<std::uint16_t>(anchors.size()));
    if (fresh) {
      anchors.push_back(anchor);
      of_anchor.emplace_back();
    }
    of_anchor[found->second].push_back(index);
  }
  rules.push_back(std::move(compiled));
  return {};
}

LogEvent RuleMatcher::State::event_of(const Compiled& rule, const LogLine& line,
                                      std::span<const re2::StringPiece> found) const {
  LogEvent event;
  event.rule = rule.rule.name;
  event.cause = rule.rule.cause;
  event.role = rule.rule.role;
  event.severity = rule.rule.severity;
  event.time = event.last = line.time;
  event.host = line.host;
  event.rank = line.rank;
  event.pid = line.pid;
  for (const auto& [number, name] : rule.groups) {
    const re2::StringPiece& group = found[static_cast<std::size_t>(number)];
    if (group.data() == nullptr || group.empty()) continue;
    const std::string word(whole_characters({group.data(), group.size()}, limits::kRuleWordBytes));
    if (name == "host") event.host = word;
    if (const auto value = parse_int(word); value && *value >= 0) {
      if (name == "rank" && *value <= (1 << 24)) event.rank = static_cast<std::int32_t>(*value);
      if (name == "pid") event.pid = *value;
    }
    event.words.emplace_back(name, word);
  }
  event.meaning = fill(rule.meaning, event, "?");
  event.advice = fill(rule.advice, event, "?");
  event.actions = rule.rule.actions;
  if (std::string id = fill(rule.subject, event, std::nullopt); !id.empty()) {
    event.subject = {rule.rule.subject_kind, std::move(id)};
  }
  event.text = std::string(whole_characters(trim(line.text), limits::kEvidenceChars));
  return event;
}

std::optional<LogEvent> RuleMatcher::State::try_rule(const Compiled& rule,
                                                     const LogLine& line) const {
  if (!rule.pattern) return event_of(rule, line, {});
  std::array<re2::StringPiece, kGroups> found;
  const int groups = rule.pattern->NumberOfCapturingGroups() + 1;
  const auto search = [&](std::string_view text) {
    return rule.pattern->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(),
                               re2::RE2::UNANCHORED, found.data(), groups);
  };
  const bool hit =
      search(line.message) || (line.message.size() != line.text.size() && search(line.text));
  if (!hit) return std::nullopt;
  return event_of(rule, line, found);
}

Result<RuleMatcher> RuleMatcher::make(std::vector<LogRule> rules) {
  auto state = std::make_unique<State>();
  for (LogRule& rule : rules) {
    if (Status fine = state->add(std::move(rule)); !fine) return fine.error();
  }
  return RuleMatcher(std::move(state));
}

RuleMatcher::RuleMatcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
RuleMatcher::~RuleMatcher() = default;
RuleMatcher::RuleMatcher(RuleMatcher&&) noexcept = default;
RuleMatcher& RuleMatcher::operator=(RuleMatcher&&) noexcept = default;

const std::vector<std::string>& RuleMatcher::anchors() const {
  return state_->anchors;
}
bool RuleMatcher::needs_all_lines() const {
  return !state_->without_anchor.empty();
}

std::optional<LogEvent> RuleMatcher::match(const LogLine& line,
                                           std::span<const std::uint16_t> anchors) const {
  std::vector<std::uint16_t> candidates = state_->without_anchor;
  for (const std::uint16_t anchor : anchors) {
    const auto& rules = state_->of_anchor[anchor];
    candidates.insert(candidates.end(), rules.begin(), rules.end());
  }
  std::sort(candidates.begin(), candidates.end());
  for (const std::uint16_t index : candidates) {
    if (auto event = state_->try_rule(state_->rules[index], line)) return event;
  }
  return std::nullopt;
}

std::optional<LogEvent> RuleMatcher::match(const LogLine& line) const {
  std::vector<std::uint16_t> here;
  for (std::size_t i = 0; i < state_->anchors.size(); ++i) {
    if (line.text.find(state_->anchors[i]) != std::string_view::npos) {
      here.push_back(static_cast<std::uint16_t>(i));
    }
  }
  return match(line, here);
}

std::string anchor_of_pattern(std::string_view pattern) {
  std::string best, run;
  const auto end_run = [&] {
    if (run.size() > best.size()) best = run;
    run.clear();
  };
  int depth = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool flags = pattern.substr(i).starts_with("(?") && i + 2 < pattern.size() &&
                       pattern[i + 2] != 'P' && pattern[i + 2] != ':';
    if (flags || (c == '|' && depth == 0)) return "";
    if (c == '[') {  // one of several bytes
      end_run();
      i = class_end(pattern, i);
      if (i == std::string_view::npos) return "";
      continue;
    }
    char literal = '\0';
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                          (next >= '0' && next <= '9');
      if (next == 'Q') return "";
      if (!letter) literal = next;
      if (next == 'x' || next == 'p' || next == 'P') return "";
    } else if (std::string_view("^$.*+?(){}|").find(c) == std::string_view::npos) {
      literal = c;
    }
    const char after = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    const bool optional = after == '?' || after == '*' || after == '{';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth > 0 || literal == '\0' || optional) {
      end_run();
    } else {
      run += literal;
      if (after == '+') end_run();
    }
    if (optional && after == '{') {  // a count: its digits are no text
      const std::size_t close = pattern.find('}', i);
      if (close == std::string_view::npos) return "";
      i = close;
    }
  }
  end_run();
  return best.size() >= LiteralSearch::kMinBytes ? best.substr(0, 255) : "";
}

}  // namespace muster
