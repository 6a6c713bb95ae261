#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/finding.h"
#include "core/progress/step_table.h"
#include "core/progress/user_pattern.h"
#include "core/shape/curve.h"
#include "core/shape/surroundings.h"
#include "edge/os/files.h"

// Everything that comes into `shape`: logs of trainers, tables, answers of Prometheus, event files
// of TensorBoard, and the texts beside them (settings, environments, NCCL's lines, notes). Each
// file is known by its content; "-" is standard input; compressed text is read.

namespace muster {

struct ShapeInput {
  std::vector<shape::Curve> curves;    // of files that hold steps, in the order of the paths
  std::vector<shape::Curve> stepless;  // logs of a trainer without a step
  shape::Surroundings around;
  std::vector<Blind> blind;
  std::vector<std::string> notes;
};

struct ShapeInputOptions {
  std::optional<UserPattern> pattern = std::nullopt;
  std::vector<StepColumn> columns = {};
};

// Folders are read with what lies in them, limits::kFolderDepth deep, links passed over. Fails only
// where nothing could be read, with the first reason.
Result<ShapeInput> read_shape_inputs(const std::vector<std::string>& paths,
                                     const ShapeInputOptions& options, Files& files);

}  // namespace muster
