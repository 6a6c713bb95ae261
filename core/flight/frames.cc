#include "core/flight/frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace muster {
namespace {

// Folders of what the user did not write.
constexpr std::array<std::string_view, 7> kForeign = {
    "/site-packages/", "/dist-packages/", "/torch/",  "/lib/python",
    "<frozen",         "<string>",        "importlib"};

// Names of functions outside the step of training.
constexpr std::array<std::string_view, 9> kOutside = {
    "save", "checkpoint", "ckpt", "evaluate", "eval_", "validat", "destroy", "finali", "teardown"};

bool is_foreign(const FlightFrame& frame) {
  return std::any_of(kForeign.begin(), kForeign.end(), [&](std::string_view part) {
    return frame.file.find(part) != std::string::npos;
  });
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash * 0xff51afd7ed558ccdULL;
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
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  bool own = false;
  for (const bool foreign_too : {false, true}) {
    for (const std::uint32_t index : stack) {
      const FlightFrame& frame = dump.frames[index];
      if (!foreign_too && is_foreign(frame)) continue;
      own = true;
      hash = mix(mix(hash, frame.function), frame.file) + static_cast<std::uint64_t>(frame.line);
    }
    if (own) break;
  }
  return hash == 0 ? 1 : hash;
}

bool outside_the_step(const FlightDump& dump, const FlightStack& stack) {
  return std::any_of(stack.begin(), stack.end(), [&](std::uint32_t index) {
    const std::string& name = dump.frames[index].function;
    // "checkpoint" recomputes activations inside the step: torch/utils/checkpoint.py.
    if (dump.frames[index].file.find("torch/utils/checkpoint") != std::string::npos) return false;
    return std::any_of(kOutside.begin(), kOutside.end(),
                       [&](std::string_view word) { return name.find(word) != std::string::npos; });
  });
}

std::string describe_frame(const FlightFrame* frame) {
  if (frame == nullptr) return "";
  const std::string_view file(frame->file);
  const std::size_t slash = file.rfind('/');
  return fmt::format("{} {}:{}", frame->function.substr(0, 80),
                     file.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, 80),
                     frame->line);
}

}  // namespace muster
