#include "core/model/finding.h"

#include <algorithm>

namespace muster {

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    // A low-confidence finding never stands above one that is sure and not ok.
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.confidence > b.confidence;
  });
}

}  // namespace muster
