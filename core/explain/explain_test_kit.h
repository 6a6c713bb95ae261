#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/explain/explain.h"

// Inputs written by hand, for the tests of core/explain/: lines of readers that need not run.

namespace muster {

// A line under construction. Seconds count from one midnight; a clock without a date from its own.
class Line {
 public:
  explicit Line(LogEvent& event) : event_(&event) {}

  Line& at(double seconds) {
    event_->time.at = WallTime(std::chrono::hours(24 * 20'000)) + seconds_to_duration(seconds);
    return *this;
  }
  Line& clock(double seconds) {
    event_->time.at = WallTime(seconds_to_duration(seconds));
    event_->time.has_date = false;
    return *this;
  }
  Line& zone() {
    event_->time.has_zone = true;
    return *this;
  }
  Line& boot(double seconds) {
    event_->time.since_boot = seconds_to_duration(seconds);
    return *this;
  }
  Line& host(std::string host) {
    event_->host = std::move(host);
    return *this;
  }
  Line& rank(std::int32_t rank) {
    event_->rank = rank;
    return *this;
  }
  Line& pid(std::int64_t pid) {
    event_->pid = pid;
    return *this;
  }
  Line& word(std::string name, std::string value) {
    event_->words.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Line& on(CulpritKind kind, std::string id) {
    event_->subject = {kind, std::move(id)};
    return *this;
  }
  Line& severity(Severity severity) {
    event_->severity = severity;
    return *this;
  }
  Line& sure(Confidence confidence) {
    event_->confidence = confidence;
    return *this;
  }

 private:
  LogEvent* event_;
};

struct Pile {
  ExplainInput input;
  std::string source = "job.log";

  Line line(std::string rule, Cause cause, EventRole role, std::string text = "a line") {
    LogEvent event;
    event.rule = std::move(rule);
    event.cause = cause;
    event.role = role;
    event.text = std::move(text);
    event.source = source;
    event.line = input.events.size() + 1;
    input.events.push_back(std::move(event));
    return Line(input.events.back());
  }
  Line root(Cause cause, std::string text = "a line") {
    return line("rule_" + std::string(cause_name(cause)), cause, EventRole::root, std::move(text));
  }
  Line cascade(std::string text = "a connection broke") {
    return line("broken", Cause::undetermined, EventRole::cascade, std::move(text));
  }
  Line context(const std::string& rule, std::string text = "a line") {
    return line("progress:" + rule, Cause::undetermined, EventRole::context, std::move(text));
  }
  Line xid(int code, Cause cause, std::string pci, EventRole role = EventRole::root) {
    Line made = line("xid", cause, role, "Xid " + std::to_string(code));
    made.word("code", std::to_string(code)).word("pci", std::move(pci));
    return made;
  }
  Line timeout(std::int32_t rank, double seconds, int seq = 700, std::string op = "ALLREDUCE") {
    Line made = line("collective_timeout", Cause::collective_hang, EventRole::cascade, "timed out");
    made.rank(rank).at(seconds).word("seq", std::to_string(seq)).word("op", std::move(op));
    made.word("ran_ms", "600010");
    return made;
  }
  void timeouts(std::int32_t first, std::int32_t last, double seconds, std::int32_t without = -1) {
    for (std::int32_t r = first; r <= last; ++r) {
      if (r != without) timeout(r, seconds + 0.01 * r);
    }
  }
  void fact(SiteValue value, std::string host = "", std::string from = "site.txt") {
    input.facts.push_back({std::move(value), std::move(host), std::move(from), 1, "a fact"});
  }
};

// Short words for the rows.
using enum Cause;
inline constexpr auto kCritical = Severity::critical;
inline constexpr auto kWarning = Severity::warning;
inline constexpr auto kInfo = Severity::info;
inline constexpr auto kOk = Severity::ok;
inline constexpr auto kLow = Confidence::low;
inline constexpr auto kMedium = Confidence::medium;
inline constexpr auto kHigh = Confidence::high;

struct ExplainRow {
  std::string name;
  std::function<void(Pile&)> build;
  std::string cause;     // empty: no finding at all
  std::string culprits;  // "rank:3 gpu:n1/0000:3b:00.0"; "" : none or unknown
  Severity severity = Severity::critical;
  Confidence least = Confidence::medium, most = Confidence::high;
};

inline std::string named(const Finding& finding) {
  std::string out;
  for (const Culprit& culprit : finding.culprits) {
    if (culprit.kind == CulpritKind::none || culprit.kind == CulpritKind::unknown) continue;
    out +=
        (out.empty() ? "" : " ") + std::string(culprit_kind_name(culprit.kind)) + ":" + culprit.id;
  }
  return out;
}

inline void expect_row(const ExplainRow& row) {
  SCOPED_TRACE(row.name);
  Pile pile;
  row.build(pile);
  const Explanation answer = explain(pile.input);
  if (row.cause.empty()) {
    EXPECT_TRUE(answer.findings.empty()) << cause_name(answer.findings.front().cause);
    return;
  }
  ASSERT_FALSE(answer.findings.empty());
  const Finding& first = answer.findings.front();
  EXPECT_EQ(cause_name(first.cause), row.cause) << first.summary;
  EXPECT_EQ(named(first), row.culprits) << first.summary;
  EXPECT_EQ(severity_name(first.severity), severity_name(row.severity)) << first.summary;
  EXPECT_GE(first.confidence, row.least) << first.summary;
  EXPECT_LE(first.confidence, row.most) << first.summary;
  EXPECT_TRUE(cause_row(first.cause).allows(first.severity));
  EXPECT_FALSE(first.summary.empty());
  EXPECT_FALSE(first.actions.empty());
  EXPECT_FALSE(first.next.empty());
  EXPECT_TRUE(!first.evidence.empty());
  for (std::size_t i = 1; i < answer.findings.size(); ++i) {
    EXPECT_EQ(answer.findings[i].confidence, Confidence::low) << answer.findings[i].summary;
  }
}

inline void run(const std::vector<ExplainRow>& rows) {
  for (const ExplainRow& row : rows) expect_row(row);
}

}  // namespace muster
