#include "core/explain/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/explain/usual_actions.h"

namespace muster {
namespace {

// Lines of the claim itself, facts, and what follows: none may crowd out the others.
constexpr std::size_t kOwnLines = 6;
constexpr std::size_t kFactLines = 5;
constexpr std::size_t kToldChars = 160;  // of an exception that the summary repeats
constexpr std::string_view kReadTraceback = "read the traceback above it";

// "03:11:40 n12 rank 3, consequence": when and where, as far as the line or its log tells, and what
// it is. Where many said it, the first of them stands for all.
std::string heading(const Scene& scene, std::size_t i, std::string_view mark, bool many) {
  std::string out;
  const auto add = [&out](std::string_view word) {
    out += (out.empty() ? "" : " ") + std::string(word);
  };
  if (const auto at = scene.clock().own(i)) add(format_clock(*at));
  if (!many && !scene.host(i).empty()) add(scene.host(i));
  if (!many && scene.rank(i)) add(fmt::format("rank {}", *scene.rank(i)));
  if (!mark.empty()) out += (out.empty() ? "" : ", ") + std::string(mark);
  return out;
}

Evidence evidence_of(const Scene& scene, std::size_t i, std::string_view mark, bool many = false) {
  const LogEvent& event = scene.event(i);
  const std::string head = heading(scene, i, mark, many);
  std::string text = head.empty() ? event.text : fmt::format("[{}] {}", head, event.text);
  text.resize(whole_characters(text, limits::kEvidenceChars).size());
  return {event.source, event.line, std::move(text)};
}

std::vector<std::size_t> in_order(const Scene& scene, const std::vector<std::size_t>& events) {
  const std::set<std::size_t> wanted(events.begin(), events.end());
  std::vector<std::size_t> out;
  for (const std::size_t i : scene.sorted()) {
    if (wanted.contains(i)) out.push_back(i);
  }
  return out;
}

void add_own(const Scene& scene, const Claim& claim, Finding& finding) {
  const auto events = in_order(scene, claim.events);
  std::map<std::string, std::size_t> told;  // of one text: how many
  for (const std::size_t i : events) ++told[without_numbers(scene.event(i).text)];
  std::set<std::string> done;
  for (const std::size_t i : events) {
    if (finding.evidence.size() >= kOwnLines) break;
    const std::string text = without_numbers(scene.event(i).text);
    // Two of a kind are shown, the rest is a number.
    if (told[text] > 2 && !done.insert(text).second) continue;
    finding.evidence.push_back(evidence_of(
        scene, i, told[text] > 2 ? fmt::format("{} lines of this kind", told[text]) : ""));
  }
}

void add_facts(const Scene& scene, const Claim& claim, Finding& finding) {
  std::set<std::size_t> done;
  for (const std::size_t i : claim.facts) {
    if (done.size() >= kFactLines) break;
    if (!done.insert(i).second) continue;
    const SiteFact& fact = scene.input().facts[i];
    finding.evidence.push_back({fact.source, fact.line, fact.text});
  }
}

void add_consequences(const Scene& scene, const Claim& claim, Finding& finding) {
  struct Shout {
    std::size_t first;
    std::uint64_t lines = 0;
    std::set<std::int32_t> ranks;
    std::set<std::string> hosts;
    bool beside = false;
  };
  std::vector<Shout> shouts;
  std::map<std::string, std::size_t> by_rule;
  const std::set<std::size_t> own(claim.events.begin(), claim.events.end());
  for (const std::size_t i : scene.sorted()) {
    const EventRole role = scene.role(i);
    const bool follows = role == EventRole::cascade || role == EventRole::teardown ||
                         role == EventRole::root || role == EventRole::confirmation;
    if (!follows || own.contains(i)) continue;
    if (!claim.events.empty() && scene.clock().before(i, claim.events.front())) continue;
    const auto [it, added] = by_rule.emplace(scene.event(i).rule, shouts.size());
    if (added) shouts.push_back({.first = i, .lines = 0, .ranks = {}, .hosts = {}});
    Shout& shout = shouts[it->second];
    // What can be a cause itself follows only where it certainly came later.
    const bool own_cause = role == EventRole::root || role == EventRole::confirmation;
    const bool later = !claim.events.empty() && scene.clock().before(claim.events.front(), i);
    if (added) shout.beside = own_cause && !later;
    shout.lines += 1 + scene.event(i).repeats;
    if (scene.rank(i)) shout.ranks.insert(*scene.rank(i));
    if (!scene.host(i).empty()) shout.hosts.insert(scene.host(i));
  }
  for (const Shout& shout : shouts) {
    if (finding.evidence.size() >= limits::kEvidenceLines) return;
    std::string mark = shout.beside ? "beside it" : "consequence";
    if (shout.ranks.size() > 1) {
      mark += fmt::format(", {} ranks", shout.ranks.size());
    } else if (shout.hosts.size() > 1) {
      mark += fmt::format(", {} hosts", shout.hosts.size());
    } else if (shout.lines > 1) {
      mark += fmt::format(", {} lines", shout.lines);
    }
    const bool many = shout.ranks.size() > 1 || shout.hosts.size() > 1;
    finding.evidence.push_back(evidence_of(scene, shout.first, mark, many));
  }
}

bool accuses(const Culprit& culprit) {
  return culprit.kind != CulpritKind::none && culprit.kind != CulpritKind::unknown;
}

// A clause becomes a sentence, unless a name stands first: names keep their spelling.
std::string sentence(const Claim& claim) {
  std::string text = claim.what;
  for (const Culprit& culprit : claim.culprits) {
    if (accuses(culprit) && text.starts_with(culprit.id)) return text;
  }
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

std::string spelled(const Culprit& culprit) {
  if (culprit.kind == CulpritKind::host && culprit.id == "this") return "this host";
  return fmt::format("{} {}", culprit_kind_name(culprit.kind), culprit.id);
}

// Who, in front of a clause that does not say it.
std::string subject_of(const Claim& claim) {
  constexpr std::size_t kLong = 60;
  std::string out;
  for (const Culprit& culprit : claim.culprits) {
    if (!accuses(culprit)) continue;
    if (claim.what.find(culprit.id) != std::string::npos) return "";
    if (out.size() > kLong) return out + " ...";
    out += (out.empty() ? "" : ", ") + spelled(culprit);
  }
  return out;
}

// "rank 5 raised KeyError: 'mask' (data.py:44)": what the line says beside the name of its kind.
void tell_exception(const Scene& scene, Claim& claim) {
  if (claim.cause != Cause::rank_exception || claim.events.empty()) return;
  const LogEvent& e = scene.event(claim.events.front());
  if (e.line && claim.next == kReadTraceback) {
    claim.next = fmt::format("read {}:{}", e.source, *e.line);
  }
  const std::size_t colon = e.text.find(": ");
  if (colon == std::string::npos || claim.what.compare(0, colon, e.text, 0, colon) != 0) return;
  if (claim.culprits.size() != 1 || claim.culprits[0].kind != CulpritKind::rank) return;
  if (e.text.size() > kToldChars) return;
  claim.what = fmt::format("rank {} raised {}{}", claim.culprits[0].id, e.text,
                           std::string_view(claim.what).substr(colon));
}

}  // namespace

Finding finding_of(const Scene& scene, const Claim& given, bool first) {
  Claim claim = given;
  tell_exception(scene, claim);
  Finding finding;
  finding.severity = claim.severity;
  finding.confidence = claim.confidence;
  finding.cause = claim.cause;
  for (const Culprit& culprit : claim.culprits) {
    if (finding.culprits.size() < limits::kCulpritsNamed) finding.culprits.push_back(culprit);
  }
  const std::string who = subject_of(claim);
  finding.summary = who.empty() ? sentence(claim) : who + ": " + claim.what;
  if (const auto event = claim.first()) {
    const auto in_time = in_order(scene, claim.events);
    finding.since = scene.clock().own(in_time.front());
    if (finding.since && !scene.event(in_time.front()).time.has_date) finding.since.reset();
  }
  finding.actions = claim.actions.empty() ? usual_actions(claim.cause) : claim.actions;
  finding.next = claim.next;
  if (finding.next.empty()) finding.next = usual_next(claim.cause);
  if (finding.next.empty() && !finding.actions.empty()) {
    finding.next = action_table()[static_cast<std::size_t>(finding.actions.front())].meaning;
  }
  add_own(scene, claim, finding);
  add_facts(scene, claim, finding);
  if (first && claim.severity > Severity::ok) add_consequences(scene, claim, finding);
  return finding;
}

}  // namespace muster
