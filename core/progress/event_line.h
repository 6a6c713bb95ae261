#pragma once

#include <optional>
#include <string_view>

#include "core/model/progress.h"

// Lines of a trainer's log that are no step: saves, evaluation, compiling, start, end, errors. Read
// by the words of the line and their company, never by one fixed sentence: "saving" needs a thing
// that is saved, "save_every=500" and "saved 3 GB of memory" are none.

namespace muster::progress {

// What the line says, if anything. `body` is a line without its head (line_head.h).
std::optional<ProgressKind> classify_event(std::string_view body);

// "previous saves: step 500 117 s, step 1000 121 s": the pairs one after the other. `text` is what
// is left to read and moves on; nothing when no pair is left.
struct KnownSave {
  std::optional<std::int64_t> step;
  Duration duration{};
};
std::optional<KnownSave> take_known_save(std::string_view& text);

}  // namespace muster::progress
