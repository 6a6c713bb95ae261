#include "core/site/slurm_values.h"

#include <chrono>

#include "base/text.h"
#include "base/timestamp.h"

namespace muster {

std::optional<Duration> read_slurm_duration(std::string_view text) {
  text = trim(text);
  std::uint64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto value = parse_uint(text.substr(0, dash));
    if (!value || *value > 100'000) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  text = text.substr(0, text.find('.'));
  const auto pieces = split(text, ':');
  if (pieces.size() > 3 || (dash == std::string_view::npos && pieces.size() < 2)) {
    return std::nullopt;
  }
  std::uint64_t seconds = 0;
  for (const std::string_view piece : pieces) {
    const auto value = parse_uint(piece);
    if (!value || *value > 1'000'000) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  // Behind days "1-12" are hours and "1-12:30" hours and minutes.
  if (dash != std::string_view::npos) {
    for (std::size_t i = pieces.size(); i < 3; ++i) seconds *= 60;
  }
  return std::chrono::seconds(static_cast<std::int64_t>(days * 86400 + seconds));
}

std::optional<WallTime> read_slurm_time(std::string_view text) {
  const auto time = parse_timestamp(trim(text));
  if (!time || !time->has_date) return std::nullopt;
  return time->at;
}

}  // namespace muster
