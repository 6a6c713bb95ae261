#include "core/explain/rule_matcher.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace muster {
namespace {

LogRule rule(std::string name, std::string anchor, std::string pattern) {
  LogRule out;
  out.name = std::move(name);
  out.anchor = std::move(anchor);
  out.pattern = std::move(pattern);
  return out;
}

std::string refusal(std::vector<LogRule> rules) {
  const auto made = RuleMatcher::make(std::move(rules));
  return made ? "" : made.error().context;
}

TEST(RuleMatcher, BadRulesSayWhy) {
  LogRule unknown = rule("a", "anchor", "anchor (?P<size>.*)");
  unknown.meaning = "of {size} at {place}";
  LogRule own = rule("own", "anchor", "anchor (?P<size>.*)");
  own.meaning = "{host} {rank} {pid} {size} {Not a word} {";
  std::string groups;
  for (int i = 0; i < 16; ++i) groups += "(x)";
  struct Row {
    const char* name;
    std::vector<LogRule> rules;
    std::string says;  // empty: fine
  };
  const Row rows[] = {
      {"no name", {rule("", "anchor", "")}, "a rule has no name"},
      {"a name twice", {rule("a", "anchor", ""), rule("a", "other", "")}, "rule a: the name"},
      {"nothing to find", {rule("a", "", "")}, "rule a: neither anchor nor pattern"},
      {"short anchor", {rule("a", "abcd", "")}, "rule a: an anchor has 5"},
      {"long anchor", {rule("a", std::string(256, 'x'), "")}, "rule a: an anchor has 5"},
      {"anchor over lines", {rule("a", "one\ntwo", "")}, "rule a: an anchor"},
      {"no pattern", {rule("a", "anchor", "(unclosed")}, "missing )"},
      {"a look ahead", {rule("a", "anchor", "(?=x)")}, "invalid perl operator"},
      {"long pattern", {rule("a", "anchor", std::string(5000, 'x'))}, "too long"},
      {"many groups", {rule("a", "anchor", groups)}, "more than 15 groups"},
      {"upper case group", {rule("a", "anchor", "(?P<Size>x)")}, "not \"Size\""},
      {"unknown word", {unknown}, "{place} is no group"},
      {"words that are always there", {own}, ""},
      {"no anchor", {rule("a", "", "a.b")}, ""},
      {"only an anchor", {rule("a", "anchor", "")}, ""},
  };
  for (const Row& row : rows) {
    const std::string said = refusal(row.rules);
    EXPECT_NE(said.find(row.says), std::string::npos) << row.name << ": " << said;
    EXPECT_EQ(said.empty(), row.says.empty()) << row.name << ": " << said;
  }
  EXPECT_NE(refusal(std::vector<LogRule>(limits::kRules + 1, rule("a", "anchor", ""))), "");
}

std::string told(const RuleMatcher& matcher, const LogLine& line) {
  const auto event = matcher.match(line);
  if (!event) return "-";
  std::string out = event->rule + " " + event->host + "/" +
                    (event->rank ? std::to_string(*event->rank) : "") + "/" +
                    (event->pid ? std::to_string(*event->pid) : "");
  for (const auto& [name, word] : event->words) out += " " + name + "=" + word;
  if (event->subject.kind != CulpritKind::none) {
    out += " " + std::string(culprit_kind_name(event->subject.kind)) + ":" + event->subject.id;
  }
  return out + (event->meaning.empty() ? "" : ": " + event->meaning);
}

TEST(RuleMatcher, Table) {
  LogRule memory = rule("memory", "allocate", "allocate (?P<size>\\d+) MiB(?: on (?P<gpu>\\d))?");
  memory.subject_kind = CulpritKind::gpu;
  memory.subject_id = "{host}/{gpu}";
  memory.meaning = "{size} MiB on GPU {gpu} of {host}";
  LogRule peer =
      rule("peer", "closed by", "closed by (?P<host>\\S+) (?P<rank>-?\\w+) (?P<pid>\\w+)");
  const auto matcher = RuleMatcher::make(
      {memory, peer, rule("later", "allocate", "allocate"), rule("start", "begins", "^begins here"),
       rule("all", "", "a.c."), rule("bytes", "\xff\xfe\xfd\xfc\xfb", "\xfd.\xfb")});
  ASSERT_TRUE(matcher) << matcher.error().context;
  EXPECT_TRUE(matcher->needs_all_lines());
  struct Row {
    const char* name;
    LogLine line;
    std::string gives;
  };
  const auto line = [](std::string_view text) { return LogLine{.text = text, .message = text}; };
  LogLine placed = line("allocate 7 MiB on 3");
  placed.host = "n1";
  placed.rank = 5;
  placed.pid = 77;
  const Row rows[] = {
      {"empty", line(""), "-"},
      {"an anchor only", line("closed by nobody"), "-"},
      {"no digits", line("allocate x MiB"), "later //"},
      {"case", line("Allocate 7 MiB"), "-"},
      {"a word is missing, so is the subject", line("allocate 7 MiB"),
       "memory // size=7: 7 MiB on GPU ? of ?"},
      {"no host, no subject", line("allocate 7 MiB on 3"),
       "memory // size=7 gpu=3: 7 MiB on GPU 3 of ?"},
      {"the envelope's words", placed,
       "memory n1/5/77 size=7 gpu=3 gpu:n1/3: 7 MiB on GPU 3 of n1"},
      {"its own words", line("closed by n2 6 78"), "peer n2/6/78 host=n2 rank=6 pid=78"},
      {"no numbers", line("closed by n2 -1 x"), "peer n2// host=n2 rank=-1 pid=x"},
      {"far too high", line("closed by n2 99999999 x"), "peer n2// host=n2 rank=99999999 pid=x"},
      {"begin of the message", {.text = "tag: begins here", .message = "begins here"}, "start //"},
      {"not its begin", line("it begins here"), "-"},
      {"in front of the message", {.text = "allocate: x", .message = "x"}, "later //"},
      {"without anchor", line("xabcd"), "all //"},
      {"bytes", line("\xff\xfe\xfd\xfc\xfb"), "bytes //"},
  };
  for (const Row& row : rows) EXPECT_EQ(told(*matcher, row.line), row.gives) << row.name;
}

TEST(RuleMatcher, IsBounded) {
  const auto matcher = RuleMatcher::make({rule("a", "", "(?P<all>.*)")});
  ASSERT_TRUE(matcher);
  const std::string text(10'000, 'x');
  const auto event = matcher->match({.text = text, .message = text});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->word("all").size(), limits::kRuleWordBytes);
  EXPECT_EQ(event->text.size(), limits::kEvidenceChars);
}

TEST(RuleMatcher, AnchorsOfPatterns) {
  struct Row {
    std::string pattern, anchor;
  };
  const Row rows[] = {
      {"", ""},
      {"abcd", ""},
      {"(?i)abcdef", ""},
      {"abcdef|ghijkl", ""},
      {"(abcdef|ghijkl)", ""},
      {"[abcdef]", ""},
      {"[]abcdef]", ""},
      {"[^]abcdef]", ""},
      {"[\\]abcdef]", ""},
      {"[[:alpha:]abcdef]", ""},
      {"[abcdef", ""},
      {"\\Qabcdef", ""},
      {"\\x41bcdef", ""},
      {"abcd{12345}", ""},
      {"abcd{12345", ""},
      {"abcde*", ""},
      {"abcde?", ""},
      {"abcde+fgh", "abcde"},
      {"abcdef+", "abcdef"},
      {"abcdef", "abcdef"},
      {"^abcdef$", "abcdef"},
      {"short.longer one", "longer one"},
      {"a\\.b\\(c\\)", "a.b(c)"},
      {"\\bword\\b next", " next"},
      {"(?P<a>x+) behind (it)", " behind "},
      {"(?:x|y) behind", " behind"},
      {"lost [0-9]+ packets", " packets"},
  };
  for (const Row& row : rows) EXPECT_EQ(anchor_of_pattern(row.pattern), row.anchor) << row.pattern;
}

}  // namespace
}  // namespace muster
