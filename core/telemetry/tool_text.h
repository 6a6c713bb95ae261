#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/telemetry_row.h"

namespace muster {

// Free text that nvidia-smi and dcgmi print instead of rows, between them, or alone: a lost GPU, no
// driver, a version mismatch, no permission. Tells the sink and returns true where `line` is one.
bool note_tool_text(std::string_view line, std::uint64_t number, TelemetrySink& sink);

// A text that begins with such a line and holds no table: the tool failed as a whole.
bool looks_like_tool_failure(std::string_view head);

}  // namespace muster
