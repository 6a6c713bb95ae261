#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/finding.h"
#include "core/shape/curve.h"
#include "core/shape/shapes.h"
#include "core/shape/surroundings.h"

// Shapes and what stands beside them -> causes. A shape alone rarely names a cause: then the
// finding is `undetermined`, says which causes look like that, and which measurement decides. A
// host is named only by its own words.

namespace muster::shape {

// What the run should reach, in the unit of its log; the first that is told counts.
struct Expectation {
  std::optional<double> step_s, tokens_per_s, mfu_ratio;
  std::string source;  // who says so, for people: "--expect", "baseline.toml:3"
};

// "4.95s", "4950ms", "53000tok/s", "53k tok/s", "40%", "mfu=0.4".
Result<Expectation> parse_expectation(std::string_view text);
// Of settings such as "expected_step_time_s=4.95", "baseline: tokens_per_s 53000".
Expectation expectation_of(const Surroundings& around);

struct ShapeCase {
  const Curve& curve;
  const Shapes& shapes;
  const Surroundings& around;
  const Expectation& expected;
};

// Findings of one curve, the answer first. Empty: nothing is wrong.
std::vector<Finding> judge_shape(const ShapeCase& c);

// A log or a set of logs in which no step was made: which ranks are missing, and what is different
// about them. Nothing where there is no sign of a run at all.
std::optional<Finding> judge_no_steps(const Surroundings& around, const Curve* curve);

}  // namespace muster::shape
