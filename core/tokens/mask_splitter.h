#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/tokens/class_masks.h"
#include "core/tokens/splitter.h"

namespace muster::tokens {

// The pieces of the families that this is written for (qwen2, llama3), found by arithmetic on the
// class masks of a window of the text instead of character by character.
bool has_mask_split(SplitFamily family);

// Writes the ends of pieces from `at` (a border of pieces) on, of those that the window shows
// whole; returns how many: 0 where the first one reaches its end. `ends` has room for
// ClassMasks::kWindow.
std::size_t mask_split(SplitFamily family, Simd simd, std::string_view text, std::size_t at,
                       std::uint32_t* ends);

}  // namespace muster::tokens
