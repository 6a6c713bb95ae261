#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/records/record.h"

namespace muster::records {

// Appends what a JSON string means: `quoted` is the string in its quotes, valid UTF-8 and without
// raw control characters (the parser has looked). The fault where an escape is none or stands for
// half a character; `out` is then longer by what came before. Sets `nul` where it holds a zero
// byte.
//
// It is here because the library's own way, compiled for any processor, goes byte by byte, and has
// one word for all faults (and none for the second half of a pair alone).
std::optional<Fault> unescape(std::string_view quoted, std::string& out, bool& nul);

}  // namespace muster::records
