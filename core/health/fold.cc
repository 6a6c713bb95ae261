#include "core/health/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/limits.h"

namespace muster::health {
namespace {

bool is_hidden(const CheckResult& result) {
  const Check* const row = find_check(result.check);
  return row == nullptr || !row->only_warns;
}

// Causes that say of what kind a fault is and not what it is: each check has a finding of its own.
bool only_names_a_class(Cause cause) {
  constexpr Cause kClasses[] = {Cause::host_setting, Cause::host_differs, Cause::host_hardware,
                                Cause::service_down, Cause::undetermined};
  return std::find(std::begin(kClasses), std::end(kClasses), cause) != std::end(kClasses);
}

// What goes into one finding.
struct Pile {
  std::vector<const CheckResult*> results;
  std::vector<std::string> hosts;  // in the order given, once each
};

using PileKey = std::tuple<Cause, CheckOutcome, std::string>;

std::map<PileKey, Pile> pile_up(const std::vector<CheckedHost>& hosts) {
  std::map<PileKey, Pile> out;
  for (const CheckedHost& host : hosts) {
    for (const CheckResult& result : host.results) {
      if (result.outcome != CheckOutcome::fail && result.outcome != CheckOutcome::warn) continue;
      const Check* const row = find_check(result.check);
      MUSTER_CHECK(row != nullptr, "every result has a row");
      const Cause cause = result.cause.value_or(row->cause);
      Pile& pile =
          out[{cause, result.outcome, only_names_a_class(cause) ? result.check : std::string()}];
      pile.results.push_back(&result);
      if (pile.hosts.empty() || pile.hosts.back() != host.host) pile.hosts.push_back(host.host);
    }
  }
  return out;
}

void set_severity(Finding& finding, CheckOutcome outcome) {
  const CauseRow& row = cause_row(finding.cause);
  const Severity wished = outcome == CheckOutcome::fail ? Severity::critical : Severity::warning;
  finding.severity = row.allows(wished) ? wished : row.severity;
  // A warning of what is only ever critical is a hint.
  const bool worse = finding.severity > wished;
  finding.confidence = worse                           ? Confidence::low
                       : outcome == CheckOutcome::fail ? Confidence::high
                                                       : Confidence::medium;
}

void add_culprits(Finding& finding, const Pile& pile) {
  std::set<Culprit> seen;
  for (const CheckResult* const result : pile.results) {
    if (finding.culprits.size() >= limits::kCulpritsNamed) return;
    if (seen.insert(result->culprit).second) finding.culprits.push_back(result->culprit);
  }
}

void add_evidence_lines(Finding& finding, const Pile& pile, std::string_view host) {
  for (const CheckResult* const result : pile.results) {
    if (finding.evidence.size() >= limits::kEvidenceLines) return;
    const std::string source = pile.hosts.size() == 1
                                   ? fmt::format("{} {}", host, result->check)
                                   : fmt::format("{} {}", result->culprit.id, result->check);
    finding.evidence.push_back({source, std::nullopt, result->text});
    for (const Evidence& line : result->evidence) {
      if (finding.evidence.size() >= limits::kEvidenceLines) return;
      finding.evidence.push_back(line);
    }
  }
}

Finding finding_of(const PileKey& key, const Pile& pile, std::size_t all_hosts) {
  Finding out;
  out.cause = std::get<Cause>(key);
  set_severity(out, std::get<CheckOutcome>(key));
  const CheckResult& first = *pile.results.front();
  const Check& row = *find_check(first.check);
  if (pile.hosts.size() == 1) {
    out.summary = fmt::format("{}: {}", pile.hosts.front(), first.text);
    if (pile.results.size() > 1)
      out.summary += fmt::format(" (and {} more)", pile.results.size() - 1);
  } else {
    out.summary = fmt::format("{} of {} hosts ({}): {}", pile.hosts.size(), all_hosts,
                              host_list(pile.hosts), first.text);
  }
  add_culprits(out, pile);
  add_evidence_lines(out, pile, pile.hosts.front());
  out.actions.assign(row.actions.begin(), row.actions.end());
  out.next = row.advice;
  return out;
}

// Which hosts have which value of one fact.
using Values = std::map<std::string_view, std::vector<std::string>>;

std::map<std::string_view, Values> values_by_fact(const std::vector<CheckedHost>& hosts) {
  std::map<std::string_view, Values> out;
  for (const CheckedHost& host : hosts) {
    for (const auto& [name, value] : host.facts) out[name][value].push_back(host.host);
  }
  return out;
}

std::string joined(const std::set<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : " or ") + value;
  return out;
}

// The value of two thirds of three hosts or more.
std::optional<std::string> majority(const Values& values) {
  std::size_t all = 0;
  const std::pair<const std::string_view, std::vector<std::string>>* best = nullptr;
  for (const auto& entry : values) {
    all += entry.second.size();
    if (best == nullptr || entry.second.size() > best->second.size()) best = &entry;
  }
  if (all < 3 || best == nullptr || best->second.size() * 3 < all * 2) return std::nullopt;
  return std::string(best->first);
}

Finding differs(std::string_view fact, const Values& values, const std::set<std::string>& right,
                bool told) {
  Finding out;
  out.cause = Cause::host_differs;
  out.severity = right.empty() ? Severity::info : Severity::warning;
  out.confidence = told ? Confidence::high : Confidence::medium;
  out.actions = {Action::fix_config};
  out.next = told ? "bring these hosts to the reference, or learn a new one (muster check --learn)"
                  : "say which is right: muster check --learn FILE on good hosts";
  std::size_t all = 0, odd = 0;
  std::vector<std::string> odd_hosts;
  for (const auto& [value, hosts] : values) {
    all += hosts.size();
    if (right.contains(std::string(value))) continue;
    odd += hosts.size();
    odd_hosts.insert(odd_hosts.end(), hosts.begin(), hosts.end());
    out.evidence.push_back(
        {std::string(fact), std::nullopt,
         fmt::format("{} on {} hosts: {}", value, hosts.size(), host_list(hosts))});
    if (out.evidence.size() >= limits::kEvidenceLines) break;
  }
  if (right.empty()) {
    out.summary = fmt::format("{} differs between {} hosts: {} values, none of which most have",
                              fact, all, values.size());
    return out;
  }
  out.summary =
      fmt::format("{} differs on {} of {} hosts ({}): {} {}", fact, odd, all, host_list(odd_hosts),
                  told ? "the reference has" : "the others have", joined(right));
  for (const std::string& host : odd_hosts) {
    if (out.culprits.size() >= limits::kCulpritsNamed) break;
    out.culprits.push_back({CulpritKind::host, host});
  }
  return out;
}

void add_differences(const std::vector<CheckedHost>& hosts, const Golden* golden, Report& report) {
  for (const auto& [fact, values] : values_by_fact(hosts)) {
    std::set<std::string> right;
    if (golden != nullptr) {
      const auto told = golden->facts.find(fact);
      if (told == golden->facts.end()) continue;
      right = told->second;
    } else if (values.size() < 2) {
      continue;
    } else if (const auto most = majority(values)) {
      right = {*most};
    }
    const bool odd = std::any_of(values.begin(), values.end(), [&right](const auto& entry) {
      return !right.contains(std::string(entry.first));
    });
    if (odd) report.findings.push_back(differs(fact, values, right, golden != nullptr));
  }
}

// Hosts and checks that one reason keeps in the dark.
struct Dark {
  std::vector<std::string> hosts;
  std::set<std::string> checks;  // empty: all of them
  bool hides_critical = false;
};

// What could not be seen, one line for all hosts and checks where the reason is the same.
void add_blind(const std::vector<CheckedHost>& hosts, Report& report) {
  std::map<std::string, Dark> piles;
  for (const CheckedHost& host : hosts) {
    const bool reached = answered(host.reach);
    for (const CheckResult& result : host.results) {
      if (result.outcome != CheckOutcome::unknown) continue;
      Dark& dark = piles[result.text];
      if (dark.hosts.empty() || dark.hosts.back() != host.host) dark.hosts.push_back(host.host);
      if (reached) dark.checks.insert(result.check);
      dark.hides_critical = dark.hides_critical || is_hidden(result);
    }
  }
  for (const auto& [reason, dark] : piles) {
    std::string source = host_list(dark.hosts);
    if (dark.checks.size() == 1) source += " " + *dark.checks.begin();
    if (dark.checks.size() > 1) source += fmt::format(" {} checks", dark.checks.size());
    report.blind.push_back({std::move(source), reason, dark.hides_critical});
  }
}

// "38 checks: 20 passed, 1 warned, 15 have nothing to look at, 2 unknown".
std::string counts_of(const CheckedHost& host) {
  std::map<std::string_view, CheckOutcome> checks;
  for (const CheckResult& result : host.results) checks.try_emplace(result.check, result.outcome);
  std::map<CheckOutcome, std::size_t> counts;
  for (const auto& [check, outcome] : checks) ++counts[outcome];
  std::string out = fmt::format("{}: {} checks", host.host, checks.size());
  constexpr std::pair<CheckOutcome, const char*> kWords[] = {
      {CheckOutcome::pass, "passed"},
      {CheckOutcome::warn, "warned"},
      {CheckOutcome::fail, "failed"},
      {CheckOutcome::skipped, "have nothing to look at"},
      {CheckOutcome::unknown, "unknown"}};
  for (const auto& [outcome, word] : kWords) {
    if (counts[outcome] != 0) out += fmt::format(", {} {}", counts[outcome], word);
  }
  return out;
}

}  // namespace

