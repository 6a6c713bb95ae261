#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

// Normalisation form C of Unicode 9.0, which is the version of Hugging Face's normaliser
// (tables/README.md): marks and compositions that are newer mean nothing to it.

namespace muster::tokens {

// Whether to_nfc() may change `utf8` (valid): false says that it is in form C, true that it may not
// be. Gigabytes a second on text without combining marks.
bool may_need_nfc(std::string_view utf8);

// A stretch that normalisation changed: `from` in the source became `to`.
struct ChangedRun {
  ByteRange from, to;
};

// `utf8` (valid) in form C; `changed`, in order, tells where it differs from the source. Time is
// n log n at worst (a text of nothing but combining marks).
std::string to_nfc(std::string_view utf8, std::vector<ChangedRun>& changed);

}  // namespace muster::tokens
