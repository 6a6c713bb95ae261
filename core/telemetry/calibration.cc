#include "core/telemetry/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace muster {
namespace {

// A TOML basic string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

CalibratedBands widen(const CalibratedBands& a, const CalibratedBands& b) {
  CalibratedBands out = a;
  const double weight_a = static_cast<double>(std::max<std::uint64_t>(a.samples, 1));
  const double weight_b = static_cast<double>(std::max<std::uint64_t>(b.samples, 1));
  out.idle_max_w = std::max(a.idle_max_w, b.idle_max_w);
  out.wait_max_w = std::max(a.wait_max_w, b.wait_max_w);
  out.compute_min_w = std::max(std::min(a.compute_min_w, b.compute_min_w), out.wait_max_w);
  out.compute_w = (a.compute_w * weight_a + b.compute_w * weight_b) / (weight_a + weight_b);
  out.spread_ratio = std::max(a.spread_ratio, b.spread_ratio);
  out.samples = a.samples + b.samples;
  return out;
}

template <typename T>
std::optional<T> larger(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

void compare_number(std::vector<std::string>& out, std::string_view what, std::string_view unit,
                    double before, double after) {
  const double scale = std::max(std::abs(before), std::abs(after));
  if (scale == 0 || std::abs(after - before) <= 0.02 * scale) return;
  out.push_back(fmt::format("{}: {:.5g} -> {:.5g} {}", what, before, after, unit));
}

void compare_optional(std::vector<std::string>& out, std::string_view what, std::string_view unit,
                      std::optional<double> before, std::optional<double> after) {
  if (before && after) return compare_number(out, what, unit, *before, *after);
  if (before) out.push_back(fmt::format("{}: {:.5g} {} -> not known", what, *before, unit));
  if (after) out.push_back(fmt::format("{}: not known -> {:.5g} {}", what, *after, unit));
}

std::optional<double> seconds(const std::optional<Duration>& d) {
  if (!d) return std::nullopt;
  return duration_to_seconds(*d);
}

}  // namespace

std::string encode_calibration(const Calibration& c) {
  std::string out = "schema = \"muster.calibration/1\"\n";
  out += fmt::format("source = {}\n", quoted(c.source));
  if (c.longest_wait) {
    out += fmt::format("longest_wait_s = {:.3f}\n", duration_to_seconds(*c.longest_wait));
  }
  if (c.longest_quiet) {
    out += fmt::format("longest_quiet_s = {:.3f}\n", duration_to_seconds(*c.longest_quiet));
  }
  if (c.step_s) out += fmt::format("step_s = {:.6f}\n", *c.step_s);
  if (c.period_s) out += fmt::format("period_s = {:.3f}\n", *c.period_s);
  if (c.series) out += fmt::format("series = {}\n", *c.series);
  for (const CalibratedBands& b : c.bands) {
    out += fmt::format("\n[[bands]]\nmodel = {}\n", quoted(b.model));
    if (b.limit_w) out += fmt::format("limit_w = {:.1f}\n", *b.limit_w);
    out += fmt::format(
        "idle_max_w = {:.1f}\nwait_max_w = {:.1f}\ncompute_min_w = {:.1f}\ncompute_w = {:.1f}\n"
        "spread_ratio = {:.4f}\nsamples = {}\n",
        b.idle_max_w, b.wait_max_w, b.compute_min_w, b.compute_w, b.spread_ratio, b.samples);
  }
  return out;
}

Calibration merge_calibrations(const Calibration& a, const Calibration& b) {
  Calibration out = a;
  if (a.source != b.source) out.source = a.source + " + " + b.source;
  for (const CalibratedBands& theirs : b.bands) {
    const auto same = std::find_if(out.bands.begin(), out.bands.end(), [&](const auto& ours) {
      return ours.model == theirs.model && ours.limit_w == theirs.limit_w;
    });
    if (same == out.bands.end()) {
      out.bands.push_back(theirs);
    } else {
      *same = widen(*same, theirs);
    }
  }
  out.longest_wait = larger(a.longest_wait, b.longest_wait);
  out.longest_quiet = larger(a.longest_quiet, b.longest_quiet);
  out.step_s = larger(a.step_s, b.step_s);
  out.period_s = larger(a.period_s, b.period_s);
  out.series = larger(a.series, b.series);
  return out;
}

std::vector<std::string> compare_calibrations(const Calibration& before, const Calibration& after) {
  std::vector<std::string> out;
  compare_optional(out, "longest wait", "s", seconds(before.longest_wait),
                   seconds(after.longest_wait));
  compare_optional(out, "longest quiet of the log", "s", seconds(before.longest_quiet),
                   seconds(after.longest_quiet));
  compare_optional(out, "step time", "s", before.step_s, after.step_s);
  for (const CalibratedBands& b : before.bands) {
    // At the same limit where there is one: a merged calibration knows several.
    auto a = std::find_if(after.bands.begin(), after.bands.end(), [&](const auto& other) {
      return other.model == b.model && other.limit_w == b.limit_w;
    });
    if (a == after.bands.end()) {
      a = std::find_if(after.bands.begin(), after.bands.end(),
                       [&](const auto& other) { return other.model == b.model; });
    }
    const std::string name = escape_controls(b.model, 60);
    if (a == after.bands.end()) {
      out.push_back(name + ": not in the newer one");
      continue;
    }
    compare_number(out, name + " compute", "W", b.compute_w, a->compute_w);
    compare_number(out, name + " floor", "W", b.wait_max_w, a->wait_max_w);
    compare_number(out, name + " spread", "", b.spread_ratio, a->spread_ratio);
    compare_optional(out, name + " limit", "W", b.limit_w, a->limit_w);
  }
  return out;
}

}  // namespace muster
