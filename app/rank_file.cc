#include "app/rank_file.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

std::optional<std::uint64_t> rank_number(std::string_view digits) {
  const auto rank = parse_uint(digits);
  if (!rank || *rank >= static_cast<std::uint64_t>(limits::kRanks)) return std::nullopt;
  return rank;
}

}  // namespace

std::optional<std::uint64_t> rank_of_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.ends_with(".i32")) return std::nullopt;
  name.remove_suffix(4);
  const std::string low = to_lower(name);
  std::string_view last, named;
  for (std::size_t at = 0; at < low.size();) {
    if (!is_digit(low[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < low.size() && is_digit(low[at])) ++at;
    last = std::string_view(low).substr(begin, at - begin);
    std::string_view front = std::string_view(low).substr(0, begin);
    while (front.ends_with('_') || front.ends_with('-') || front.ends_with('.')) {
      front.remove_suffix(1);
    }
    if (named.empty() && front.ends_with("rank")) named = last;
  }
  return rank_number(named.empty() ? last : named);
}

std::optional<RankFile> rank_file(const std::string& path, Files& files) {
  const auto rank = rank_of_name(path);
  if (!rank) return std::nullopt;
  const auto info = files.stat(path);
  if (!info || info->type != FileInfo::Type::file) return std::nullopt;
  return RankFile{path, *rank, info->bytes};
}

}  // namespace muster
