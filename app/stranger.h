#pragma once

#include <string>
#include <string_view>

namespace muster {

// Files that were given to a verb and are for another, by their first lines.

// What a text is that `explain` does not read: "GPU telemetry: ask muster triage", "a table of
// steps: ask muster shape". Empty: nothing of that kind.
std::string other_verb(std::string_view head);

// What to tell of an input that is neither telemetry nor a step log, by its first bytes: "no header
// line; ..." of a CSV that was sampled without one, "this looks like a kernel log: ask muster
// explain", else that nobody here knows it.
std::string stranger_text(std::string_view head);

}  // namespace muster
