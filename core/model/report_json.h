#pragma once

#include <string>

#include "core/model/finding.h"

namespace muster {

// The report as one line of JSON, schema "muster.report/1" (docs/FORMATS.md), without a newline.
std::string encode_report(const Report& report);

}  // namespace muster
