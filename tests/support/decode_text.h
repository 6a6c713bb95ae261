#pragma once

#include <string>
#include <string_view>

#include "core/telemetry/decoder.h"

namespace muster {

// What a decoder says about `text`, one line for each row and note, in order:
//   "2026-08-01T10:00:00Z n1 gpu 3 rank 11 power_w=930 util_gpu_percent=(not reported)"
//   "note truncated@7: the last line is cut"
// The text is handed over in pieces of `chunk` bytes.
std::string decode_text(Dialect dialect, std::string_view text, std::size_t chunk = 4096,
                        const DecoderOptions& options = {});

// Cut at every byte, every byte flipped, and fed in pieces of 1, 7 and all bytes: no crash, the
// same answer for every size of piece, and what comes in whole lines before a cut stands unchanged.
void expect_holds_under_damage(Dialect dialect, std::string_view text);

}  // namespace muster
