#pragma once

#include <span>
#include <string_view>

// Words by which lines of a trainer's log are found among many others. They are parts of words, so
// that a capital letter does not matter, and a line with one of them may still say nothing.

namespace muster {

// Of lines that tell a step.
std::span<const std::string_view> step_words();
// Of lines that tell a save, an evaluation, an end, a restart or other long work.
std::span<const std::string_view> event_words();

}  // namespace muster
