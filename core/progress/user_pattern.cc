#include "core/progress/user_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/progress/number.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr int kMaxCaptures = 32;
constexpr std::int64_t kPatternMemoryBytes = 8 * 1024 * 1024;

enum Group : std::size_t { kStep, kTotal, kLoss, kTps, kDt, kMfu, kEpoch };
constexpr std::array<std::string_view, 7> kNames = {"step", "total", "loss", "tps",
                                                    "dt",   "mfu",   "epoch"};

std::optional<std::int64_t> whole(std::string_view text) {
  const auto value = progress::take_count(text);
  return text.empty() ? value : std::nullopt;
}

std::optional<double> number(std::string_view text, double low, double high) {
  const auto value = progress::take_number(text);
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

}  // namespace

Result<UserPattern> UserPattern::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return make_error(Errc::invalid_input, "the pattern is longer than 4096 bytes");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryBytes);
  const auto compiled =
      std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    return make_error(
        Errc::invalid_input,
        fmt::format("the pattern is not a regular expression: {}", compiled->error()));
  }
  if (compiled->NumberOfCapturingGroups() >= kMaxCaptures) {
    return make_error(Errc::invalid_input, "the pattern has more than 31 groups");
  }
  UserPattern made;
  for (const auto& [name, index] : compiled->NamedCapturingGroups()) {
    const auto known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) {
      return make_error(Errc::invalid_input,
                        fmt::format("group \"{}\" is none of {}", name, fmt::join(kNames, ", ")));
    }
    made.group_of_[known - kNames.begin()] = index;
  }
  if (made.group_of_[kStep] == 0) {
    return make_error(Errc::invalid_input, "the pattern has no group named \"step\"");
  }
  made.pattern_ = compiled;
  return made;
}

std::optional<UserPattern::Match> UserPattern::read(std::string_view line) const {
  std::array<re2::StringPiece, kMaxCaptures> found;
  const int wanted = pattern_->NumberOfCapturingGroups() + 1;
  if (!pattern_->Match(re2::StringPiece(line.data(), line.size()), 0, line.size(),
                       re2::RE2::UNANCHORED, found.data(), wanted)) {
    return std::nullopt;
  }
  const auto text = [&](Group group) {
    const int index = group_of_[group];
    if (index == 0) return std::string_view();
    const re2::StringPiece& piece = found[static_cast<std::size_t>(index)];
    return std::string_view(piece.data() == nullptr ? "" : piece.data(), piece.size());
  };
  const auto step = whole(text(kStep));
  if (!step) return std::nullopt;
  Match match;
  match.step.step = *step;
  match.step.target_step = whole(text(kTotal));
  std::string_view loss = text(kLoss);
  match.step.loss = progress::take_number(loss);
  match.step.tokens_per_s = number(text(kTps), 0, 1e15);
  match.step.step_s = number(text(kDt), 0, 1e7);
  match.step.mfu_ratio = number(text(kMfu), 0, 100);
  if (match.step.mfu_ratio && *match.step.mfu_ratio > 1) *match.step.mfu_ratio /= 100;
  match.epoch = whole(text(kEpoch));
  return match;
}

}  // namespace muster
