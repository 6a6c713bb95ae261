// The built-in rules against the lines of testdata/explain: each rule finds its own kind and leaves
// its neighbours alone, and healthy runs of every trainer stay healthy.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "core/comms/log_envelope.h"
#include "core/explain/log_rule.h"
#include "core/explain/rule_matcher.h"

namespace muster {
namespace {

struct Example {
  std::string mark, line, place;
};

std::vector<Example> examples(const std::string& beginning) {
  std::vector<Example> out;
  const std::filesystem::path folder =
      std::filesystem::path(MUSTER_SOURCE_DIR) / "testdata/explain";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning)) continue;
    std::ifstream file(entry.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      if (line.empty() || line.starts_with('#')) continue;
      const std::size_t tab = line.find('\t');
      EXPECT_NE(tab, std::string::npos) << name << ":" << number;
      if (tab == std::string::npos) continue;
      out.push_back(
          {line.substr(0, tab), line.substr(tab + 1), name + ":" + std::to_string(number)});
    }
  }
  EXPECT_FALSE(out.empty()) << beginning;
  return out;
}

const RuleMatcher& matcher() {
  static const RuleMatcher kMatcher = [] {
    const auto rules = builtin_rules();
    auto made = RuleMatcher::make({rules.begin(), rules.end()});
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().context);
    return std::move(made).value();
  }();
  return kMatcher;
}

std::optional<LogEvent> match(const std::string& text) {
  const LogEnvelope envelope = read_log_envelope(text, WallTime{});
  LogLine line{text, envelope.message};
  line.host = envelope.host;
  line.rank = envelope.rank;
  line.pid = envelope.pid;
  return matcher().match(line);
}

TEST(ExplainRules, EveryRowIsWellFormed) {
  for (const LogRule& rule : builtin_rules()) {
    EXPECT_EQ(rule.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << rule.name;
    EXPECT_FALSE(rule.meaning.empty()) << rule.name;
    EXPECT_GE(rule.anchor.size(), 5u) << rule.name;
    if (rule.role == EventRole::root) {
      EXPECT_FALSE(rule.advice.empty()) << rule.name;
      EXPECT_FALSE(rule.actions.empty()) << rule.name;
    }
    const Severity severity = rule.severity.value_or(cause_row(rule.cause).severity);
    EXPECT_TRUE(cause_row(rule.cause).allows(severity)) << rule.name;
    EXPECT_EQ(rule.subject_id.empty(), rule.subject_kind == CulpritKind::none) << rule.name;
    const bool benign = rule.role == EventRole::benign;
    EXPECT_EQ(benign, rule.cause == Cause::harmless_message) << rule.name;
  }
}

TEST(ExplainRules, LinesFindTheirRule) {
  std::map<std::string, int> found, near;
  for (const Example& example : examples("rules_")) {
    const auto event = match(example.line);
    const std::string rule = event ? event->rule : "-";
    if (example.mark.starts_with('!')) {
      ++near[example.mark.substr(1)];
      EXPECT_NE(rule, example.mark.substr(1)) << example.place << ": " << example.line;
      continue;
    }
    ++found[example.mark];
    EXPECT_EQ(rule, example.mark) << example.place << ": " << example.line;
    const std::string meaning = event ? event->meaning : "";
    EXPECT_EQ(meaning.find('?'), std::string::npos) << example.place << ": " << meaning;
  }
  for (const LogRule& rule : builtin_rules()) {
    EXPECT_GE(found[rule.name], 1) << rule.name << " has no line in testdata/explain";
    EXPECT_GE(near[rule.name], 1) << rule.name << " has no near line in testdata/explain";
    found.erase(rule.name);
    near.erase(rule.name);
  }
  for (const auto& [name, count] : found) EXPECT_EQ(name, "-") << "no such rule";
  for (const auto& [name, count] : near) ADD_FAILURE() << name << ": no such rule";
}

// In front of a line stands whatever launchers, containers and loggers put there.
TEST(ExplainRules, EnvelopesMakeNoDifference) {
  for (const std::string prefix :
       {"3: ", "[default3]:", "[rank3]: ", "2026-05-01T10:00:00Z stderr F "}) {
    for (const Example& example : examples("rules_")) {
      if (example.mark.starts_with('!')) continue;
      const auto event = match(prefix + example.line);
      EXPECT_EQ(event ? event->rule : "-", example.mark) << prefix << example.line;
    }
  }
}

bool accuses(const std::optional<LogEvent>& event) {
  return event && event->role != EventRole::benign && event->role != EventRole::context;
}

TEST(ExplainRules, HealthyRunsStayHealthy) {
  for (const Example& example : examples("healthy")) {
    const auto event = match(example.line);
    EXPECT_FALSE(accuses(event)) << example.place << " " << example.line << ": " << event->rule;
    std::string changed = example.line;
    for (std::size_t i = 0; i < changed.size(); ++i) {
      for (const char c : {'\xff', 'E', ' '}) {
        std::string flipped = changed;
        flipped[i] = c;
        const auto of_flipped = match(flipped);
        EXPECT_FALSE(accuses(of_flipped)) << example.place << " " << flipped;
      }
      EXPECT_FALSE(accuses(match(changed.substr(0, i)))) << example.place << " cut at " << i;
    }
  }
}

// Cut anywhere a line gives nothing or an event of its own, never a crash.
TEST(ExplainRules, CutLinesAreSafe) {
  for (const Example& example : examples("rules_")) {
    for (std::size_t i = 0; i < example.line.size(); i += 3) match(example.line.substr(0, i));
  }
}

}  // namespace
}  // namespace muster
