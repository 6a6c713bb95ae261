#include "core/model/exit_status.h"

#include <algorithm>

namespace muster {

ExitStatus exit_status_of(const Report& report) {
  Severity sure = Severity::ok;
  bool unsure = false;
  for (const Finding& f : report.findings) {
    if (f.confidence == Confidence::low) {
      unsure = unsure || f.severity > Severity::info;
    } else {
      sure = std::max(sure, f.severity);
    }
  }
  if (sure == Severity::critical) return ExitStatus::critical;
  if (sure == Severity::warning) return ExitStatus::warning;
  const bool hidden = std::any_of(report.blind.begin(), report.blind.end(),
                                  [](const Blind& b) { return b.hides_critical; });
  return unsure || hidden ? ExitStatus::cannot_tell : ExitStatus::ok;
}

ExitStatus exit_status_of(const Error& error) {
  switch (error.code) {
    case Errc::permission:
      return ExitStatus::permission;
    case Errc::internal:
      return ExitStatus::internal;
    default:
      return ExitStatus::no_input;
  }
}

}  // namespace muster
