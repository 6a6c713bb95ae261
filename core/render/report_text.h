#pragma once

#include <string>

#include "core/model/finding.h"

namespace muster {

struct TextStyle {
  bool colour = false;     // colour marks severity only
  std::size_t width = 80;  // columns; what is longer wraps, evidence to three lines
};

// The report for people, one screen: the answer in the first line, evidence next, the next step
// last. Text from outside is escaped. Ends with a newline.
std::string render_report(const Report& report, const TextStyle& style);

}  // namespace muster
