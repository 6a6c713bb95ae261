#include "core/blocks/plan_verdicts.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "core/blocks/rank_steps.h"

namespace muster::blocks {
namespace {

using Kind = RankUnits::Kind;

std::string_view unit_name(Kind kind) {
  constexpr std::string_view kNames[] = {"step", "batch", "block", "sample", "byte"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string units_text(std::uint64_t number, Kind kind) {
  if (kind == Kind::batches) {
    return fmt::format("{} {}", grouped(number), number == 1 ? "batch" : "batches");
  }
  return counted(number, unit_name(kind));
}

// "rank 3", "ranks 3, 6, 10 and 15", "ranks 0, 1, 2, 3 and 12 more".
std::string ranks_text(const RankUnits& units, const std::vector<std::size_t>& who) {
  constexpr std::size_t kNamed = 6;
  std::string out = who.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = who.size() > kNamed ? kNamed - 2 : who.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == who.size() && i > 0;
    out += fmt::format("{}{}", i == 0 ? "" : (last ? " and " : ", "), units.ranks[who[i]]);
  }
  return shown < who.size() ? out + fmt::format(" and {} more", who.size() - shown) : out;
}

struct Trial {
  StepRule rule;
  StepSpread spread;
};

class TableJudge {
 public:
  TableJudge(const RankUnits& units, const PlanValues& values, Report& report)
      : units_(units), values_(values), report_(report) {}

  void judge() {
    if (units_.kind == Kind::bytes) return judge_bytes();
    make_trials();
    const auto all = [this](auto&& holds) {
      return std::all_of(trials_.begin(), trials_.end(), holds);
    };
    const auto zero = [](const Trial& t) { return t.spread.most_steps == 0; };
    const auto stops = [](const Trial& t) { return t.spread.least_steps == 0; };
    const auto uneven = [](const Trial& t) { return t.spread.hangs_in_step().has_value(); };
    const auto even = [](const Trial& t) {
      return t.spread.least_batches == t.spread.most_batches;
    };
    const bool capped = values_.get(PlanRole::even_steps) == 1u;
    if (all(zero) || (capped && all(stops))) return no_step(Confidence::high);
    if (std::any_of(trials_.begin(), trials_.end(), capped ? stops : zero)) {
      return no_step(Confidence::low);
    }
    const auto end = values_.get(PlanRole::max_steps);
    const bool ended = end && all([end](const Trial& t) { return t.spread.least_steps >= *end; });
    if (capped || ended || all(even)) return same_steps(capped, ended);
    const bool told = values_.get(PlanRole::even_steps).has_value();
    if (all(uneven) && batch_known_ && values_.get(PlanRole::forgiving) != 1u) {
      return uneven_steps(told ? Confidence::high : Confidence::medium);
    }
    uneven_steps(Confidence::low);
  }

 private:
  void make_trials() {
    StepRule rule;
    rule.accumulation = values_.get(PlanRole::accumulation).value_or(1);
    if (units_.kind == Kind::steps) rule.accumulation = 1;
    if (units_.kind == Kind::blocks || units_.kind == Kind::samples) {
      const auto micro = values_.micro_batch();
      batch_known_ = micro.has_value();
      rule.micro_batch = micro.value_or(1);
    }
    const auto drop = values_.get(PlanRole::drop_last);
    for (const bool dropping : {true, false}) {
      if (drop && (*drop == 1) != dropping) continue;
      rule.drop_last = dropping;
      trials_.push_back({rule, spread_of(units_.units, rule)});
    }
  }

  // What a block is, is not told: equal files are equal all the same.
  void judge_bytes() {
    const auto [least, most] = std::minmax_element(units_.units.begin(), units_.units.end());
    if (*least == *most) {
      trials_.push_back({{}, spread_of(units_.units, {})});
      return same_steps(false, false);
    }
    const bool block = values_.get(PlanRole::block_tokens).has_value();
    ask_for_more(block ? "the files differ in bytes, and the type of the ids is not named"
                       : "the files differ in bytes, and no block size is named",
                 "Name the settings of the run beside the table (block=2048 dtype=int32 "
                 "micro_batch=1 grad_accum=8).",
                 units_.rows.front()->seen.source, report_);
  }

  void same_steps(bool capped, bool ended) {
    const StepSpread& spread = trials_.front().spread;
    if (!report_.blind.empty()) {
      return ask_for_more("what was read is equal, and not all of it was read",
                          "Look at what is listed as not read, and ask again.",
                          units_.rows.front()->seen.source, report_);
    }
    Finding finding;
    finding.severity = Severity::ok;
    finding.confidence = batch_known_ ? Confidence::high : Confidence::medium;
    finding.cause = Cause::healthy;
    const std::string had = spread.least_units == spread.most_units
                                ? units_text(spread.least_units, units_.kind)
                                : fmt::format("{} to {}", grouped(spread.least_units),
                                              units_text(spread.most_units, units_.kind));
    finding.summary = fmt::format("{} with {} each", counted(units_.ranks.size(), "rank"), had);
    if (capped && spread.least_units != spread.most_units) {
      finding.summary +=
          fmt::format("; the even-step mode stops all of them at {}", grouped(spread.least_units));
    }
    if (ended) {
      finding.summary += fmt::format("; the run ends after {}, before the shortest does",
                                     counted(*values_.get(PlanRole::max_steps), "step"));
    } else if (batch_known_ && units_.kind != Kind::bytes && units_.kind != Kind::steps) {
      finding.summary += fmt::format(": {} on each", counted(spread.least_steps, "step"));
    }
    quote_settings(values_, finding);
    finding.actions = {Action::none};
    report_.findings.push_back(std::move(finding));
  }

  void no_step(Confidence confidence) {
    const Trial& trial = trials_.front();
    Finding finding;
    finding.severity = Severity::critical;
    finding.confidence = confidence;
    finding.cause = Cause::run_incomplete_exit_zero;
    const PlanSetting* batch = values_.micro_batch_seen();
    if (batch != nullptr) finding.culprits.push_back({CulpritKind::config, batch->name});
    finding.summary = fmt::format(
        "no rank has the {} that one step takes{}: the run would end at once, with exit 0 and "
        "nothing trained",
        units_text(trial.rule.micro_batch * trial.rule.accumulation, units_.kind),
        confidence == Confidence::low ? " where a batch that is not full is dropped" : "");
    add_rows(trial.spread.shortest, finding);
    quote_settings(values_, finding);
    finding.actions = {Action::refuse_launch, Action::fix_config};
    finding.next = "Do not launch; take fewer ranks, a smaller batch or more data.";
    report_.findings.push_back(std::move(finding));
  }

  void add_rows(const std::vector<std::size_t>& who, Finding& finding) const {
    constexpr std::size_t kRows = 4;  // the answer fits on a screen
    for (std::size_t i = 0; i < std::min(kRows, who.size()); ++i) {
      Evidence line = quoted(units_.rows[who[i]]->seen);
      line.text += fmt::format("  ({})", units_text(units_.units[who[i]], units_.kind));
      finding.evidence.push_back(std::move(line));
    }
  }

  // Whom to name: the shortest. Where nearly all are, those that have more are the odd ones.
  std::vector<std::size_t> odd_ones(const StepSpread& spread) const {
    if (spread.shortest.size() * 2 <= units_.ranks.size()) return spread.shortest;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < units_.units.size(); ++i) {
      if (units_.units[i] != spread.least_units) out.push_back(i);
    }
    return out;
  }

  std::string uneven_summary(const Trial& trial, Confidence confidence) const {
    const StepSpread& s = trial.spread;
    std::string text = fmt::format("ranks have {} to {}", grouped(s.least_units),
                                   units_text(s.most_units, units_.kind));
    if (values_.get(PlanRole::even_steps) == 0u) text += " and even-step mode is off";
    if (!s.hangs_in_step()) {
      return text + fmt::format(
                        ": all make {}, but a trainer that begins an unfinished one would "
                        "hang in it",
                        counted(s.least_steps, "step"));
    }
    if (units_.kind != Kind::steps && batch_known_) {
      text += fmt::format(": {} on {}, up to {} on others", counted(s.least_steps, "step"),
                          ranks_text(units_, s.stoppers), grouped(s.most_steps));
    }
    if (!batch_known_) return text + "; without the batch size steps are not known";
    if (values_.get(PlanRole::forgiving) == 1u) {
      return text + "; whether the run hangs there depends on what joins or repeats the data";
    }
    if (confidence == Confidence::low) {
      return text +
             ", or all the same: the plan does not say whether a batch that is not full is "
             "dropped";
    }
    return text + fmt::format("; the run hangs in step {}", grouped(*s.hangs_in_step()));
  }

  void uneven_steps(Confidence confidence) {
    const auto worst =
        std::max_element(trials_.begin(), trials_.end(), [](const Trial& a, const Trial& b) {
          return a.spread.most_steps - a.spread.least_steps <
                 b.spread.most_steps - b.spread.least_steps;
        });
    const StepSpread& spread = worst->spread;
    Finding finding;
    finding.severity = Severity::warning;
    finding.confidence = confidence;
    finding.cause = Cause::uneven_steps;
    const std::vector<std::size_t> odd = odd_ones(spread);
    for (std::size_t i = 0; i < std::min(odd.size(), limits::kCulpritsNamed); ++i) {
      finding.culprits.push_back({CulpritKind::rank, std::to_string(units_.ranks[odd[i]])});
    }
    finding.summary = uneven_summary(*worst, confidence);
    add_rows(odd, finding);
    quote_settings(values_, finding);
    if (confidence == Confidence::low) {
      finding.actions = {Action::equalize_steps, Action::recheck};
      finding.next =
          "Name batch size, accumulation and drop_last beside the table, or give every "
          "rank the same number.";
    } else {
      finding.actions = {Action::equalize_steps, Action::refuse_launch};
      finding.next = fmt::format(
          "Do not launch as is: stop every rank at {} ({}; {} of others unused), or pack once for "
          "all ranks (muster pack).",
          units_text(spread.least_units, units_.kind), counted(spread.least_steps, "step"),
          units_text(spread.left_by_equalizing, units_.kind));
    }
    report_.findings.push_back(std::move(finding));
  }

  const RankUnits& units_;
  const PlanValues& values_;
  Report& report_;
  std::vector<Trial> trials_;
  bool batch_known_ = true;
};

}  // namespace

void judge_table(const RankUnits& units, const PlanValues& values, Report& report) {
  TableJudge(units, values, report).judge();
}

}  // namespace muster::blocks
