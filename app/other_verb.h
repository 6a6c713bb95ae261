#pragma once

#include <string>
#include <string_view>

namespace muster {

// What a text is that another verb understands, by its first lines: "GPU telemetry: ask muster
// triage", "a table of steps: ask muster shape". Empty: nothing of that kind.
std::string other_verb(std::string_view head);

}  // namespace muster
