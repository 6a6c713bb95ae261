#include "core/shape/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/ascii.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/shape/verdicts.h"

namespace muster::shape {

std::string percent(double ratio) {
  const double value = ratio * 100;
  return std::abs(value) < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string seconds_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  if (seconds >= 1 && seconds < 100) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 1);
  return format_duration(seconds_to_duration(seconds));
}

std::string speed_text(const Curve& curve, double step_s) {
  if (!(step_s > 0)) return "?";
  switch (curve.measure) {
    case Measure::throughput: {
      const double rate = 1 / step_s;
      return rate >= 1e4 ? fmt::format("{:.1f} k tokens/s", rate / 1e3)
                         : fmt::format("{:.0f} tokens/s", rate);
    }
    case Measure::mfu:
      return percent(1 / step_s) + " MFU";
    default:
      return seconds_text(step_s) + " a step";
  }
}

Evidence seen_point(const ShapeCase& c, std::size_t index, std::string text) {
  const CurvePoint& point = c.curve.points[index];
  const auto line = point.line > 0 ? std::optional(point.line) : std::nullopt;
  return {c.curve.source, line, fmt::format("step {}: {}", point.step, text)};
}

Evidence quoted(const SeenAt& seen) {
  return {seen.source, seen.line, seen.text};
}

std::string sampling_text(const Curve& curve) {
  std::vector<double> strides;
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    strides.push_back(static_cast<double>(curve.points[i].steps));
  }
  const auto stride = median(strides);
  if (!stride || !curve.typical_step_s) return {};
  const double seconds = *stride * *curve.typical_step_s;
  const std::string every = *stride > 1 ? fmt::format("{:.0f} steps", *stride) : "step";
  std::string text = fmt::format("one point every {} ({})", every, seconds_text(seconds));
  // Dips of 15 s need two points in that time.
  constexpr double kNyquist = 7.5;
  if (seconds > kNyquist) {
    text += fmt::format(
        ": what repeats faster than every {} cannot be seen here, such as clock dips "
        "every 15 s",
        seconds_text(2 * seconds));
  }
  return text;
}

namespace {

constexpr std::array<std::string_view, 6> kSeconds = {"s",    "sec",    "seconds",
                                                      "s/it", "s/step", "sec/step"};
constexpr std::array<std::string_view, 3> kMilliseconds = {"ms", "ms/it", "ms/step"};

template <std::size_t N>
bool is_one_of(std::string_view unit, const std::array<std::string_view, N>& units) {
  return std::find(units.begin(), units.end(), unit) != units.end();
}

// "53,000" -> "53000"; "53,00" stays as it is.
std::string without_group_commas(std::string text) {
  const auto digit = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool group = text[i] == ',' && digit(i - 1) && digit(i + 1) && digit(i + 2) &&
                       digit(i + 3) && !digit(i + 4);
    if (group) text.erase(i, 1);
  }
  return text;
}

}  // namespace

Result<Expectation> parse_expectation(std::string_view text) {
  Expectation out;
  out.source = "--expect";
  std::string low = to_lower(trim(text));
  // Of a time a comma may stand for the point.
  if (low.find("tok") != low.npos || low.ends_with("tps")) low = without_group_commas(low);
  const bool named = low.starts_with("mfu=");
  if (named) low.erase(0, 4);
  const std::size_t end = std::min(low.find_first_not_of("0123456789."), low.size());
  const auto value = parse_double(std::string_view(low).substr(0, end));
  std::string_view unit = trim(std::string_view(low).substr(end));
  const bool thousands = unit.starts_with('k');
  if (thousands) unit = trim(unit.substr(1));
  const bool slower = unit.find("min") != unit.npos || unit.find("/h") != unit.npos;
  const bool rate = (unit.starts_with("tok") || unit == "tps") && !slower;
  if (value && *value > 0 && named && unit.empty() && *value <= 1) {
    out.mfu_ratio = *value;
  } else if (value && *value > 0 && *value <= 100 && unit == "%") {
    out.mfu_ratio = *value / 100;
  } else if (value && *value > 0 && rate) {
    out.tokens_per_s = thousands ? *value * 1e3 : *value;
  } else if (value && *value > 0 && !thousands && is_one_of(unit, kSeconds)) {
    out.step_s = *value;
  } else if (value && *value > 0 && !thousands && is_one_of(unit, kMilliseconds)) {
    out.step_s = *value / 1e3;
  } else {
    return make_error(Errc::invalid_input,
                      fmt::format("--expect: '{}' is none of 4.95s, 4950ms, 53000tok/s, 40%",
                                  escape_controls(text, 40)));
  }
  return out;
}

