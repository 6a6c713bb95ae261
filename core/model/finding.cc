#include "core/model/finding.h"

#include <algorithm>

namespace muster {

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    // A hint never stands above a warning or a critical finding that is sure: the first decides.
    const auto rank = [](const Finding& f) {
      const bool hint = f.confidence == Confidence::low && f.severity > Severity::info;
      return static_cast<int>(f.severity) * 2 + (hint ? -3 : 0);
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return a.confidence > b.confidence;
  });
}

}  // namespace muster
