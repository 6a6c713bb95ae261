#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shape_input.h"
#include "core/model/finding.h"
#include "core/model/plot.h"
#include "core/shape/judge.h"
#include "core/shape/mfu.h"

namespace muster {

struct ShapeRequest {
  std::vector<std::string> paths;
  ShapeInputOptions input;
  shape::Expectation expected;                           // goes before what settings say
  std::optional<shape::ModelSize> model = std::nullopt;  // to compute MFU
};

struct ShapeAnswer {
  Report report;
  std::vector<Plot> plots;  // one for each curve
};

// Reads everything and says what the curves look like and why.
Result<ShapeAnswer> shape_once(const ShapeRequest& request, Files& files);

}  // namespace muster
