#include "app/check_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "core/health/judge.h"
#include "core/kernel/kernel_cause.h"
#include "core/kernel/kernel_reader.h"

namespace muster {
namespace {

using health::HostProbe;
using health::Judged;

std::vector<health::KernelSight> kernel_sights(std::string_view log, const std::string& host) {
  KernelReader reader({.host = host, .written = std::nullopt});
  std::uint64_t number = 0;
  for (const std::string_view line : health::lines_of(log)) reader.line(line, ++number);
  std::vector<health::KernelSight> out;
  for (KernelEvent& event : reader.finish().events) {
    KernelJudgement judged = cause_of(event);
    health::KernelSight sight;
    sight.cause = judged.cause;
    sight.severity = judged.severity;
    sight.confidence = judged.confidence;
    sight.meaning = std::move(judged.meaning);
    sight.event = std::move(event);
    out.push_back(std::move(sight));
  }
  return out;
}

// Lines that a known event was made of are not told again as lines that nobody knows.
std::vector<std::string_view> unknown_lines(std::string_view log,
                                            const health::KernelAllowList& allowed,
                                            const std::vector<health::KernelSight>& sights) {
  auto lines = health::grave_lines(log, allowed);
  std::erase_if(lines, [&sights](std::string_view line) {
    return std::any_of(sights.begin(), sights.end(), [line](const health::KernelSight& sight) {
      return line.find(sight.event.text) != std::string_view::npos;
    });
  });
  return lines;
}

Judged kernel_results(const HostProbe& probe, const CheckSettings& settings) {
  const health::ProbeAnswer* const answer = probe.find("kernel_log");
  if (!health::answered(probe.reach)) {
    return health::cannot_tell(health::reach_text(probe));
  }
  const std::string why = health::why_not(probe, "kernel_log");
  if (answer == nullptr) return health::cannot_tell(why);
  const std::string_view log = health::output_of(*answer);
  const auto sights = kernel_sights(log, probe.host);
  Judged out = health::judge_kernel(probe, sights, unknown_lines(log, settings.allowed, sights));
  // A log that was cut, or not read at all, proves only what stands in it.
  const std::string failure = why.empty() ? health::failure_of(*answer) : why;
  if (!failure.empty() && out.front().outcome == CheckOutcome::pass) {
    out = health::cannot_tell(failure);
  }
  for (health::CheckResult& result : out) result.duration_ms = answer->duration_ms;
  return out;
}

// "n2" before "n10": digits count as numbers.
bool name_before(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto digits = [](std::string_view text, std::size_t at) {
      std::size_t end = at;
      while (end < text.size() && is_digit(text[end])) ++end;
      while (at + 1 < end && text[at] == '0') ++at;
      return std::pair(text.substr(at, end - at), end);
    };
    const auto [left, left_end] = digits(a, i);
    const auto [right, right_end] = digits(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
    i = left_end;
    j = right_end;
  }
  // "n1" and "n01" are two hosts.
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

}  // namespace

health::CheckedHost check_probe(const HostProbe& probe, const CheckSettings& settings) {
  health::CheckedHost out;
  out.host = probe.host;
  out.reach = probe.reach;
  out.complaint = health::shown_line(probe.complaint);
  out.results = health::check_host(probe, settings.limits);
  const std::string_view id = health::kernel_log_check().id;
  if (!settings.limits.is_off(id)) {
    for (health::CheckResult& result : kernel_results(probe, settings)) {
      result.check = id;
      if (result.culprit.kind == CulpritKind::none) {
        result.culprit = {CulpritKind::host, probe.host};
      }
      out.results.push_back(std::move(result));
    }
  }
  out.facts = health::host_facts(probe);
  out.duration_ms = probe.duration_ms;
  return out;
}

void CheckRun::add(const HostProbe& probe) {
  hosts_.push_back(check_probe(probe, settings_));
  serials_.insert_or_assign(probe.host, health::serials_of(probe));
  sorted_ = false;
}

void CheckRun::sort() {
  if (sorted_) return;
  std::stable_sort(hosts_.begin(), hosts_.end(),
                   [](const auto& a, const auto& b) { return name_before(a.host, b.host); });
  sorted_ = true;
}

const std::vector<health::CheckedHost>& CheckRun::hosts() {
  sort();
  return hosts_;
}

Report CheckRun::report() {
  sort();
  return health::fold_checks(hosts_, settings_.golden ? &*settings_.golden : nullptr);
}

health::Golden CheckRun::learn() {
  std::vector<health::HostFacts> good;
  for (const health::CheckedHost& host : hosts()) {
    const CheckOutcome verdict = health::verdict_of(host);
    if (verdict == CheckOutcome::pass || verdict == CheckOutcome::warn) good.push_back(host.facts);
  }
  return health::learn_golden(good);
}

std::string CheckRun::ticket(std::string_view host) const {
  const auto found =
      std::find_if(hosts_.begin(), hosts_.end(),
                   [host](const health::CheckedHost& checked) { return checked.host == host; });
  const auto serials = serials_.find(host);
  if (found == hosts_.end() || serials == serials_.end()) return "";
  return health::check_ticket(*found, serials->second);
}

}  // namespace muster