Expectation expectation_of(const Surroundings& around) {
  Expectation out;
  for (const Setting& setting : around.settings) {
    const auto words = name_words(setting.key);
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!has("expected") && !has("baseline") && !has("reference")) continue;
    if (has("min") || has("minutes") || has("hours") || has("h")) continue;
    const bool rate = has("tok") || has("tokens") || has("throughput") || has("tps");
    const bool time = has("time") || has("s") || has("ms") || has("duration");
    // The key tells the kind, the value its unit; a bare number has that of the key.
    std::string text = to_lower(setting.value);
    if (rate) text = without_group_commas(text);
    const auto bare = parse_double(text);
    if (bare && !(*bare > 0 && *bare < 1e15)) continue;
    if (has("mfu")) {
      if (bare) text = fmt::format("{:f}%", *bare > 1 ? *bare : *bare * 100);
    } else if (rate) {
      if (bare) text = fmt::format("{:f}", *bare);
      if (bare || text.ends_with('k')) text += "tok/s";
    } else if (bare) {
      text = fmt::format("{:.12f}{}", *bare, has("ms") ? "ms" : "s");
    }
    const auto told = parse_expectation(text);
    if (!told) continue;
    if (has("mfu") && told->mfu_ratio && !out.mfu_ratio) {
      out.mfu_ratio = told->mfu_ratio;
    } else if (rate && told->tokens_per_s && !out.tokens_per_s) {
      out.tokens_per_s = told->tokens_per_s;
    } else if (time && told->step_s && !out.step_s) {
      out.step_s = told->step_s;
    } else {
      continue;
    }
    if (out.source.empty()) {
      out.source = fmt::format("{}:{}", setting.seen.source, setting.seen.line);
    }
  }
  return out;
}

std::optional<double> speed_ratio(const ShapeCase& c) {
  const double level = c.shapes.first_level;
  if (!(level > 0)) return std::nullopt;
  if (c.expected.step_s && c.curve.seconds) return *c.expected.step_s / level;
  if (c.expected.step_s && c.curve.typical_step_s && *c.curve.typical_step_s > 0) {
    return *c.expected.step_s / *c.curve.typical_step_s;
  }
  std::vector<double> rates, used;
  for (std::size_t i = c.shapes.warm_up.points; i < c.curve.points.size(); ++i) {
    const CurvePoint& point = c.curve.points[i];
    if (!std::isnan(point.tokens_per_s)) rates.push_back(point.tokens_per_s);
    if (!std::isnan(point.mfu_ratio)) used.push_back(point.mfu_ratio);
  }
  if (c.expected.tokens_per_s && !rates.empty()) return *median(rates) / *c.expected.tokens_per_s;
  if (c.expected.mfu_ratio && !used.empty()) return *median(used) / *c.expected.mfu_ratio;
  return std::nullopt;
}

std::vector<Finding> judge_shape(const ShapeCase& c) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  const auto known = [&](Cause cause) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.cause == cause; });
  };
  add(judge_loading(c));
  auto floor = judge_floor(c);
  // Waiting for data explains a low level; a level that nothing explains stays undetermined.
  if (floor && (findings.empty() || floor->cause != Cause::undetermined)) add(std::move(floor));
  auto sag = judge_sag(c);
  auto tooth = sag ? std::nullopt : judge_sawtooth(c);
  const bool grows = sag.has_value() || tooth.has_value();
  add(std::move(sag));
  add(std::move(tooth));
  for (Finding& finding : judge_changes(c)) findings.push_back(std::move(finding));
  for (Finding& finding : judge_periods(c)) {
    const bool said = finding.cause == Cause::data_starvation && known(Cause::cpu_binding);
    if (!said && !(grows && finding.cause == Cause::undetermined)) {
      findings.push_back(std::move(finding));
    }
  }
  if (!grows && !known(Cause::data_starvation) && !known(Cause::cpu_binding)) {
    add(judge_irregular(c));
  }
  add(judge_warm_up(c));
  sort_findings(findings);
  return findings;
}

}  // namespace muster::shape
