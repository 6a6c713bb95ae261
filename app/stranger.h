#pragma once

#include <string>
#include <string_view>

namespace muster {

// What to tell of an input that is neither telemetry nor a step log, by its first bytes: "no header
// line; ..." of a CSV that was sampled without one, "this looks like a kernel log: ask muster
// explain", else that nobody here knows it.
std::string stranger_text(std::string_view head);

}  // namespace muster
