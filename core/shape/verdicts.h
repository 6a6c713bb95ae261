#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape/judge.h"

// The parts of judge_shape, one question each.

namespace muster::shape {

// From the first step on slower than expected; one host on another network than the others.
std::optional<Finding> judge_floor(const ShapeCase& c);
// Waiting for data in every step.
std::optional<Finding> judge_loading(const ShapeCase& c);
// Slow steps and pauses at regular steps, and those at the schedule of the settings or the log.
std::vector<Finding> judge_periods(const ShapeCase& c);
// Slow steps without a rule.
std::optional<Finding> judge_irregular(const ShapeCase& c);
// Another level since some step.
std::vector<Finding> judge_changes(const ShapeCase& c);
// Slower and slower.
std::optional<Finding> judge_sag(const ShapeCase& c);
// Slower and slower and back, again and again.
std::optional<Finding> judge_sawtooth(const ShapeCase& c);
// Slow first steps.
std::optional<Finding> judge_warm_up(const ShapeCase& c);

// ---- words shared by them
// ------------------------------------------------------------------------

// Expected to seen speed, of the first level: 0.3 is 30 % of what it should be.
std::optional<double> speed_ratio(const ShapeCase& c);
// "4.95 s", "53.1 k tokens/s", "30.7 % MFU": a value of step_s in the unit of the log.
std::string speed_text(const Curve& curve, double step_s);
// "12.3 %", with as many digits as it needs.
std::string percent(double ratio);
Evidence seen_point(const ShapeCase& c, std::size_t index, std::string text);
Evidence quoted(const SeenAt& seen);
std::string seconds_text(double seconds);
// How steps are logged: "one point every 10 steps (49.5 s)"; and what that hides.
std::string sampling_text(const Curve& curve);

}  // namespace muster::shape
