#pragma once

#include <string>
#include <string_view>

#include "core/model/reading.h"

// Text of known width for grids and frames: one byte is one column.

namespace muster {

// `text` on at most `columns` columns, cut with "~" at its end. Controls are escaped, and bytes
// outside ASCII become "?": a character may be zero to two columns wide and what a terminal makes
// of it is not known here, while a line must never wrap.
std::string plain_cell(std::string_view text, std::size_t columns);

// The number without decimals, or "-". Numbers that no GPU can mean (beyond 9 digits) are "#".
std::string number_cell(const Reading& reading);

// Blanks up to `columns` behind (or in front); a longer text is left as it is.
std::string pad_right(std::string text, std::size_t columns);
std::string pad_left(std::string text, std::size_t columns);

}  // namespace muster
