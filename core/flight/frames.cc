#include "core/flight/frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/hash_mix.h"

namespace muster {
namespace {

// Folders of what the user did not write.
constexpr std::array<std::string_view, 7> kForeign = {
    "/site-packages/", "/dist-packages/", "/torch/",  "/lib/python",
    "<frozen",         "<string>",        "importlib"};

// Words in the names of functions outside the step of training. "checkpointed" is none: activations
// are recomputed inside the step.
constexpr std::array<std::string_view, 14> kOutside = {
    "save",     "saving",     "checkpoint", "ckpt",     "evaluate", "evaluation", "eval",
    "validate", "validation", "destroy",    "finalize", "finish",   "teardown",   "shutdown"};
// Own frames that are looked at, from the innermost: a helper and who called it.
constexpr std::size_t kFramesLookedAt = 2;

bool has_outside_word(std::string_view name) {
  std::size_t from = 0;
  while (from <= name.size()) {
    const std::size_t to = std::min(name.find_first_of("_.<>", from), name.size());
    const std::string_view word = name.substr(from, to - from);
    if (std::find(kOutside.begin(), kOutside.end(), word) != kOutside.end()) return true;
    from = to + 1;
  }
  return false;
}

bool is_foreign(const FlightFrame& frame) {
  return std::any_of(kForeign.begin(), kForeign.end(), [&](std::string_view part) {
    return frame.file.find(part) != std::string::npos;
  });
}

}  // namespace

const FlightFrame* user_frame(const FlightDump& dump, const FlightStack& stack) {
  for (const std::uint32_t index : stack) {
    if (!is_foreign(dump.frames[index])) return &dump.frames[index];
  }
  return stack.empty() ? nullptr : &dump.frames[stack.front()];
}

std::uint64_t call_site(const FlightDump& dump, const FlightStack& stack) {
  if (stack.empty()) return 0;
  std::uint64_t hash = kHashSeed;
  bool own = false;
  for (const bool foreign_too : {false, true}) {
    for (const std::uint32_t index : stack) {
      const FlightFrame& frame = dump.frames[index];
      if (!foreign_too && is_foreign(frame)) continue;
      own = true;
      hash =
          mix(mix(mix(hash, frame.function), frame.file), static_cast<std::uint64_t>(frame.line));
    }
    if (own) break;
  }
  return hash == 0 ? 1 : hash;
}

bool outside_the_step(const FlightDump& dump, const FlightStack& stack) {
  std::size_t looked = 0;
  for (const std::uint32_t index : stack) {
    const FlightFrame& frame = dump.frames[index];
    if (is_foreign(frame)) continue;
    if (has_outside_word(frame.function)) return true;
    if (++looked == kFramesLookedAt) break;
  }
  return false;
}

std::string describe_frame(const FlightFrame* frame) {
  if (frame == nullptr) return "";
  const std::string_view file(frame->file);
  const std::size_t slash = file.rfind('/');
  const std::string_view name =
      file.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, 80);
  if (frame->line == 0) return fmt::format("{} {}", frame->function.substr(0, 80), name);
  return fmt::format("{} {}:{}", frame->function.substr(0, 80), name, frame->line);
}

}  // namespace muster
