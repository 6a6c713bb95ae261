#include "core/render/moment_text.h"

#include <fmt/core.h>

#include "base/timestamp.h"

namespace muster {
namespace {

// Exporters and their scrapers serve values that are up to two minutes old.
constexpr Duration kOld = std::chrono::minutes(2);

}  // namespace

std::string moment_text(const FleetView& view) {
  if (view.undated) return "time unknown";
  std::string clock = format_clock(view.at) + " UTC";
  if (view.behind <= kOld) return clock;
  return fmt::format("RECORDED {} {}, {} ago", format_rfc3339(view.at).substr(0, 10), clock,
                     format_duration(view.behind));
}

}  // namespace muster
