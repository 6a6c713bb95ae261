#pragma once

#include <string_view>
#include <vector>

namespace muster {

// The word that was probably meant by `typed`: at most two letters wrong, missing, too many or
// swapped, and fewer than half of its letters. Empty where none is that near; of equally near ones
// the first.
std::string_view near_word(std::string_view typed, const std::vector<std::string_view>& words);

}  // namespace muster
