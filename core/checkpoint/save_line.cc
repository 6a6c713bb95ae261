#include <algorithm>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/checkpoint/checkpoint_judge.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kFailures[] = {"No space left on device", "Disk quota exceeded",
                                          "Input/output error", "Read-only file system",
                                          "Stale file handle"};

// The longest run of characters of a path that begins with a slash.
std::string path_in(std::string_view line) {
  const auto of_path = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("/._-+=@%").find(c) != std::string_view::npos;
  };
  std::string_view best;
  for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at)) {
    std::size_t end = at;
    while (end < line.size() && of_path(line[end])) ++end;
    const bool starts = at == 0 || !of_path(line[at - 1]);
    if (starts && end - at > best.size()) best = line.substr(at, end - at);
    at = std::max(end, at + 1);
  }
  while (best.ends_with('.')) best.remove_suffix(1);
  return std::string(best);
}

std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view word) {
  const std::string low = to_lower(line);
  std::size_t at = low.find(word);
  if (at == std::string::npos || (at > 0 && is_letter(low[at - 1]))) return std::nullopt;
  at += word.size();
  for (int i = 0; i < 3 && at < low.size() && !is_digit(low[at]); ++i) ++at;
  std::size_t end = at;
  while (end < low.size() && is_digit(low[end])) ++end;
  return end - at <= 9 ? parse_uint(std::string_view(low).substr(at, end - at)) : std::nullopt;
}

}  // namespace

std::optional<SaveLine> read_save_line(std::string_view line) {
  line = line.substr(0, limits::kLineBytes);
  SaveLine out;
  for (const std::string_view failure : kFailures) {
    if (line.find(failure) == std::string_view::npos) continue;
    out.why = std::string(failure);
    out.path = path_in(line);
  }
  out.world = number_behind(line, "world_size");
  if (!out.world) out.world = number_behind(line, "world size");
  if (out.path.empty() && !out.world) return std::nullopt;
  const auto rank = number_behind(line, "rank");
  if (rank && *rank < static_cast<std::uint64_t>(limits::kRanks)) {
    out.rank = static_cast<std::int32_t>(*rank);
  }
  out.text = std::string(whole_characters(trim(line), limits::kEvidenceChars));
  return out;
}

}  // namespace muster::checkpoint
