#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/model/telemetry_row.h"
#include "core/telemetry/decoder.h"

namespace muster {

// Free text that nvidia-smi and dcgmi print instead of rows, between them, or alone: a lost GPU, no
// driver, a version mismatch, no permission. Tells the sink and returns true where `line` is one.
bool note_tool_text(std::string_view line, std::uint64_t number, TelemetrySink& sink);

// Whether `line` is such a text.
bool is_tool_text(std::string_view line);

// A text whose first line is such a text: where no table follows, the tool failed as a whole. Lines
// of logs, which begin with a stamp or a level, are not taken for it.
bool looks_like_tool_failure(std::string_view head);

// Every such line becomes a note; what the tool prints around it ("NVML library version: 570.86")
// is passed over.
std::unique_ptr<Decoder> make_tool_failure_decoder(const DecoderOptions& options);

}  // namespace muster
