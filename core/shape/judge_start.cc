#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/limits.h"
#include "base/number_runs.h"
#include "base/text.h"
#include "core/shape/verdicts.h"

namespace muster::shape {
namespace {

// A start of less than this is nobody's question.
constexpr double kRatioWorthWords = 3, kSecondsWorthWords = 30;

std::optional<double> limit_of(const Surroundings& around, const Setting*& setting) {
  for (const std::string_view word : {"nccl", "collective", "ddp", "distributed", "pg"}) {
    setting = around.find("timeout", word);
    if (setting == nullptr) continue;
    auto value = parse_double(setting->value);
    if (value && setting->key.ends_with("_ms")) *value /= 1e3;
    if (value && setting->key.ends_with("_min")) *value *= 60;
    if (value && *value > 0) return value;
  }
  setting = nullptr;
  return std::nullopt;
}

std::string rank_list(const std::vector<std::int32_t>& ranks) {
  std::string text;
  for (const auto& run : runs_of(ranks)) {
    if (text.size() > 60) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(run.first);
    if (run.last > run.first) text += "-" + std::to_string(run.last);
  }
  return text;
}

// A variable that some ranks have at another value than most, or not at all.
struct Difference {
  const Setting* odd = nullptr;
  std::string usual;
  std::vector<std::int32_t> ranks;
};

// Names that differ from rank to rank by their nature.
bool differs_by_nature(std::string_view key) {
  for (const std::string_view part :
       {"RANK", "HOST", "NODE", "PID", "PORT", "ADDR", "TMP", "TASK", "LOCALID", "PROCID", "GPU",
        "CUDA_VISIBLE", "SHLVL", "SSH", "_"}) {
    if (part == "_" ? key == "_" : key.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<Difference> differences(const Surroundings& around) {
  std::map<std::string_view, std::map<std::string_view, std::vector<const Setting*>>> by_key;
  for (const Setting& setting : around.settings) {
    if (setting.rank && !differs_by_nature(setting.key)) {
      by_key[setting.key][setting.value].push_back(&setting);
    }
  }
  std::vector<Difference> out;
  for (const auto& [key, values] : by_key) {
    if (values.size() < 2) continue;
    const auto usual = std::max_element(
        values.begin(), values.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [value, settings] : values) {
      if (value == usual->first || settings.size() * 2 > usual->second.size()) continue;
      Difference difference{settings.front(), std::string(usual->first), {}};
      for (const Setting* setting : settings) difference.ranks.push_back(*setting->rank);
      std::sort(difference.ranks.begin(), difference.ranks.end());
      out.push_back(std::move(difference));
    }
  }
  return out;
}

}  // namespace

std::optional<Finding> judge_warm_up(const ShapeCase& c) {
  const WarmUp& warm = c.shapes.warm_up;
  if (warm.points == 0 || warm.ratio < kRatioWorthWords || !(c.shapes.level > 0))
    return std::nullopt;
  const double typical = c.curve.typical_step_s.value_or(0);
  const double extra = c.curve.seconds ? warm.extra : warm.extra / c.shapes.level * typical;
  if (extra < kSecondsWorthWords) return std::nullopt;
  const CurvePoint& last = c.curve.points[warm.points - 1];
  Finding finding;
  finding.severity = warm.over ? Severity::ok : Severity::info;
  const bool told =
      c.around.compile_seen || c.curve.counts[static_cast<std::size_t>(ProgressKind::compile)] > 0;
  finding.confidence = told ? Confidence::high : Confidence::medium;
  finding.cause = Cause::compile_warmup;
  finding.summary = fmt::format("steps {} to {} are slow ({} more than later ones together){}",
                                c.curve.points.front().step, last.step, seconds_text(extra),
                                told ? ": compilation at the start" : ": warm-up of a start");
  if (warm.over)
    finding.summary += fmt::format(", normal from step {} on", c.curve.points[warm.points].step);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, warm.points); ++i) {
    finding.evidence.push_back(seen_point(c, i, speed_text(c.curve, c.curve.points[i].step_s)));
  }
  const Setting* setting = nullptr;
  const auto limit = limit_of(c.around, setting);
  const double longest = std::max(c.around.compile_max_s.value_or(0),
                                  c.curve.seconds ? c.curve.points.front().step_s : 0);
  if (c.around.compile_seen) finding.evidence.push_back(quoted(*c.around.compile_seen));
  finding.actions = {Action::none};
  finding.next =
      "none; keep the compile cache where the next start finds it, and leave the first steps "
      "out of every baseline";
  if (!limit) return finding;
  finding.summary += fmt::format(", within the limit of collectives ({})", seconds_text(*limit));
  const bool apart = c.around.compile_min_s && c.around.compile_max_s &&
                     *c.around.compile_max_s - *c.around.compile_min_s >= 0.8 * *limit;
  if (!apart && longest < *limit) return finding;
  finding.severity = Severity::warning;
  finding.cause = Cause::one_rank_long_work;
  finding.summary = fmt::format("the first step takes {}, and collectives give up after {}",
                                seconds_text(longest), seconds_text(*limit));
  finding.culprits = {{CulpritKind::config, setting->key}};
  finding.evidence.push_back(quoted(setting->seen));
  finding.actions = {Action::warm_up_ranks, Action::raise_timeout};
  finding.next = "Compile on every rank before the first collective, or raise the limit.";
  return finding;
}

std::optional<Finding> judge_no_steps(const Surroundings& around, const Curve* curve) {
  if (around.ranks.empty() && curve == nullptr) return std::nullopt;
  Finding finding;
  finding.severity = Severity::critical;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::collective_hang;
  std::vector<std::int32_t> missing;
  if (around.world_size && !around.ranks.empty()) {
    for (std::int32_t rank = 0; rank < *around.world_size && missing.size() < limits::kSettings;
         ++rank) {
      if (!around.ranks.contains(rank)) missing.push_back(rank);
    }
  }
  const bool few =
      !missing.empty() && missing.size() * 2 < static_cast<std::size_t>(*around.world_size);
  const auto odd = differences(around);
  if (!few && odd.empty()) {
    // A start that is merely young looks the same.
    finding.severity = Severity::info;
    finding.cause = Cause::evidence_missing;
    finding.culprits.push_back({CulpritKind::unknown, ""});
    finding.summary = "no step yet, and nothing here says who is late";
    if (curve != nullptr && !curve->events.empty()) {
      const CurveEvent& last = curve->events.back();
      finding.evidence.push_back({curve->source, last.line, last.text});
    }
    finding.actions = {Action::collect_evidence};
    finding.next =
        "The logs and the environment (env) of every rank: muster shape LOGS ENVIRONMENTS "
        "compares them; the stacks of all ranks while it waits.";
    return finding;
  }
  finding.summary = "no step was made";
  if (few) {
    finding.summary +=
        fmt::format("; {} of {} ranks say nothing: rank{} {}", missing.size(), *around.world_size,
                    missing.size() == 1 ? "" : "s", rank_list(missing));
    for (std::size_t i = 0; i < std::min(missing.size(), limits::kCulpritsNamed); ++i) {
      finding.culprits.push_back({CulpritKind::rank, std::to_string(missing[i])});
    }
    const auto& [rank, seen] = *around.ranks.begin();
    finding.evidence.push_back(quoted(seen));
  } else {
    finding.confidence = Confidence::low;
    finding.culprits.push_back({CulpritKind::unknown, ""});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(odd.size(), 4); ++i) {
    const Difference& one = odd[i];
    finding.summary += fmt::format(
        "{} rank{} {}: {}={}, elsewhere {}", i == 0 ? "; differs on" : ",",
        one.ranks.size() == 1 ? "" : "s", rank_list(one.ranks), escape_controls(one.odd->key, 60),
        escape_controls(one.odd->value, 40), escape_controls(one.usual, 40));
    finding.evidence.push_back(quoted(one.odd->seen));
  }
  finding.actions = {Action::collect_evidence, Action::fix_config};
  finding.next =
      few ? "Stacks of the silent ranks (py-spy dump, gdb) before anything is killed: where in "
            "the start do they stand? Then the same settings on every rank."
          : "The same settings on every rank, then again; stacks of all ranks while it waits.";
  return finding;
}

}  // namespace muster::shape