CheckOutcome verdict_of(const CheckedHost& host) {
  bool warned = false, blind = !answered(host.reach) || host.results.empty();
  for (const CheckResult& result : host.results) {
    if (result.outcome == CheckOutcome::fail) return CheckOutcome::fail;
    warned = warned || result.outcome == CheckOutcome::warn;
    blind = blind || (result.outcome == CheckOutcome::unknown && is_hidden(result));
  }
  if (blind) return CheckOutcome::unknown;
  return warned ? CheckOutcome::warn : CheckOutcome::pass;
}

std::string host_list(const std::vector<std::string>& hosts) {
  constexpr std::size_t kNamed = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(hosts.size(), kNamed); ++i) {
    out += (out.empty() ? "" : " ") + hosts[i];
  }
  if (hosts.size() > kNamed) out += fmt::format(" and {} more", hosts.size() - kNamed);
  return out;
}

Report fold_checks(const std::vector<CheckedHost>& hosts, const Golden* golden) {
  Report out;
  out.verb = "check";
  for (const auto& [key, pile] : pile_up(hosts)) {
    out.findings.push_back(finding_of(key, pile, hosts.size()));
  }
  add_differences(hosts, golden, out);
  sort_findings(out.findings);
  add_blind(hosts, out);
  std::size_t reached = 0, fit = 0;
  for (const CheckedHost& host : hosts) {
    reached += answered(host.reach) ? 1u : 0u;
    const CheckOutcome verdict = verdict_of(host);
    fit += verdict == CheckOutcome::pass || verdict == CheckOutcome::warn ? 1u : 0u;
  }
  if (hosts.size() == 1) {
    out.notes.push_back(counts_of(hosts.front()));
  } else {
    out.notes.push_back(fmt::format("{} hosts, {} reached, {} fit", hosts.size(), reached, fit));
  }
  return out;
}

}  // namespace muster::health
